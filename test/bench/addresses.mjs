/**
 * What a sweep of an organization with many accounts costs: requests, time, and memory. The lab runs in a process of
 * its own, so that memory is the client's alone. Run after `npm run build`:
 * `node --expose-gc test/bench/addresses.mjs [ACCOUNTS [json]]`.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { apiKeyStamper, createClient } from "../../dist/src/client/index.js";
import { parsePolicy } from "../../dist/src/index.js";
import { startLab } from "../../dist/node/lab/index.js";

const [, script, mode = "10000"] = process.argv;

if (mode === "lab") {
  const lab = await startLab();
  await lab.addAccounts({ count: Number(process.argv[3]) });
  const { baseUrl, organizationId, apiKey, policyFile } = lab;
  process.send({ baseUrl, organizationId, apiKey, policyFile });
  process.on("disconnect", () => process.exit());
} else {
  const child = fork(fileURLToPath(import.meta.url), ["lab", mode]);
  const lab = await new Promise((resolve) => child.once("message", resolve));
  await sweep(lab);
  child.disconnect();
}

async function sweep({ baseUrl, organizationId, apiKey, policyFile }) {
  const counts = {};
  const counting = (url, init) => {
    const name = url.slice(url.lastIndexOf("/") + 1);
    counts[name] = (counts[name] ?? 0) + 1;
    return fetch(url, init);
  };
  const stamper = await apiKeyStamper(apiKey);
  const client = createClient({ baseUrl, organizationId, stamper, fetch: counting });
  const policy = parsePolicy(JSON.stringify(policyFile));
  globalThis.gc?.();
  const before = process.memoryUsage();
  let most = 0;
  const onProgress = () => (most = Math.max(most, process.memoryUsage().heapUsed));
  const started = performance.now();
  const classes = {};
  const rows = [];
  let held;
  for await (const row of client.withVerification(policy).addresses({ onProgress })) {
    // What a sweep keeps until its end is there when the first row comes.
    if (held === undefined) {
      globalThis.gc?.();
      held = process.memoryUsage().heapUsed - before.heapUsed;
    }
    classes[row.class] = (classes[row.class] ?? 0) + 1;
    rows.push(row);
  }
  const seconds = (performance.now() - started) / 1000;
  globalThis.gc?.();
  if (process.argv[3] === "json") return console.log(JSON.stringify({ requests: counts, classes, held }));
  const mebibytes = (bytes) => Math.round(bytes / 2 ** 20);
  console.log(`${script.split("/").at(-1)}: ${rows.length} rows`, classes);
  console.log("requests", counts);
  console.log(`${seconds.toFixed(1)} s, ${((1e6 * seconds) / rows.length).toFixed(0)} µs a row`);
  console.log(
    `heap MiB: before ${mebibytes(before.heapUsed)}, most ${mebibytes(most)}, ` +
      `held at the first row ${mebibytes(held)}, after, with the rows ` +
      `${mebibytes(process.memoryUsage().heapUsed)}; resident ${mebibytes(process.memoryUsage().rss)}`,
  );
}
