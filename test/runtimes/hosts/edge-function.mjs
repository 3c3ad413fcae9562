/** An edge runtime: a script as a bundler makes it. */
import * as core from "bootproof";
import * as adapters from "bootproof/adapters";
import * as client from "bootproof/client";
import asked from "./asked.json";
import { answersOf } from "./scenario.mjs";

globalThis.answers = answersOf({ core, client, adapters }, asked);
