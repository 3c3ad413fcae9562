/** What those who decide do: keys, versions, signatures, reviews and feeds. openssl is the second opinion. */
import { createHash, createPrivateKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { toUtf8 } from "../../src/bytes.js";
import {
  checkFeed,
  cosignPolicy,
  makeSigningKey,
  openSignedPolicy,
  policyToSign,
  publishPolicy,
  readSigningKey,
  renewPolicy,
  reviewPolicy,
  signPolicy,
} from "../../src/signed-policy/index.js";
import {
  DAY_MS,
  LOOSER,
  type Member,
  NOW,
  POLICY,
  TYPES,
  altered,
  fileWith,
  member,
  nodeSignature,
  openssl,
  opensslMember,
  opensslSignature,
  opensslVerifies,
  payloadIn,
  signersOf,
} from "./team.js";
import { IS_LONG } from "../support/long.js";

let [alice, bob, carol, mallory]: Member[] = [] as unknown as [Member, Member, Member, Member];
let v1: string;
let feed: string;
const validMs = 14 * DAY_MS;
const after = (days: number): Date => new Date(NOW.getTime() + days * DAY_MS);

beforeAll(async () => {
  [alice, bob, carol, mallory] = await Promise.all([
    member("P-256"),
    member("P-384"),
    member("Ed25519"),
    member("P-256"),
  ]);
  const draft = await signPolicy({ policy: POLICY, signers: team(), key: alice!.key, now: NOW, validMs });
  v1 = await cosignPolicy({ envelope: draft, key: bob!.key });
  feed = await publishPolicy({ envelope: v1, signers: team(), now: NOW });
});

function team(): ReturnType<typeof signersOf> {
  return signersOf(2, alice!, bob!, carol!);
}

const refused = (code: string, message: RegExp): object =>
  expect.objectContaining({
    name: "SignedPolicyError",
    code,
    message: expect.stringMatching(message) as string,
  }) as object;

const next = (options: object = {}): Promise<string> =>
  signPolicy({ policy: LOOSER, feed, key: alice!.key, now: after(1), validMs, ...options });
const counted = (envelope: string): unknown[] => (JSON.parse(envelope) as { signatures: unknown[] }).signatures;

/** `BOOTPROOF_TESTS=long` takes every byte. */
const EACH = IS_LONG ? 1 : 10;

describe.each(TYPES)("a key of %s", (type) => {
  const message = toUtf8("what is signed");

  it("is read as openssl writes it, and signs what openssl verifies, the same each time", async () => {
    const one = await opensslMember(type);
    expect([one.key.publicKey.type, one.key.publicKey.pem]).toEqual([type, one.publicPem]);
    const signature = one.key.sign(message);
    expect(opensslVerifies(one, message, signature)).toBe(true);
    expect(opensslVerifies(one, toUtf8("another"), signature)).toBe(false);
    expect(Buffer.from(one.key.sign(message)).equals(signature)).toBe(true);
    expect(await one.key.publicKey.verify(message, opensslSignature(one, message))).toBe(true);
  });

  it("is made so that openssl and Node read it", async () => {
    const pem = await makeSigningKey(type, (length) => randomBytes(length));
    const { publicKey } = await readSigningKey(pem);
    expect(openssl("pkey", "-in", fileWith(pem)).toString()).toBe(pem);
    expect(openssl("pkey", "-in", fileWith(pem), "-pubout").toString()).toBe(publicKey.pem);
    expect(createPrivateKey(pem).export({ type: "pkcs8", format: "pem" })).toBe(pem);
    expect(await makeSigningKey(type, (length) => randomBytes(length))).not.toBe(pem);
  });

  it("is refused if any byte is another, and is never quoted", async () => {
    const { pem } = await member(type);
    const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ""), "base64");
    const isSecret = (at: number): boolean => type === "Ed25519" && at >= der.length - 32;
    // The values of keys on curves: the secret behind the header, and the point at the end.
    const isValue = (at: number): boolean => type !== "Ed25519" && ((at >= 36 && at < 64) || at >= der.length - 60);
    for (const at of der.keys()) {
      if (isSecret(at) || (isValue(at) && at % EACH !== 0)) continue;
      const other = Buffer.from(der);
      other[at]! ^= 1;
      const text = `-----BEGIN PRIVATE KEY-----\n${other.toString("base64")}\n-----END PRIVATE KEY-----\n`;
      const error = (await readSigningKey(text).catch((reason: unknown) => reason)) as Error;
      expect(error, String(at)).toEqual(refused("malformed", /^private key: expected one PEM block/));
      expect(error.message).not.toContain(other.toString("base64").slice(40, 60));
    }
    const cut = pem.replace(/[^-]{20}\n-----END/, "\n-----END");
    for (const text of [cut, pem + pem, pem.slice(40), pem.replaceAll("PRIVATE", "PUBLIC"), ""])
      await expect(readSigningKey(text)).rejects.toEqual(refused("malformed", /openssl pkey -in FILE/));
  });
});

it("a random scalar out of the curve's range is not used", async () => {
  const lengths: number[] = [];
  const pem = await makeSigningKey("P-256", (length) => {
    lengths.push(length);
    return lengths.length === 1 ? new Uint8Array(length).fill(0xff) : randomBytes(length);
  });
  expect([lengths, (await readSigningKey(pem)).publicKey.type]).toEqual([[32, 32], "P-256"]);
});

it("keys of other forms and kinds are refused", async () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const others = [
    privateKey.export({ type: "sec1", format: "pem" }),
    privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" }),
    generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" }),
    generateKeyPairSync("ec", { namedCurve: "secp256k1" }).privateKey.export({ type: "pkcs8", format: "pem" }),
    generateKeyPairSync("x25519").privateKey.export({ type: "pkcs8", format: "pem" }),
  ];
  for (const pem of others)
    await expect(readSigningKey(String(pem))).rejects.toEqual(refused("malformed", /private key/));
});

describe("signPolicy", () => {
  it("makes version 1 of the set that is given", () => {
    expect(payloadIn(v1)).toEqual({
      signedPolicy: "bootproof-signed-policy/1",
      name: "prod/signer",
      version: 1,
      previous: null,
      issuedAt: "2026-03-04T05:06:07.000Z",
      expiresAt: "2026-03-18T05:06:07.000Z",
      signers: { threshold: 2, keys: team().keys },
      policy: POLICY,
    });
  });

  it("makes the version after the feed's last one, by the set in force", async () => {
    const payload = payloadIn(await next());
    const digest = createHash("sha256")
      .update(JSON.stringify(payloadIn(v1)))
      .digest("hex");
    expect(payload).toMatchObject({ version: 2, previous: digest, signers: { threshold: 2, keys: team().keys } });
    expect(payload["policy"]).toEqual(LOOSER);
  });

  it("never issues before the version before, whatever the clock says", async () => {
    expect(payloadIn(await next({ now: after(-9) }))).toMatchObject({ issuedAt: "2026-03-04T05:06:07.000Z" });
  });

  it("refuses what consumers would refuse", async () => {
    await expect(signPolicy({ policy: POLICY, now: NOW, validMs })).rejects.toEqual(
      refused("malformed", /version 1 needs/),
    );
    await expect(next({ policy: { policy: "bootproof/1" } })).rejects.toEqual(refused("malformed", /deployments/));
    await expect(next({ policy: { ...POLICY, trustAnchors: [{ file: "root.pem" }] } })).rejects.toEqual(
      refused("malformed", /trustAnchors/),
    );
    await expect(next({ signers: { ...team(), name: "prod/other" } })).rejects.toEqual(refused("name", /prod\/other/));
    await expect(next({ validMs: 401 * DAY_MS })).rejects.toThrow(/validMs/);
    await expect(next({ now: new Date(NaN) })).rejects.toThrow(/now/);
  });

  it("follows no feed that its own sets did not sign", async () => {
    const forged = `${altered(v1, { expiresAt: "2027-01-01T00:00:00Z" })}`;
    const signed = await cosignPolicy({ envelope: forged, key: alice!.key });
    await expect(next({ feed: signed })).rejects.toEqual(refused("signatures", /1 of the 3 keys/));
    await expect(renewPolicy({ feed: signed, now: NOW, validMs })).rejects.toEqual(refused("signatures", /1 of the 3/));
    const second = await cosignPolicy({ envelope: await next(), feed, key: bob!.key });
    expect(payloadIn(await next({ feed: feed + second }))).toMatchObject({ version: 3 });
    const few = feed + (await next());
    await expect(reviewPolicy({ envelope: v1, feed: few })).rejects.toEqual(refused("signatures", /version 2: 1 of/));
  });

  it("without a key makes a draft, which no consumer reads", async () => {
    const draft = await next({ key: undefined });
    expect(counted(draft)).toEqual([]);
    await expect(publishPolicy({ envelope: draft, feed, signers: team(), now: NOW })).rejects.toEqual(
      refused("malformed", /signatures/),
    );
    await expect(checkFeed({ feed: feed + draft, signers: team(), now: NOW })).rejects.toEqual(
      refused("malformed", /feed line 2: signatures/),
    );
    expect(counted(await cosignPolicy({ envelope: draft, feed, key: carol!.key }))).toHaveLength(1);
  });
});

describe("cosignPolicy", () => {
  it.each([0, 1, 2])("adds a signature that consumers count (key %i)", async (index) => {
    const one = [alice, bob, carol][index]!;
    const envelope = await cosignPolicy({ envelope: await next({ key: undefined }), feed, key: one.key });
    const { signedBy } = await reviewPolicy({ envelope, feed });
    expect(signedBy).toEqual([one.key.publicKey.keyid]);
  });

  it.each([0, 1, 2])("attaches a signature that was made elsewhere, and no other (key %i)", async (index) => {
    const one = [alice, bob, carol][index]!;
    const draft = await next({ key: undefined });
    const { bytes } = await policyToSign({ envelope: draft });
    const attach = (signature: Uint8Array, publicKey = one.publicPem): Promise<string> =>
      cosignPolicy({ envelope: draft, feed, key: { publicKey, signature } });
    expect(counted(await attach(nodeSignature(one, bytes)))).toHaveLength(1);
    const others = [nodeSignature(one, toUtf8("x")), nodeSignature(mallory!, bytes), new Uint8Array(0)];
    for (const signature of others)
      await expect(attach(signature)).rejects.toEqual(refused("signatures", /did not make this signature/));
    await expect(attach(new Uint8Array(1), one.pem)).rejects.toEqual(refused("malformed", /^public key: /));
  });

  it("refuses a key of neither set, and one that has signed", async () => {
    const envelope = await next();
    const sign = (key: Member): Promise<string> => cosignPolicy({ envelope, feed, key: key.key });
    await expect(sign(mallory!)).rejects.toEqual(refused("signatures", /neither in the set in force nor/));
    await expect(sign(alice!)).rejects.toEqual(refused("signatures", /signed it before/));
    const bytes = (await policyToSign({ envelope })).bytes;
    const key = { publicKey: mallory!.publicPem, signature: nodeSignature(mallory!, bytes) };
    await expect(cosignPolicy({ envelope, feed, key })).rejects.toEqual(refused("signatures", /neither/));
    await expect(next({ key: mallory!.key })).rejects.toEqual(refused("signatures", /neither/));
  });

  it("takes keys of both sets where the set changes", async () => {
    const envelope = await next({ signers: signersOf(2, alice!, bob!, mallory!) });
    const sign = (key: Member): Promise<string> => cosignPolicy({ envelope, feed, key: key.key });
    expect((await Promise.all([sign(mallory!), sign(carol!)])).map((each) => counted(each).length)).toEqual([2, 2]);
  });

  it("refuses a version that does not follow the feed", async () => {
    const envelope = await next();
    const sign = (given: object): Promise<string> => cosignPolicy({ envelope, feed, key: bob!.key, ...given });
    await expect(cosignPolicy({ envelope, key: bob!.key })).rejects.toEqual(refused("version", /no feed is given/));
    await expect(sign({ envelope: v1 })).rejects.toEqual(refused("version", /this one ends with version 1/));
    await expect(sign({ envelope: altered(envelope, { version: 3 }) })).rejects.toEqual(
      refused("version", /version 3/),
    );
    await expect(sign({ envelope: altered(envelope, { previous: "00".repeat(32) }) })).rejects.toEqual(
      refused("previous", /follows 0000/),
    );
    await expect(sign({ envelope: altered(envelope, { name: "prod/other" }) })).rejects.toEqual(
      refused("name", /prod\/other/),
    );
    await expect(sign({ envelope: altered(envelope, { issuedAt: "2026-03-01T00:00:00Z" }) })).rejects.toEqual(
      refused("version", /issuedAt goes back/),
    );
    await expect(sign({ envelope: altered(envelope, { policy: {} }) })).rejects.toEqual(refused("malformed", /policy/));
  });

  it("adds no signature beyond the 32 that consumers read", async () => {
    const junk = Array.from({ length: 32 }, () => ({ keyid: "00", sig: "AA==" }));
    const full = JSON.stringify({ ...(JSON.parse(await next()) as object), signatures: junk });
    await expect(cosignPolicy({ envelope: full, feed, key: bob!.key })).rejects.toEqual(
      refused("malformed", /signatures/),
    );
  });
});

describe("policyToSign", () => {
  it("returns DSSE's PAE", async () => {
    const { payload } = JSON.parse(v1) as { payload: string };
    const bytes = Buffer.from(payload, "base64");
    const start = `DSSEv1 44 application/vnd.bootproof.signed-policy+json ${bytes.length} `;
    const pae = Buffer.concat([Buffer.from(start), bytes]);
    expect(pae.equals((await policyToSign({ envelope: v1 })).bytes)).toBe(true);
  });

  it("demands the key where the set has several types, and has no digest for Ed25519", async () => {
    await expect((await policyToSign({ envelope: v1 })).digest()).rejects.toEqual(
      refused("malformed", /P-256 and P-384 and Ed25519: name the public key/),
    );
    const { digest } = await policyToSign({ envelope: v1, publicKey: carol!.publicPem });
    await expect(digest()).rejects.toEqual(refused("malformed", /Ed25519 signs the bytes/));
    for (const [one, hash] of [
      [alice!, "sha256"],
      [bob!, "sha384"],
    ] as const) {
      const same = await signPolicy({ policy: POLICY, signers: signersOf(1, one), now: NOW, validMs });
      const { bytes, digest: digestOf } = await policyToSign({ envelope: same });
      expect(
        createHash(hash)
          .update(bytes)
          .digest()
          .equals(await digestOf()),
      ).toBe(true);
    }
  });
});

describe("publishPolicy", () => {
  it("appends what consumers accept, byte by byte behind what was there", async () => {
    const second = await cosignPolicy({ envelope: await next(), feed, key: bob!.key });
    const given = { envelope: second, signers: team(), now: after(1) };
    const published = await publishPolicy({ ...given, feed });
    expect(published).toBe(`${feed}${second}`);
    expect(await publishPolicy({ ...given, feed: toUtf8(feed.trimEnd()) })).toBe(published);
    const opened = await openSignedPolicy({ signers: team(), source: async () => published, now: () => after(1) });
    expect([opened.version, opened.policy.maxAge]).toEqual([2, 30 * DAY_MS]);
  });

  it.each<[string, () => Promise<object>, string, RegExp]>([
    ["too few signatures", async () => ({ envelope: await next() }), "signatures", /1 of the 3 keys/],
    ["no successor", async () => ({ envelope: v1 }), "version", /this one ends with version 1/],
    ["version 2 without its feed", async () => ({ feed: "" }), "version", /no feed is given/],
    ["other pinned keys", async () => ({ signers: signersOf(1, mallory!) }), "signatures", /pinned set/],
    ["another pinned name", async () => ({ signers: { ...team(), name: "x" } }), "name", /x is pinned/],
    ["a later least version", async () => ({ signers: { ...team(), minVersion: 3 } }), "version", /at least version 3/],
    ["an expired version", async () => ({ now: after(60) }), "version", /version 2 expired at/],
    ["a version of the future", async () => ({ now: NOW }), "version", /version 2 was issued in the future/],
  ])("refuses %s", async (_, given, code, message) => {
    const envelope = await cosignPolicy({ envelope: await next(), feed, key: bob!.key });
    const options = { envelope, feed, signers: team(), now: after(1), ...(await given()) };
    await expect(publishPolicy(options)).rejects.toEqual(refused(code, message));
  });

  it("refuses a first version of the future", async () => {
    await expect(publishPolicy({ envelope: v1, signers: team(), now: after(-1) })).rejects.toEqual(
      refused("version", /version 1 was issued in the future/),
    );
  });
});

it("renewPolicy makes the next version with the same policy and signers", async () => {
  const envelope = await renewPolicy({ feed, key: carol!.key, now: after(13), validMs });
  expect(payloadIn(envelope)).toEqual({
    ...payloadIn(v1),
    version: 2,
    previous: createHash("sha256")
      .update(JSON.stringify(payloadIn(v1)))
      .digest("hex"),
    issuedAt: "2026-03-17T05:06:07.000Z",
    expiresAt: "2026-03-31T05:06:07.000Z",
  });
  const { changes } = await reviewPolicy({ envelope, feed });
  expect(changes?.same).toBe(true);
});

describe("reviewPolicy", () => {
  it("describes the policy of version 1", async () => {
    const { before, changes, policy, signedBy, version } = await reviewPolicy({ envelope: v1 });
    expect({ before, changes, version }).toEqual({ before: null, changes: null, version: 1 });
    expect(policy?.maxAge).toBe(7 * DAY_MS);
    expect(signedBy).toEqual([alice, bob].map((each) => each!.key.publicKey.keyid));
  });

  it("compares any other with the version before, policy, signers and expiry", async () => {
    const envelope = await next({ signers: signersOf(1, alice!, mallory!), key: undefined });
    const { before, changes, policy, signers, inForce } = await reviewPolicy({ envelope, feed });
    expect(policy).toBeNull();
    expect(changes?.changes.map(({ what, severity }) => [what, severity])).toEqual([["policy.max-age", "critical"]]);
    expect([before?.version, before?.expiresAt]).toEqual([1, "2026-03-18T05:06:07.000Z"]);
    expect([inForce.threshold, signers.threshold]).toEqual([2, 1]);
    expect(signers.keys.map(({ keyid }) => keyid)).toEqual([alice, mallory].map((each) => each!.key.publicKey.keyid));
    expect(inForce.keys.map(({ type }) => type)).toEqual(["P-256", "P-384", "Ed25519"]);
  });

  it("notes signatures that do not count", async () => {
    const envelope = JSON.stringify({ ...(JSON.parse(v1) as object), signatures: [{ keyid: "00", sig: "AA==" }] });
    const { signedBy, warnings } = await reviewPolicy({ envelope });
    expect([signedBy, warnings[0]]).toEqual([[], expect.stringContaining("signature 0 is by a key of no set")]);
  });

  it.each([
    [1, 1, ["if one key is lost"]],
    [1, 2, ["two groups"]],
    [2, 2, ["if one key is lost"]],
    [2, 3, []],
    [2, 4, ["two groups"]],
    [3, 4, []],
  ])("of %i of %i keys warns of %j", async (threshold, count, words) => {
    const keys = [alice, bob, carol, mallory].slice(0, count).map((each) => each!);
    const envelope = await signPolicy({ policy: POLICY, signers: signersOf(threshold, ...keys), now: NOW, validMs });
    const { warnings } = await reviewPolicy({ envelope });
    expect(warnings).toEqual(words.map((word) => expect.stringContaining(word) as string));
  });
});

describe("checkFeed", () => {
  it("reviews the versions that a consumer accepts, and says what to pin", async () => {
    const second = await cosignPolicy({ envelope: await next(), feed, key: bob!.key });
    const check = await checkFeed({ feed: feed + second, signers: team(), now: after(1) });
    const { sha256 } = await reviewPolicy({ envelope: second, feed });
    expect(check).toMatchObject({ format: "bootproof-feed-check/1", faults: [], notes: [] });
    expect(check.pin).toEqual({ ...team(), minVersion: 2, since: { version: 2, sha256 } });
    expect(check.versions.map(({ version, before }) => [version, before?.version])).toEqual([
      [1, undefined],
      [2, 1],
    ]);
    expect(check.versions[1]!.changes?.counts.critical).toBe(1);
    const pinned = await checkFeed({ feed: feed + second, signers: check.pin, now: after(1) });
    expect(pinned.versions.map(({ version }) => version)).toEqual([2]);
  });

  it("says to pin the newest set, since the keys pinned before need not have signed that version", async () => {
    const signers = signersOf(2, alice!, mallory!, carol!);
    const rotated = await cosignPolicy({ envelope: await next({ signers }), feed, key: bob!.key });
    const two = feed + (await cosignPolicy({ envelope: rotated, feed, key: mallory!.key }));
    const renewed = await renewPolicy({ feed: two, key: mallory!.key, now: after(2), validMs });
    const three = two + (await cosignPolicy({ envelope: renewed, feed: two, key: alice!.key }));
    const { pin } = await checkFeed({ feed: three, signers: team(), now: after(2) });
    expect(pin).toMatchObject({ ...signers, minVersion: 3 });
    expect((await checkFeed({ feed: three, signers: pin, now: after(2) })).versions).toHaveLength(1);
    await expect(checkFeed({ feed: three, signers: { ...pin, ...team() }, now: after(2) })).rejects.toEqual(
      refused("signatures", /version 3: 1 of the 3 keys of the pinned set signed it, 2 must/),
    );
  });

  it("counts signatures of the pinned set, where the first version has another", async () => {
    const draft = await signPolicy({
      policy: POLICY,
      signers: signersOf(1, alice!),
      key: alice!.key,
      now: NOW,
      validMs,
    });
    const { bytes } = await policyToSign({ envelope: draft });
    const sig = Buffer.from(mallory!.key.sign(bytes)).toString("base64");
    const read = JSON.parse(draft) as { signatures: object[] };
    const both = JSON.stringify({ ...read, signatures: [...read.signatures, { sig }] });
    const { versions } = await checkFeed({ feed: both, signers: signersOf(1, mallory!), now: NOW });
    const [{ signedBy, inForce, warnings }] = versions as [(typeof versions)[0]];
    expect(signedBy).toEqual([alice, mallory].map((each) => each!.key.publicKey.keyid));
    expect(inForce.keys.map(({ keyid }) => keyid)).toEqual([mallory!.key.publicKey.keyid]);
    expect(warnings).toEqual([expect.stringContaining("if one key is lost")]);
  });

  it("says what is not in force", async () => {
    const expired = await checkFeed({ feed, signers: team(), now: after(14) });
    expect(expired.faults).toEqual(["version 1 expired at 2026-03-18T05:06:07.000Z"]);
    const early = await checkFeed({ feed, signers: team(), now: after(-1) });
    expect([early.faults.length, early.versions.length]).toEqual([1, 1]);
    const second = await cosignPolicy({ envelope: await next(), feed, key: bob!.key });
    const { notes, versions } = await checkFeed({ feed: feed + second, signers: team(), now: NOW });
    expect([notes.length, versions.length]).toEqual([1, 1]);
  });

  it("refuses a newest version whose policy cannot be read, and names an older one's faults", async () => {
    const old = altered(await next(), { policy: { policy: "bootproof/1" } });
    const signature = (one: Member, bytes: Uint8Array): object => ({
      keyid: one.key.publicKey.keyid,
      sig: Buffer.from(one.key.sign(bytes)).toString("base64"),
    });
    const payload = Buffer.from((JSON.parse(old) as { payload: string }).payload, "base64");
    const bytes = Buffer.concat([
      Buffer.from(`DSSEv1 44 application/vnd.bootproof.signed-policy+json ${payload.length} `),
      payload,
    ]);
    const signatures = [signature(alice!, bytes), signature(bob!, bytes)];
    const two = `${feed}${JSON.stringify({ ...(JSON.parse(old) as object), signatures })}\n`;
    await expect(checkFeed({ feed: two, signers: team(), now: after(1) })).rejects.toEqual(
      refused("malformed", /version 2: policy/),
    );
    const third = await next({ feed: two });
    const three = two + (await cosignPolicy({ envelope: third, feed: two, key: bob!.key }));
    const { versions } = await checkFeed({ feed: three, signers: team(), now: after(1) });
    expect(versions.map(({ changes }) => changes)).toEqual([null, null, null]);
    expect(versions[2]!.warnings.join()).toContain("its policy is not read: a: ");
  });
});
