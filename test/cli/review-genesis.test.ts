/** `bootproof review GENESIS_OUTPUT --genesis-request FILE`, and what inspect shows of both files. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { toBase64, toHex } from "../../src/bytes.js";
import { DR, FORMS, SET, alice, bob, mallory, output, quorum } from "../support/genesis.js";
import { bytesOf, made } from "../review/support.js";
import { fileOf, scene } from "./support.js";

const setJson = ({ threshold, members }: typeof SET): object => ({
  threshold,
  members: members.map(({ alias, pubKey }) => ({ alias, pubKey: toHex(pubKey) })),
});
const requestFile = (set = SET, drKey: Uint8Array | null = null): string =>
  fileOf({ set: setJson(set), drKey: drKey && toHex(drKey) }, "request.json");
const outputFile = (bytes: Uint8Array): string => fileOf(bytes, "genesis_output");
const ambiguous = new Uint8Array(98);
ambiguous[81] = 5;
const N = {
  ...{ request: requestFile(), ofDr: requestFile(SET, DR), good: outputFile(output("request")), open: fileOf("{") },
  ...{ ambiguous: outputFile(ambiguous), cut: outputFile(output("request").subarray(0, -1)) },
  manifest: fileOf(bytesOf(made("v1")), "manifest.json"),
  ...{ keyless: fileOf({ set: setJson(SET) }), nobody: fileOf({ set: { threshold: 1, members: [] }, drKey: null }) },
  ...{ emptyKey: fileOf({ set: setJson(SET), drKey: "" }), word: fileOf({ set: setJson(SET), drKey: "key" }) },
  more: fileOf({ set: setJson(SET), drKey: null, extra: 1 }),
};
const { having, run, usage } = scene(N);

describe.each(FORMS)("an output in the form %s", (form) => {
  const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
  it("is recognised and shown by inspect, with its hash", async () => {
    const bytes = output(form, { drKey: DR });
    const { stdout } = await having({ it: outputFile(bytes) })("inspect $it --format json", 0);
    const memberOutputs = [{ member: { alias: "alice", pubKey: toHex(alice.pubKey) } }, { member: { alias: "bob" } }];
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ kind: "genesis output", encoding: "borsh", faults: [] },
      says: { form, quorumKey: toHex(quorum.publicKey), memberOutputs, hash: hashOf(bytes) },
    });
  });

  it("that answers the request is exit code 0, also in base64, with the key and the user data in full", async () => {
    const bytes = output(form);
    const says = [
      "IT ANSWERS THE REQUEST",
      form,
      "2 of 2 shares",
      toHex(quorum.publicKey),
      "alice",
      "bob",
      hashOf(bytes),
    ];
    for (const it of [outputFile(bytes), fileOf(toBase64(bytes))])
      await having({ it })(
        "review $it --genesis-request $request",
        0,
        ...says,
        "verify the attestation document of the",
      );
    await having({ it: outputFile(output(form, { drKey: DR })) })("review $it --genesis-request $ofDr", 0);
  });

  it.each<[string, Uint8Array, string]>([
    ["a share for somebody else", output(form, { sharers: [alice, mallory] }), "members"],
    ["a lower threshold", output(form, { threshold: 1 }), "set"],
    ["a copy of the key that nobody requested", output(form, { wrapped: new Uint8Array(60) }), "dr-key"],
  ])("with %s is exit code 1", async (_, bytes, fault) => {
    const review = having({ it: outputFile(bytes) });
    await review("review $it --genesis-request $request", 1, /^KEEP NO SHARE OF IT: [12] faults?\./, `(${fault})`);
    const { stdout } = await review("review $it --genesis-request $request --format json", 1);
    expect(JSON.parse(stdout)).toMatchObject({ format: "bootproof-genesis-review/1", holds: false });
  });
});

describe("exit code 2", () => {
  usage("review", [
    ["$ambiguous --genesis-request $request", "several ways: as"],
    ["$cut --genesis-request $request", /as request: .*as commitment: .*as threshold: /],
    ["$manifest --genesis-request $request", "this is a manifest"],
    ["$good --policy $manifest", /output of a genesis ceremony: .*--genesis-request/],
    ["--genesis-request $request", "GENESIS_OUTPUT is required"],
    ["$good --genesis-request $request --policy $manifest", "--genesis-request cannot be used with --policy"],
    ["$good --genesis-request $request --base-url https://x", "--base-url requires --deployment-id"],
    ["$good --genesis-request $good", "this is the output of a genesis ceremony"],
    ["$good --genesis-request $keyless", /drKey: .*null if none was requested/],
    ["$good --genesis-request $nobody", /set\.members: .*at least one/],
    ["$good --genesis-request $emptyKey", "a key is empty"],
    ["$good --genesis-request $word", "drKey: not hex"],
    ["$good --genesis-request $more", "extra: unknown member"],
    ["$good --genesis-request $open", "not strict JSON"],
  ]);

  it.each([
    [{ threshold: 0, members: [alice, bob] }, "threshold"],
    [{ threshold: 1, members: [alice, alice] }, "alice"],
  ])("a set that no verifier takes is a fault of the request, whatever the output says", async (set, says) => {
    const names = { it: outputFile(output("request", { set })), own: requestFile(set) };
    await having(names)("review $it --genesis-request $own", 1, says);
  });

  it("inspect shows nothing of an output that two forms read, says so, and recognises a request", async () => {
    const faults = [expect.stringContaining("several ways") as string];
    const two = JSON.parse((await run("inspect $ambiguous --format json", 0)).stdout) as object;
    expect(two).toMatchObject({ kind: "genesis output", says: null, faults });
    const request = JSON.parse((await run("inspect $request --format json", 0)).stdout) as object;
    expect(request).toMatchObject({ kind: "genesis request", faults: [], says: { drKey: null } });
  });
});
