/** Jest, CommonJS transformed by Babel, the package too. */
const { readFileSync, writeFileSync } = require("node:fs");
const core = require("bootproof");
const adapters = require("bootproof/adapters");
const client = require("bootproof/client");
const { answersOf } = require("./scenario.cjs");

test("is answered", async () => {
  const asked = JSON.parse(readFileSync(`${__dirname}/asked.json`, "utf8"));
  writeFileSync(process.env.ANSWERS, JSON.stringify(await answersOf({ core, client, adapters }, asked)));
}, 60_000);
