/** What a team types to sign policies: a roll-out, a key service, a renewal, and everything that is refused. */
import { createPrivateKey } from "node:crypto";
import { chmodSync, existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runAny } from "../../src/cli/commands.js";
import { takeLock } from "../../src/disk/lock.js";
import {
  LOOSER,
  type Member,
  NOW,
  POLICY,
  altered,
  fileWith,
  folder,
  member,
  nodeSignature,
  openssl,
  payloadIn,
  publicPemOf,
  readText,
  signersOf,
} from "../signed-policy/team.js";
import { type Answer, type Names, type Scene, scene } from "./support.js";

const [alice, bob, carol, mallory] = (await Promise.all(
  (["P-256", "P-384", "Ed25519", "P-256"] as const).map((type) => member(type)),
)) as [Member, Member, Member, Member];
const at = (days: number): string => new Date(NOW.getTime() + days * 86_400_000).toISOString();
const setOf = (...given: Parameters<typeof signersOf>): string => fileWith(JSON.stringify(signersOf(...given)));
const [v1, v2, feed] = ["v1.json", "v2.json", "feed.jsonl"].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
const [{ pem: root }] = POLICY["trustAnchors"] as [{ pem: string }];
writeFileSync(join(folder, "root.pem"), root);
const N = {
  ...{ policy: fileWith(JSON.stringify(POLICY)), looser: fileWith(JSON.stringify(LOOSER)), v1, v2, feed, folder },
  ...{ signers: setOf(2, alice, bob, carol), weak: setOf(1, alice, bob), other: setOf(1, alice, mallory) },
  ...{ foreign: setOf(1, mallory), alice: alice.file, bob: bob.file, carol: carol.file, mallory: mallory.file },
  ...{ bobPublic: fileWith(bob.publicPem), carolPublic: fileWith(carol.publicPem) },
  named: fileWith(JSON.stringify({ ...POLICY, trustAnchors: [{ file: "root.pem" }] })),
  renamed: fileWith(JSON.stringify({ ...signersOf(1, alice), name: "x" })),
  nameless: fileWith(JSON.stringify({ threshold: 1, keys: [alice.publicPem] })),
};
/** Runs a row so many days after version 1. */
const on = (day: number, more: Names = {}): Scene["run"] => scene({ ...N, ...more }, { now: at(day) }).run;
const run = on(0);
const signaturesIn = (path: string): unknown[] => (JSON.parse(readText(path)) as { signatures: unknown[] }).signatures;
const PUBLISH = "policy publish $v2 --feed $feed --policy-signers $signers";
const COSIGN = "policy cosign $v2 --feed $feed --yes";

/** Version 1 is published, and version 2 of the looser policy has the first of two signatures. */
let begun: readonly (readonly [path: string, content: string])[] = [];
beforeAll(async () => {
  await run("policy sign $policy --signers $signers --key $alice --valid 14d --out $v1", 0);
  await run("policy cosign $v1 --key $bob --yes", 0);
  await run("policy publish $v1 --feed $feed --policy-signers $signers", 0);
  await on(1)("policy sign $looser --feed $feed --key $alice --valid 14d --out $v2", 0);
  begun = [v1, v2, feed].map((path) => [path, readText(path)]);
});
beforeEach(() => {
  for (const [path, content] of begun) {
    rmSync(path, { force: true });
    writeFileSync(path, content);
  }
});

describe("a roll-out", () => {
  it("is signed by two of three, reviewed in the words of diff, published and checked", async () => {
    const { stdout: review } = await on(1)(
      "policy review $v2 --feed $feed",
      0,
      /CRITICAL .* 7d .*30d/,
      "version 1 is valid to 2026-03-18T05:06:07.000Z",
    );
    expect(review).toMatch(/^Version 2 of prod\/signer\n/);
    expect(review).toContain(`signed by     ${alice.key.publicKey.keyid}`);
    const signed = await on(1)(`${COSIGN} --key $carol`, 0);
    expect([signed.stdout, signed.stderr]).toEqual([review, `Signed: ${v2}\n`]);
    const published = await on(1)(PUBLISH, 0);
    expect([published.stdout, published.stderr]).toEqual(["", `Published: ${feed}\n`]);
    expect(readText(feed)).toBe(readText(v1) + readText(v2));
    const check = "policy check $feed --policy-signers $signers";
    const { stdout } = await on(1)(
      check,
      0,
      "WELL-FORMED: version 1 of prod/signer pins one deployment",
      /^IN FORCE: version 2 of prod\/signer, until 2026-03-19T05:06:07.000Z /,
      "can pin the newest version beside its next si",
    );
    const [pin] = /\{"minVersion":2,"since":\{"version":2,"sha256":"[0-9a-f]{64}"\}\}/.exec(stdout)!;
    const pinned = { ...signersOf(2, alice, bob, carol), ...(JSON.parse(pin) as object) };
    const signers = fileWith(JSON.stringify(pinned));
    await on(1, { signers })(check, 0, "!Version 1 ");
    const json = await on(1)(`${check} --format json`, 0);
    expect((JSON.parse(json.stdout) as { pin: object }).pin).toEqual(JSON.parse(readText(signers)));
    expect(readdirSync(folder).filter((name) => name.endsWith(".lock") || name.endsWith(".tmp"))).toEqual([]);
  });

  it("writes to stdout without --out, and names the version and weaknesses on stderr", async () => {
    const { stdout, stderr } = await run("policy sign $policy --signers $weak --key $bob --valid 12h", 0);
    expect(payloadIn(stdout)).toMatchObject({ version: 1, expiresAt: "2026-03-04T17:06:07.000Z" });
    expect(stderr).toMatch(/^Version 1 of prod\/signer\nwarning: 1 of 2 keys must sign the next version: two groups/);
    await on(0, { it: fileWith(stdout) })("policy review - < $it", 0);
  });

  it("takes a private key as SEC1, and with text around its block", async () => {
    const sec1 = createPrivateKey(bob.pem).export({ type: "sec1", format: "pem" }).toString();
    for (const content of [sec1, `subject=CN = bob\n${bob.pem}`])
      await on(0, { key: fileWith(content) })("policy sign $policy --signers $weak --key $key --valid 12h", 0);
  });

  it("shows which keys sign from then on, where the set changes", async () => {
    const sign = "policy sign $policy --feed $feed --signers $other --key $mallory --valid 9d --out $v2";
    await on(1)(sign, 2, "the file is there: give --force");
    await on(1)(`${sign} --force`, 0, "Replaced: $v2, version 2 of prod/signer");
    const { stdout } = await on(1)(
      "policy review $v2 --feed $feed",
      0,
      "next signers 1 of 2 keys: CHANGED",
      "must sign 2 of 3 keys in force, and 1 of 2 keys of the next set",
      "WARNING 1 of 2 keys must sign the next version: two groups",
    );
    const marks = [...stdout.matchAll(/^ {4}([ +-]) (\S+) +([0-9a-f]{64})$/gm)].map(([, ...cells]) => cells.join(" "));
    expect(marks).toEqual([
      `  P-256 ${alice.key.publicKey.keyid}`,
      `+ P-256 ${mallory.key.publicKey.keyid}`,
      `- P-384 ${bob.key.publicKey.keyid}`,
      `- Ed25519 ${carol.key.publicKey.keyid}`,
    ]);
  });

  it("inlines the files that a policy names, beside the policy", async () => {
    const { stdout } = await run("policy sign $named --signers $signers --valid 14d", 0);
    const { trustAnchors } = payloadIn(stdout)["policy"] as { trustAnchors: [{ pem: string }] };
    expect(trustAnchors[0].pem.trim()).toBe(root.trim());
  });
});

it.each<[number, string, number, string]>([
  [13, "$feed --policy-signers $signers", 0, "IN FORCE"],
  [14, "$feed --policy-signers $signers", 1, "NOT IN FORCE: version 1 expired at 2026-03-18T05:06:07.000Z"],
  [14, "$feed --policy-signers $signers --format json", 1, '"format": "bootproof-feed-check/1"'],
  [0, "$feed --policy-signers $foreign --format json", 2, '"code": "signatures"'],
  [
    0,
    "$feed --policy-signers $foreign",
    2,
    "bootproof: version 1: 0 of the 1 keys of the pinned set signed it, 1 must",
  ],
  // Of one version it takes the envelope, too.
  [0, "$v1 --policy-signers $signers", 0, "IN FORCE"],
])("on day %i policy check %s is %i", async (day, words, code, says) => {
  await on(day)(`policy check ${words}`, code, says);
});

describe("a key service", () => {
  async function bytesOf(...line: string[]): Promise<Buffer> {
    const chunks: Buffer[] = [];
    const io = { stdin: (async function* () {})(), stderr: { write: () => undefined }, env: {}, now: () => NOW };
    const stdout = { write: (bytes: unknown) => chunks.push(Buffer.from(bytes as Uint8Array)) };
    expect(await runAny(["policy", "to-sign", v2, ...line], { ...io, stdout })).toBe(0);
    return Buffer.concat(chunks);
  }
  const base64 = (signature: Uint8Array): string => Buffer.from(signature).toString("base64");

  it.each<[Member, string, (signature: Uint8Array) => string | Uint8Array]>([
    [bob, "raw", (signature) => signature],
    [bob, "base64", (signature) => `${base64(signature)}\n`],
    [carol, "base64 in lines", (signature) => base64(signature).replace(/.{9}/g, "$&\n")],
  ])("signs the bytes, and gives back a signature (%$)", async (one, _, encoded) => {
    const names = { pem: fileWith(one.publicPem), it: fileWith(encoded(nodeSignature(one, await bytesOf()))) };
    await on(1, names)(`${COSIGN} --public-key $pem --signature $it`, 0);
    await on(1)(PUBLISH, 0);
  });

  it("signs the digest, whose hash is that of the key", async () => {
    const bytes = await bytesOf("--digest", "--public-key", N.bobPublic);
    expect(bytes).toHaveLength(48);
    const signing = `pkeyutl -sign -inkey ${bob.file} -in ${fileWith(bytes)} -pkeyopt digest:sha384`;
    const it = fileWith(openssl(...signing.split(" ")));
    await on(1, { it })(`${COSIGN} --public-key $bobPublic --signature $it`, 0);
    await run("policy to-sign $v2 --digest", 2, "name the public key");
  });

  it("of a team without keys of their own begins with a draft, which only its signers read", async () => {
    await on(1)("policy sign $looser --feed $feed --valid 14d --out $v2 --force", 0);
    expect(signaturesIn(v2)).toEqual([]);
    await run("policy review $v2 --feed $feed", 0, "signed by nobody");
    await on(1)(PUBLISH, 2, "signatures");
    for (const one of [bob, carol]) {
      const names = { pem: fileWith(one.publicPem), it: fileWith(nodeSignature(one, await bytesOf())) };
      await on(1, names)(`${COSIGN} --public-key $pem --signature $it`, 0);
    }
    await on(1)(PUBLISH, 0);
  });
});

describe("policy cosign", () => {
  /** Answers the question at a terminal. */
  async function asked(answer: string): Promise<Answer> {
    let [stdout, stderr] = ["", ""];
    async function* input(): AsyncGenerator<Uint8Array> {
      // Nothing is signed before the answer.
      expect(signaturesIn(v2)).toHaveLength(1);
      expect([stdout.split("\n")[0], stderr]).toEqual(["Version 2 of prod/signer", "Sign this version? Type yes: "]);
      yield Buffer.from(answer);
    }
    const code = await runAny(["policy", "cosign", v2, "--key", bob.file, "--feed", feed], {
      stdin: Object.assign(input(), { isTTY: true }),
      stdout: { write: (text) => (stdout += String(text)) },
      stderr: { write: (text) => (stderr += text) },
      env: {},
      now: () => NOW,
    });
    return { code, stdout, stderr };
  }

  it("signs only after the answer yes", async () => {
    expect((await asked("yes\n")).code).toBe(0);
    expect(signaturesIn(v2)).toHaveLength(2);
  });

  it.each(["no\n", "y\n", "\n", "yes, but\n"])("does not sign after the answer %j", async (answer) => {
    const before = readText(v2);
    const { code, stderr } = await asked(answer);
    expect([code, stderr.includes("not signed"), readText(v2)]).toEqual([2, true, before]);
  });

  it.each([
    ["$v2 --key $bob --feed $feed", "--yes is required without a terminal"],
    ["$v2 --feed $feed --yes", "--key FILE, or --public-key"],
    ["$v2 --public-key $signers --feed $feed --yes", "--public-key requires --signature FILE"],
    ["$v2 --key $bob --signature $signers --feed $feed --yes", "--key cannot be used with --signature"],
    ["$v2 --key $bob --yes", /version 2 needs the feed .*; no feed is given/],
    ["$v2 --key $mallory --feed $feed --yes", /in neither|neither in the set in force/],
    ["$v2 --key $alice --feed $feed --yes", "signed it before"],
    ["$v2 --key $bobPublic --feed $feed --yes", "private key: expected one PEM"],
    ["$v2 --key $bob --feed $folder/none --yes", "no such file"],
    ["- --key $bob --feed $feed --yes < $v2", "stdin cannot be rewritten"],
  ])("refuses %s, and leaves the file as it is", async (words, says) => {
    const before = readText(v2);
    // It shows the version before it asks.
    const answer = await on(1)(`policy cosign ${words}`, "any", says);
    expect([answer.code, readText(v2)]).toEqual([2, before]);
  });
});

describe("a private key", () => {
  it.each([0o640, 0o604, 0o644])("whose file others can read (%o) is refused", async (mode) => {
    const key = fileWith(alice.pem);
    chmodSync(key, mode);
    const sign = "policy sign $policy --signers $signers --key $key --valid 14d";
    for (const line of [sign, "policy renew --feed $feed --key $key --valid 14d", `${COSIGN} --key $key`])
      await on(1, { key })(line, 2, "others may read this private key: run chmod 600");
    chmodSync(key, 0o400);
    await on(1, { key })(sign, 0);
  });

  it.each(["p256", "p384", "ed25519"])(
    "of %s is made by key new, for its owner alone, never over a file",
    async (type) => {
      const file = join(folder, `${type}.pem`);
      const { stdout } = await on(0, { file })(`key new --type ${type} --out $file`, 0, "$file has the private key");
      expect([statSync(file).mode & 0o777, publicPemOf(readText(file))]).toEqual([0o600, stdout]);
      const before = readFileSync(file);
      await on(0, { file })(`key new --type ${type} --out $file`, 2, "a key is never overwritten");
      expect(readFileSync(file)).toEqual(before);
      const own = fileWith(JSON.stringify({ name: "x", threshold: 1, keys: [stdout] }));
      await on(0, { file, own })("policy sign $policy --signers $own --key $file --valid 14d", 0);
    },
  );

  scene(N).usage("key new", [
    ["--type rsa --out x.pem", "--type rsa: expected one of p256, p384, ed25519"],
    ["--type p256", "--out FILE is required with --type"],
    ["--type p256 --out -", "a private key is not printed"],
    ["--type p256 --out $folder/none/x.pem", "there is no such file or folder"],
  ]);
});

describe("policy publish", () => {
  it("writes nothing that consumers would refuse", async () => {
    const before = readText(feed);
    await on(1)(PUBLISH, 2, "version 2: 1 of the 3 keys of the set in force");
    await run("policy publish $v1 --feed $feed --policy-signers $signers", 2, "version 1 needs");
    await on(1)(`${COSIGN} --key $bob`, 0);
    await on(40)(PUBLISH, 2, "version 2 expired");
    await run("policy publish $v2 --feed $folder/none --policy-signers $signers", 2, "no feed is given");
    await run("policy publish $v2", 2, "--feed FILE is required", "--policy-signers FILE is required");
    expect([readText(feed), existsSync(join(folder, "none"))]).toEqual([before, false]);
  });

  it("waits for no other process, and keeps the feed's mode", async () => {
    await on(1)(`${COSIGN} --key $bob`, 0);
    const lock = await takeLock(`${feed}.lock`, "feed");
    await on(1)(PUBLISH, 2, "in use by process");
    await lock.release();
    chmodSync(feed, 0o644);
    await on(1)(PUBLISH, 0);
    expect(statSync(feed).mode & 0o777).toBe(0o644);
  });
});

describe("policy renew and policy sign", () => {
  it("renew makes the next version of the same policy", async () => {
    const { stdout } = await on(10)("policy renew --feed $feed --key $carol --valid 30d", 0);
    expect(payloadIn(stdout)).toMatchObject({ version: 2, policy: POLICY, expiresAt: "2026-04-13T05:06:07.000Z" });
  });

  it.each([
    ["renew --feed $feed --key $alice", "--valid DURATION is required: how long"],
    ["renew --feed $feed --valid soon", "--valid soon: expected a duration such as 12h"],
    ["renew --feed $feed --valid 401d", "at most 400d"],
    ["renew --valid 14d", "--feed FILE is required"],
    ["sign $policy --valid 14d", "--signers FILE is required for version 1"],
    ["sign $policy --signers $signers --valid 14d --out $policy", "also an input"],
    ["sign $policy --signers $renamed --feed $feed --valid 14d", "version 2 is of x"],
    ["sign $policy --signers $nameless --valid 14d", "policy signers: name: expected 1 to 100"],
  ])("refuse %s", async (words, says) => {
    await on(1)(`policy ${words}`, 2, says);
  });

  it("sign refuses a feed whose newest version too few have signed", async () => {
    const it = fileWith(readText(feed) + altered(readText(v2), {}).replace("[]", '[{"sig":"AA=="}]'));
    await on(1, { it })("policy renew --feed $it --valid 14d", 2, "0 of the 3 keys");
  });
});
