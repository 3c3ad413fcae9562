/** What a person reads of each command, by state, at 80 columns: a folder to review as a whole. */
import { expect, it } from "vitest";
import { bootproof, fileOf } from "./support.js";

const PROOFS = "test-vectors/boot-proofs";
const [BOOT, APP, OTHER] = ["bootproof-1.json", "appproof-1.json", "bootproof-2.json"].map(
  (name) => `${PROOFS}/${name}`,
);
const PAIR = ["verify", "--boot-proof", BOOT!, "--app-proof", APP!];
const PINNED = (await bootproof(["pin", "--boot-proof", BOOT!])).stdout;
const policy = JSON.parse(PINNED) as { readonly deployments: readonly object[] };
const NEXT = JSON.stringify({
  ...policy,
  maxAge: "30d",
  deployments: [{ ...policy.deployments[0], minNonce: 20260000 }],
});
const MISSPELT = JSON.stringify({ policy: "bootproof/1", naem: "x", deployments: [{ pcr: {} }] });

type State = readonly [file: string, exitCode: number, argv: readonly string[], stdin?: string];

/** A file, the exit code, the command, and what it reads from stdin. */
const STATES: readonly State[] = [
  ["verified-summary", 0, [...PAIR, "--policy", "-", "--summary"], PINNED],
  ["rejected-summary", 1, [...PAIR, "--policy", "-", "--summary"], NEXT],
  ["rejected-retired", 1, [...PAIR, "--policy", "-"], NEXT],
  ["verified", 0, [...PAIR, "--policy", "-", "--format", "markdown"], PINNED],
  ["rejected", 1, [...PAIR, "--policy", "-", "--format", "markdown"], NEXT],
  ["not-verified", 2, ["verify", "--boot-proof", "nowhere.json", "--no-policy", "--format", "markdown"]],
  ["diff-boot-proofs", 1, ["diff", BOOT!, OTHER!]],
  ["diff-policies", 1, ["diff", "-", fileOf(PINNED)], NEXT],
  ["policy-check", 0, ["policy", "check", "-"], PINNED],
  ["policy-check-malformed", 2, ["policy", "check", "-"], MISSPELT],
  ["explain", 0, ["explain"]],
  ["explain-check", 0, ["explain", "bind.key"]],
  ["explain-term", 0, ["explain", "pivot"]],
  ["measure-names", 0, ["measure", "--role-arn", "arn:aws:iam::123456789012:role/signer"]],
];

for (const [name, exitCode, argv, stdin = ""] of STATES)
  it(`writes ${name}`, async () => {
    const isText = !argv.includes("markdown");
    const { code, stdout } = await bootproof([...argv], { stdin });
    expect(code).toBe(exitCode);
    // A value to copy is whole, and Markdown has no width.
    const lines = isText ? stdout.split("\n").filter((line) => !/[0-9a-f]{96}/.test(line)) : [];
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    // A folder with spaces in its name stands in quotation marks.
    const text = stdout.replaceAll(process.cwd(), "/folder").replaceAll(/"(`?)\/folder\1"/g, "$1/folder$1");
    await expect(text).toMatchFileSnapshot(`golden/${name}.${isText ? "txt" : "md"}`);
  });
