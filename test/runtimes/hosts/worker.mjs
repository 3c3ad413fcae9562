/** workerd: a worker as a bundler makes it, run by `workerd test`. */
import * as core from "bootproof";
import * as adapters from "bootproof/adapters";
import * as client from "bootproof/client";
import asked from "./asked.json";
import { answersOf } from "./scenario.mjs";

export default {
  async test() {
    console.log(JSON.stringify(await answersOf({ core, client, adapters }, asked)));
  },
};
