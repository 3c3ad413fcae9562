/** The demo of the README: the command line on evidence that was captured from a real deployment, as a person would use it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../src/cli/main.js";

const vectors = fileURLToPath(new URL("../../test-vectors/boot-proofs/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bootproof-demo-"));
const inFolder = (name: string): string => join(folder, name);

function say(text: string): void {
  process.stdout.write(`\n\u2500\u2500\u2500\u2500 ${text}\n`);
}

/** Shows the command and runs it. Answers its exit code and what it wrote to stdout, which `keep` keeps off the screen. */
async function command(argv: readonly string[], keep = false): Promise<{ code: number; output: string }> {
  process.stdout.write(`$ bootproof ${argv.map((arg) => arg.replace(vectors, "").replace(`${folder}/`, "")).join(" ")}\n\n`);
  let output = "";
  const stdout = {
    isTTY: process.stdout.isTTY,
    write: (text: string): void => {
      output += text;
      if (!keep) process.stdout.write(text);
    },
  };
  const code = await run(argv, { stdin: process.stdin, stdout, stderr: process.stderr, env: process.env, now: () => new Date() });
  process.stdout.write(`exit code ${code}\n`);
  return { code, output };
}

function expect(actual: number, wanted: number): void {
  if (actual !== wanted) throw new Error(`the demo went wrong: exit code ${actual}, ${wanted} wanted`);
}

async function demo(): Promise<void> {
  say("1. Pin the deployment that you reviewed, from the boot proof of one of its enclaves.");
  const pinned = await command(["pin", "--boot-proof", join(vectors, "bootproof-1.json"), "--name", "signer, demo"], true);
  expect(pinned.code, 0);
  writeFileSync(inFolder("policy.json"), pinned.output);
  process.stdout.write(`${pinned.output.replace(/[0-9a-f]{64,}/g, (hex) => `${hex.slice(0, 16)}\u2026`)}\n`);

  say("2. Another enclave of that deployment answers, with an app proof. Is it the pinned code that did?");
  const evidence = ["--boot-proof", join(vectors, "bootproof-2.json")];
  const verified = await command(["verify", ...evidence, "--app-proof", join(vectors, "appproof-2.json"), "--policy", inFolder("policy.json")]);
  expect(verified.code, 0);

  say("3. The same app proof, after somebody changed one character of the address.");
  const appProof = JSON.parse(readFileSync(join(vectors, "appproof-2.json"), "utf8")) as { proofPayload: string };
  const address = /0x[0-9a-fA-F]{40}/.exec(appProof.proofPayload)![0];
  const changed = `${address.slice(0, -1)}${address.endsWith("0") ? "1" : "0"}`;
  writeFileSync(inFolder("tampered.json"), JSON.stringify({ ...appProof, proofPayload: appProof.proofPayload.replace(address, changed) }));
  const tampered = await command(["verify", ...evidence, "--app-proof", inFolder("tampered.json"), "--policy", inFolder("policy.json")]);
  expect(tampered.code, 1);
}

try {
  await demo();
} finally {
  rmSync(folder, { recursive: true });
}
