/** Node, Deno and Bun: CommonJS. */
const { readFileSync } = require("node:fs");
const core = require("bootproof");
const adapters = require("bootproof/adapters");
const client = require("bootproof/client");
const { answersOf } = require("./scenario.cjs");

const asked = JSON.parse(readFileSync(`${__dirname}/asked.json`, "utf8"));
answersOf({ core, client, adapters }, asked).then((answers) => console.log(JSON.stringify(answers)));
