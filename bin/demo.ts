/**
 * The demo of the README: a service with enclaves in this process, a verified call over HTTP, and a forged answer that
 * is refused.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { RejectedActivityError, apiKeyStamper, createClient } from "../src/client/index.js";
import {
  NO_POLICY_ANY_ENCLAVE,
  parsePolicy,
  pinPolicy,
  renderText,
  verifyBootProof,
  verifyEvidence,
} from "../src/index.js";
import { FAULTS, type Lab, startLab } from "../src/lab/index.js";
import { renderFailures } from "../src/report/text.js";
import type { Report } from "../src/report/report.js";

const FAULT = "stale-manifest";
const color = process.stdout.isTTY === true && (process.env["NO_COLOR"] ?? "") === "";

function say(text = ""): void {
  process.stdout.write(`${text}\n`);
}

function step(title: string, ...lines: readonly string[]): void {
  say(`\n──── ${title}`);
  for (const line of lines) say(`     ${line}`);
  say();
}

/** Returns the text of the report without its list of checks. */
function summary(report: Report): string {
  const paragraphs = renderText(report, { color, width: 100 }).trimEnd().split("\n\n");
  return paragraphs
    .filter((text, index) => index === 0 || /^(?:\u001b\[1m)?(?:Not proven|Proven)/.test(text))
    .join("\n\n");
}

function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`the demo went wrong: ${what}`);
}

async function callTheService(lab: Lab): Promise<void> {
  step(
    "1. A service and its enclaves, on this machine",
    `${lab.baseUrl}  organization ${lab.organizationId}`,
    ...lab.enclaves.map(
      ({ enclaveId, manifestVersion, ephemeralKey }) =>
        `enclave ${enclaveId.padEnd(22)} manifest ${manifestVersion}  key ${ephemeralKey.slice(0, 16)}…`,
    ),
    "All of it is software, for trying things: `bootproof lab` runs the same until Ctrl-C.",
  );

  step(
    "2. A tag is renamed over HTTP, with a stamped request. Only a verified answer is returned",
    "const client = createClient({ baseUrl, organizationId, stamper: await apiKeyStamper(apiKey) });",
    "const verified = client.withVerification(policy);",
    'const { activity, report } = await verified.updateUserTag({ userTagId, newUserTagName: "treasurers" });',
  );
  const { baseUrl, organizationId } = lab;
  const client = createClient({ baseUrl, organizationId, stamper: await apiKeyStamper(lab.apiKey) });
  const rename = { userTagId: lab.ids.userTagId, newUserTagName: "treasurers" };
  const { activity, report } = await client.withVerification(lab.policy).updateUserTag(rename);
  say(`Activity ${activity.id}: ${activity.status}.\n`);
  say(summary(report));
  expect(report.verdict === "verified", report.verdict);

  step(
    "3. The same call, while the service misbehaves",
    `${FAULTS.find(({ name }) => name === FAULT)!.what}:`,
    `lab.setFault("${FAULT}"), one of ${FAULTS.length}: see \`bootproof lab --list-faults\`.`,
  );
  lab.setFault(FAULT);
  // A new verified client is used, since the first one caches the boot proofs that it verified.
  const refusal: unknown = await client
    .withVerification(lab.policy)
    .updateUserTag(rename)
    .then(
      () => null,
      (error: unknown) => error,
    );
  if (!(refusal instanceof RejectedActivityError))
    throw refusal ?? new Error("the demo went wrong: nothing was refused");
  say(`The call throws ${refusal.constructor.name}, and returns nothing of the answer:\n`);
  say(renderFailures(refusal.report, { color }).trimEnd());
}

/** Verifies evidence that was captured from a real deployment. */
async function verifyCaptured(): Promise<void> {
  step(
    "4. Real hardware: evidence that was captured from a deployment on AWS Nitro",
    "One of its enclaves is pinned, and the app proof of another enclave must match that policy.",
  );
  const read = (name: string): unknown =>
    JSON.parse(readFileSync(fileURLToPath(new URL(`../../test-vectors/boot-proofs/${name}`, import.meta.url)), "utf8"));
  const now = new Date();
  const { bootProof } = await verifyBootProof(read("bootproof-1.json"), { policy: NO_POLICY_ANY_ENCLAVE, now });
  const policy = parsePolicy(pinPolicy(bootProof!, { name: "the pinned one" }));
  const evidence = { bootProofs: [read("bootproof-2.json")], appProofs: [read("appproof-2.json")] };
  const { report } = await verifyEvidence(evidence, { policy, now });
  expect(report.verdict === "verified", report.verdict);
  say(renderText(report, { color, width: 100 }).split("\n\n", 1)[0]);
  say("\nThe same at the terminal, with every check in a line of its own: bootproof pin, bootproof verify.");
}

const lab = await startLab();
try {
  await callTheService(lab);
} finally {
  await lab.close();
}
await verifyCaptured();
