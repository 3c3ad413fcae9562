/** Node, Deno and Bun: ES modules. */
import { readFileSync } from "node:fs";
import * as core from "bootproof";
import * as adapters from "bootproof/adapters";
import * as client from "bootproof/client";
import { answersOf } from "./scenario.mjs";

const asked = JSON.parse(readFileSync(new URL("asked.json", import.meta.url), "utf8"));
console.log(JSON.stringify(await answersOf({ core, client, adapters }, asked)));
