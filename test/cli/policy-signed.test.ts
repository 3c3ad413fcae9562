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
import { type Answer, bootproof, refused, words } from "./support.js";

const [alice, bob, carol, mallory] = (await Promise.all(
  (["P-256", "P-384", "Ed25519", "P-256"] as const).map((type) => member(type)),
)) as [Member, Member, Member, Member];
const at = (days: number): { now: string } => ({ now: new Date(NOW.getTime() + days * 86_400_000).toISOString() });
const given = (line: string[], day = 0): Promise<Answer> => bootproof(line, at(day));
const policy = fileWith(JSON.stringify(POLICY));
const looser = fileWith(JSON.stringify(LOOSER));
const signers = setOf(2, alice, bob, carol);
const [v1, v2, feed] = ["v1.json", "v2.json", "feed.jsonl"].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];

function setOf(...given: Parameters<typeof signersOf>): string {
  return fileWith(JSON.stringify(signersOf(...given)));
}

async function good(line: string[], day = 0): Promise<Answer> {
  const answer = await given(line, day);
  expect(answer.code, answer.stderr).toBe(0);
  return answer;
}

/** Version 1 is published, and version 2 of the looser policy has the first of two signatures. */
let begun: readonly (readonly [path: string, content: string])[] = [];
beforeAll(async () => {
  await good(words`policy sign ${policy} --signers ${signers} --key ${alice.file} --valid 14d --out ${v1}`);
  await good(words`policy cosign ${v1} --key ${bob.file} --yes`);
  await good(words`policy publish ${v1} --feed ${feed} --policy-signers ${signers}`);
  await good(words`policy sign ${looser} --feed ${feed} --key ${alice.file} --valid 14d --out ${v2}`, 1);
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
    const review = await good(words`policy review ${v2} --feed ${feed}`, 1);
    expect(review.stdout).toMatch(/^Version 2 of prod\/signer\n/);
    expect(review.stdout).toContain(`signed by     ${alice.key.publicKey.keyid}`);
    expect(review.stdout).toMatch(/CRITICAL {2}.*\n[^]*7d[^]*30d/);
    expect(review.stdout).toMatch(/version 1 is valid to 2026-03-18T05:06:07.000Z/);
    const signed = await good(words`policy cosign ${v2} --key ${carol.file} --feed ${feed} --yes`, 1);
    expect([signed.stdout, signed.stderr]).toEqual([review.stdout, `Signed: ${v2}\n`]);
    const published = await good(words`policy publish ${v2} --feed ${feed} --policy-signers ${signers}`, 1);
    expect([published.stdout, published.stderr]).toEqual(["", `Published: ${feed}\n`]);
    expect(readText(feed)).toBe(readText(v1) + readText(v2));
    const check = await good(words`policy check ${feed} --policy-signers ${signers}`, 1);
    expect(check.stdout).toMatch(/^IN FORCE: version 2 of prod\/signer, until 2026-03-19T05:06:07.000Z\n/);
    expect(check.stdout).toMatch(/WELL-FORMED: version 1 of prod\/signer pins one deployment/);
    const [pin] = /\{"minVersion":2,"since":\{"version":2,"sha256":"[0-9a-f]{64}"\}\}/.exec(check.stdout)!;
    const pinned = fileWith(JSON.stringify({ ...signersOf(2, alice, bob, carol), ...(JSON.parse(pin) as object) }));
    expect((await good(words`policy check ${feed} --policy-signers ${pinned}`, 1)).stdout).not.toContain("Version 1 ");
    expect(check.stdout.replaceAll(/\s+/g, " ")).toContain("can pin the newest version beside its next signers");
    const json = await good(words`policy check ${feed} --policy-signers ${signers} --format json`, 1);
    expect((JSON.parse(json.stdout) as { pin: object }).pin).toEqual(JSON.parse(readText(pinned)));
    expect(readdirSync(folder).filter((name) => name.endsWith(".lock") || name.endsWith(".tmp"))).toEqual([]);
  });

  it("writes to stdout without --out, and names the version and weaknesses on stderr", async () => {
    const weak = setOf(1, alice, bob);
    const { stdout, stderr } = await good(words`policy sign ${policy} --signers ${weak} --key ${bob.file} --valid 12h`);
    expect(payloadIn(stdout)).toMatchObject({ version: 1, expiresAt: "2026-03-04T17:06:07.000Z" });
    expect(stderr).toMatch(/^Version 1 of prod\/signer\nwarning: 1 of 2 keys must sign the next version: two groups/);
    expect((await bootproof(words`policy review -`, { stdin: stdout })).code).toBe(0);
  });

  it("takes a private key as SEC1, and with text around its block", async () => {
    const sec1 = createPrivateKey(bob.pem).export({ type: "sec1", format: "pem" }).toString();
    const set = setOf(1, alice, bob);
    for (const content of [sec1, `subject=CN = bob\n${bob.pem}`]) {
      const key = fileWith(content);
      const { stdout } = await good(words`policy sign ${policy} --signers ${set} --key ${key} --valid 12h`);
      expect(payloadIn(stdout)).toMatchObject({ version: 1 });
    }
  });

  it("shows which keys sign from then on, where the set changes", async () => {
    const other = setOf(1, alice, mallory);
    const line = words`policy sign ${policy} --feed ${feed} --signers ${other} --key ${mallory.file} --valid 9d`;
    await good([...line, "--out", v2], 1);
    const { stdout } = await good(words`policy review ${v2} --feed ${feed}`, 1);
    expect(stdout).toContain("must sign     2 of 3 keys in force, and 1 of 2 keys of the next set");
    expect(stdout).toContain("next signers  1 of 2 keys: CHANGED");
    const marks = [...stdout.matchAll(/^ {4}([ +-]) (\S+) +([0-9a-f]{64})$/gm)].map(([, ...cells]) => cells.join(" "));
    expect(marks).toEqual([
      `  P-256 ${alice.key.publicKey.keyid}`,
      `+ P-256 ${mallory.key.publicKey.keyid}`,
      `- P-384 ${bob.key.publicKey.keyid}`,
      `- Ed25519 ${carol.key.publicKey.keyid}`,
    ]);
    expect(stdout).toContain("WARNING 1 of 2 keys must sign the next version: two groups");
  });

  it("inlines the files that a policy names, beside the policy", async () => {
    const [{ pem }] = POLICY["trustAnchors"] as [{ pem: string }];
    writeFileSync(join(folder, "root.pem"), pem);
    const named = fileWith(JSON.stringify({ ...POLICY, trustAnchors: [{ file: "root.pem" }] }));
    const { stdout } = await good(words`policy sign ${named} --signers ${signers} --valid 14d`);
    const { trustAnchors } = payloadIn(stdout)["policy"] as { trustAnchors: [{ pem: string }] };
    expect(trustAnchors[0].pem.trim()).toBe(pem.trim());
  });
});

describe("policy check of a feed", () => {
  it("exits with 1 once it has expired, and says so in JSON, too", async () => {
    const line = words`policy check ${feed} --policy-signers ${signers}`;
    const expired = await given(line, 14);
    expect([expired.code, expired.stdout.split("\n", 1)[0]]).toEqual([
      1,
      "NOT IN FORCE: version 1 expired at 2026-03-18T05:06:07.000Z",
    ]);
    const { code, stdout } = await given([...line, "--format", "json"], 14);
    expect([code, JSON.parse(stdout)]).toEqual([
      1,
      expect.objectContaining({ format: "bootproof-feed-check/1", faults: [expect.stringContaining("expired")] }),
    ]);
    expect((await given(line, 13)).code).toBe(0);
  });

  it("exits with 2 and the code of a feed that is refused", async () => {
    const other = setOf(1, mallory);
    const line = words`policy check ${feed} --policy-signers ${other} --format json`;
    const { code, stdout, stderr } = await given(line);
    expect([code, (JSON.parse(stdout) as { errors: unknown[] }).errors]).toEqual([
      2,
      [{ message: expect.stringMatching(/pinned set/) as string, file: null, code: "signatures" }],
    ]);
    expect(stderr).toMatch(/^bootproof: version 1: 0 of the 1 keys of the pinned set signed it, 1 must/);
  });

  it("of one version takes the envelope, too", async () => {
    await good(words`policy check ${v1} --policy-signers ${signers}`);
  });
});

describe("a key service", () => {
  it.each([
    [bob, "raw", (signature: Uint8Array) => signature],
    [bob, "base64", (signature: Uint8Array) => `${Buffer.from(signature).toString("base64")}\n`],
    [
      carol,
      "base64 in lines",
      (signature: Uint8Array) => Buffer.from(signature).toString("base64").replace(/.{9}/g, "$&\n"),
    ],
  ])("signs the bytes, and gives back a signature (%$)", async (one, _, encoded) => {
    const { stdout } = await bytesOf(words`policy to-sign ${v2}`);
    const signature = fileWith(encoded(nodeSignature(one, stdout)));
    const line = words`policy cosign ${v2} --public-key ${fileWith(one.publicPem)} --signature ${signature}`;
    await good([...line, ...words`--feed ${feed} --yes`], 1);
    await good(words`policy publish ${v2} --feed ${feed} --policy-signers ${signers}`, 1);
  });

  it("signs the digest, whose hash is that of the key", async () => {
    const pem = fileWith(bob.publicPem);
    const { stdout } = await bytesOf(words`policy to-sign ${v2} --digest --public-key ${pem}`);
    expect(stdout).toHaveLength(48);
    const signature = openssl(
      "pkeyutl",
      "-sign",
      "-inkey",
      bob.file,
      "-in",
      fileWith(stdout),
      "-pkeyopt",
      "digest:sha384",
    );
    await good(
      words`policy cosign ${v2} --public-key ${pem} --signature ${fileWith(signature)} --feed ${feed} --yes`,
      1,
    );
    await refused(2, given(words`policy to-sign ${v2} --digest`), /name the public key/);
  });

  it("of a team without keys of their own begins with a draft, which only its signers read", async () => {
    await good(words`policy sign ${looser} --feed ${feed} --valid 14d --out ${v2}`, 1);
    expect((JSON.parse(readText(v2)) as { signatures: unknown }).signatures).toEqual([]);
    expect((await good(words`policy review ${v2} --feed ${feed}`)).stdout).toContain("signed by     nobody");
    await refused(2, given(words`policy publish ${v2} --feed ${feed} --policy-signers ${signers}`, 1), /signatures/);
    for (const one of [bob, carol]) {
      const signature = fileWith(nodeSignature(one, (await bytesOf(words`policy to-sign ${v2}`)).stdout));
      const line = words`policy cosign ${v2} --public-key ${fileWith(one.publicPem)} --signature ${signature}`;
      await good([...line, ...words`--feed ${feed} --yes`], 1);
    }
    await good(words`policy publish ${v2} --feed ${feed} --policy-signers ${signers}`, 1);
  });

  async function bytesOf(line: string[]): Promise<{ stdout: Buffer }> {
    const chunks: Buffer[] = [];
    const code = await runAny(line, {
      stdin: noInput(),
      stdout: { write: (bytes) => chunks.push(Buffer.from(bytes as Uint8Array)) },
      stderr: { write: () => undefined },
      env: {},
      now: () => NOW,
    });
    expect(code).toBe(0);
    return { stdout: Buffer.concat(chunks) };
  }
});

async function* noInput(): AsyncGenerator<Uint8Array> {}

describe("policy cosign", () => {
  /** Answers the question at a terminal. */
  async function asked(answer: string): Promise<Answer> {
    let [stdout, stderr] = ["", ""];
    async function* input(): AsyncGenerator<Uint8Array> {
      // Nothing is signed before the answer.
      expect((JSON.parse(readText(v2)) as { signatures: unknown[] }).signatures).toHaveLength(1);
      expect([stdout.split("\n")[0], stderr]).toEqual(["Version 2 of prod/signer", "Sign this version? Type yes: "]);
      yield Buffer.from(answer);
    }
    const code = await runAny(words`policy cosign ${v2} --key ${bob.file} --feed ${feed}`, {
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
    expect((JSON.parse(readText(v2)) as { signatures: unknown[] }).signatures).toHaveLength(2);
  });

  it.each(["no\n", "y\n", "\n", "yes, but\n"])("does not sign after the answer %j", async (answer) => {
    const before = readText(v2);
    const { code, stderr } = await asked(answer);
    expect([code, stderr.includes("not signed"), readText(v2)]).toEqual([2, true, before]);
  });

  it.each<[string, string[], RegExp]>([
    ["no terminal", words`--key ${bob.file} --feed ${feed}`, /--yes is required without a terminal/],
    ["no key", words`--feed ${feed} --yes`, /either --key FILE, or --public-key/],
    ["half a signature", words`--public-key ${signers} --feed ${feed} --yes`, /either --key FILE/],
    ["two ways", words`--key ${bob.file} --signature ${signers} --feed ${feed} --yes`, /either --key FILE/],
    ["no feed", words`--key ${bob.file} --yes`, /version 2 needs the feed .*; no feed is given/],
    ["a key of no set", words`--key ${mallory.file} --feed ${feed} --yes`, /in neither|neither in the set in force/],
    ["a key that has signed", words`--key ${alice.file} --feed ${feed} --yes`, /signed it before/],
    ["a public key", words`--key ${fileWith(bob.publicPem)} --feed ${feed} --yes`, /private key: expected one PEM/],
    ["a feed that is not there", words`--key ${bob.file} --feed ${`${feed}x`} --yes`, /no such file/],
  ])("refuses %s, and leaves the file as it is", async (_, line, says) => {
    const before = readText(v2);
    const { code, stderr } = await given(["policy", "cosign", v2, ...line], 1);
    expect([code, readText(v2)]).toEqual([2, before]);
    expect(stderr).toMatch(says);
  });

  it("refuses stdin, which it cannot rewrite", async () => {
    const line = words`policy cosign - --key ${bob.file} --feed ${feed} --yes`;
    await refused(2, bootproof(line, { stdin: readText(v2) }), /stdin cannot be rewritten/);
  });
});

describe("a private key", () => {
  it.each([0o640, 0o604, 0o644])("whose file others can read (%o) is refused", async (mode) => {
    const file = fileWith(alice.pem);
    chmodSync(file, mode);
    const lines = [
      words`policy sign ${policy} --signers ${signers} --key ${file} --valid 14d`,
      words`policy renew --feed ${feed} --key ${file} --valid 14d`,
      words`policy cosign ${v2} --feed ${feed} --key ${file} --yes`,
    ];
    for (const line of lines) await refused(2, given(line, 1), /others may read this private key: run chmod 600/);
    chmodSync(file, 0o400);
    await good(lines[0]!, 1);
  });

  it.each(["p256", "p384", "ed25519"])(
    "of type %s is made by key new, for its owner alone, never over a file",
    async (type) => {
      const file = join(folder, `${type}.pem`);
      const { stdout, stderr } = await good(words`key new --type ${type} --out ${file}`);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(publicPemOf(readText(file))).toBe(stdout);
      expect(stderr).toContain(`${file} has the private key`);
      const before = readFileSync(file);
      await refused(2, given(words`key new --type ${type} --out ${file}`), /a key is never overwritten/);
      expect(readFileSync(file)).toEqual(before);
      const own = fileWith(JSON.stringify({ name: "x", threshold: 1, keys: [stdout] }));
      await good(words`policy sign ${policy} --signers ${own} --key ${file} --valid 14d`);
    },
  );

  it("has a type that is known, and a file", async () => {
    await refused(2, given(words`key new --type rsa --out x.pem`), /--type rsa: expected one of p256, p384, ed25519/);
    await refused(2, given(words`key new --type p256`), /--out FILE is required with --type/);
    await refused(2, given(words`key new --type p256 --out -`), /a private key is not printed/);
    await refused(2, given(words`key new --type p256 --out ${join(folder, "none", "x.pem")}`), /cannot be written/);
  });
});

describe("policy publish", () => {
  it("writes nothing that consumers would refuse", async () => {
    const before = readText(feed);
    const line = words`policy publish ${v2} --feed ${feed} --policy-signers ${signers}`;
    await refused(2, given(line, 1), /version 2: 1 of the 3 keys of the set in force/);
    await refused(2, given(words`policy publish ${v1} --feed ${feed} --policy-signers ${signers}`), /version 1 needs/);
    await good(words`policy cosign ${v2} --key ${bob.file} --feed ${feed} --yes`, 1);
    await refused(2, given(line, 40), /version 2 expired/);
    await refused(
      2,
      given(words`policy publish ${v2} --feed ${`${feed}2`} --policy-signers ${signers}`),
      /no feed is given/,
    );
    expect([readText(feed), existsSync(`${feed}2`)]).toEqual([before, false]);
  });

  it("waits for no other process, and keeps the feed's mode", async () => {
    await good(words`policy cosign ${v2} --key ${bob.file} --feed ${feed} --yes`, 1);
    const line = words`policy publish ${v2} --feed ${feed} --policy-signers ${signers}`;
    const lock = await takeLock(`${feed}.lock`, "feed");
    await refused(2, given(line, 1), /in use by process/);
    await lock.release();
    chmodSync(feed, 0o644);
    await good(line, 1);
    expect(statSync(feed).mode & 0o777).toBe(0o644);
  });

  it("needs a feed and what consumers pin", async () => {
    await refused(
      2,
      given(words`policy publish ${v2}`),
      /--feed FILE is required/,
      /--policy-signers FILE is required/,
    );
  });
});

describe("policy renew and policy sign", () => {
  const renamed = fileWith(JSON.stringify({ ...signersOf(1, alice), name: "x" }));
  const nameless = fileWith(JSON.stringify({ threshold: 1, keys: [alice.publicPem] }));

  it("renew makes the next version of the same policy", async () => {
    const { stdout } = await good(words`policy renew --feed ${feed} --key ${carol.file} --valid 30d`, 10);
    expect(payloadIn(stdout)).toMatchObject({ version: 2, policy: POLICY, expiresAt: "2026-04-13T05:06:07.000Z" });
  });

  it.each<[string, string[], RegExp]>([
    ["no duration", words`policy renew --feed ${feed} --key ${alice.file}`, /--valid DURATION: expected a duration/],
    ["words", words`policy renew --feed ${feed} --valid soon`, /--valid soon: expected a duration such as 12h/],
    ["401 days", words`policy renew --feed ${feed} --valid 401d`, /at most 400d/],
    ["no feed", words`policy renew --valid 14d`, /--feed FILE is required/],
    ["neither signers nor feed", words`policy sign ${policy} --valid 14d`, /--signers FILE is required for version 1/],
    [
      "an input as --out",
      words`policy sign ${policy} --signers ${signers} --valid 14d --out ${policy}`,
      /also an input/,
    ],
    ["another name", words`policy sign ${policy} --signers ${renamed} --feed ${feed} --valid 14d`, /version 2 is of x/],
    [
      "a set without a name",
      words`policy sign ${policy} --signers ${nameless} --valid 14d`,
      /policy signers: name: expected 1 to 100/,
    ],
  ])("refuse %s", async (_, line, says) => refused(2, given(line, 1), says));

  it("sign refuses a feed whose newest version too few have signed", async () => {
    const forged = fileWith(readText(feed) + altered(readText(v2), {}).replace("[]", '[{"sig":"AA=="}]'));
    await refused(2, given(words`policy renew --feed ${forged} --valid 14d`, 1), /0 of the 3 keys/);
  });
});
