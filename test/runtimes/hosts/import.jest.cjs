/** Jest, CommonJS that imports the package when it needs it, under `--experimental-vm-modules`. */
const { readFileSync, writeFileSync } = require("node:fs");
const { answersOf } = require("./scenario.cjs");

test("is answered", async () => {
  const core = await import("bootproof");
  const adapters = await import("bootproof/adapters");
  const client = await import("bootproof/client");
  const asked = JSON.parse(readFileSync(`${__dirname}/asked.json`, "utf8"));
  writeFileSync(process.env.ANSWERS, JSON.stringify(await answersOf({ core, client, adapters }, asked)));
}, 60_000);
