/** `bootproof review GENESIS_OUTPUT --genesis-request FILE`, and what inspect shows of both files. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { toBase64, toHex } from "../../src/bytes.js";
import { DR, FORMS, SET, alice, bob, mallory, output, quorum } from "../support/genesis.js";
import { made, bytesOf } from "../review/support.js";
import { bootproof, fileOf, refused } from "./support.js";

const setJson = ({ threshold, members }: typeof SET): object => ({
  threshold,
  members: members.map(({ alias, pubKey }) => ({ alias, pubKey: toHex(pubKey) })),
});
const requestFile = (set = SET, drKey: Uint8Array | null = null): string =>
  fileOf({ set: setJson(set), drKey: drKey && toHex(drKey) }, "request.json");
const outputFile = (bytes: Uint8Array): string => fileOf(bytes, "genesis_output");
const review = (...args: string[]) => bootproof(["review", ...args]);
const REQUEST = requestFile();

describe.each(FORMS)("an output in the form %s", (form) => {
  it("is recognised and shown by inspect, with its hash", async () => {
    const bytes = output(form, { drKey: DR });
    const { code, stdout } = await bootproof(["inspect", outputFile(bytes), "--format", "json"]);
    expect(code).toBe(0);
    const { kind, encoding, faults, says } = JSON.parse(stdout) as Record<string, unknown>;
    expect({ kind, encoding, faults }).toEqual({ kind: "genesis output", encoding: "borsh", faults: [] });
    expect(says).toMatchObject({
      form,
      quorumKey: toHex(quorum.publicKey),
      memberOutputs: [{ member: { alias: "alice", pubKey: toHex(alice.pubKey) } }, { member: { alias: "bob" } }],
      hash: createHash("sha256").update(bytes).digest("hex"),
    });
  });

  it("that answers the request is exit code 0, also in base64, with the key and the user data in full", async () => {
    const bytes = output(form);
    for (const file of [outputFile(bytes), fileOf(toBase64(bytes))]) {
      const { code, stdout, stderr } = await review(file, "--genesis-request", REQUEST);
      expect([code, stderr]).toEqual([0, ""]);
      for (const text of ["IT ANSWERS THE REQUEST", form, "2 of 2 shares", toHex(quorum.publicKey), "alice", "bob"])
        expect(stdout).toContain(text);
      expect(stdout).toContain(createHash("sha256").update(bytes).digest("hex"));
      expect(stdout.replaceAll(/\s+/g, " ")).toContain("verify the attestation document of the ceremony");
    }
    const dr = await review(outputFile(output(form, { drKey: DR })), "--genesis-request", requestFile(SET, DR));
    expect([dr.code, dr.stderr]).toEqual([0, ""]);
  });

  it.each<[string, Uint8Array, string]>([
    ["a share for somebody else", output(form, { sharers: [alice, mallory] }), "members"],
    ["a lower threshold", output(form, { threshold: 1 }), "set"],
    ["a copy of the key that nobody requested", output(form, { wrapped: new Uint8Array(60) }), "dr-key"],
  ])("with %s is exit code 1", async (_, bytes, fault) => {
    const { code, stdout, stderr } = await review(outputFile(bytes), "--genesis-request", REQUEST);
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toMatch(/^KEEP NO SHARE OF IT: [12] faults?\./);
    expect(stdout).toContain(`(${fault})`);
    const json = await review(outputFile(bytes), "--genesis-request", REQUEST, "--format", "json");
    expect(JSON.parse(json.stdout)).toMatchObject({ format: "bootproof-genesis-review/1", holds: false });
  });
});

describe("exit code 2", () => {
  const ambiguous = new Uint8Array(98);
  ambiguous[81] = 5;
  const GOOD = outputFile(output("request"));
  const manifest = fileOf(bytesOf(made("v1")), "manifest.json");
  const broken = (value: object): string[] => [GOOD, "--genesis-request", fileOf(value)];

  it.each<[string, string[], RegExp]>([
    ["an output that two forms read", [outputFile(ambiguous), "--genesis-request", REQUEST], /several ways: as/],
    [
      "an output that is cut",
      [outputFile(output("request").subarray(0, -1)), "--genesis-request", REQUEST],
      /as request: [^]*as commitment: [^]*as threshold: /,
    ],
    ["a manifest", [manifest, "--genesis-request", REQUEST], /this is a manifest/],
    ["an output as a manifest", [GOOD, "--policy", manifest], /output of a genesis ceremony: .*--genesis-request/],
    ["no output", ["--genesis-request", REQUEST], /GENESIS_OUTPUT is required/],
    ["a policy beside it", [GOOD, "--genesis-request", REQUEST, "--policy", manifest], /--policy: not used/],
    ["a connection beside it", [GOOD, "--genesis-request", REQUEST, "--base-url", "https://x"], /fetches nothing/],
    ["an output as the request", [GOOD, "--genesis-request", GOOD], /this is the output of a genesis ceremony/],
    ["no key for disaster recovery", broken({ set: setJson(SET) }), /drKey: .*null if none was requested/],
    ["a set of nobody", broken({ set: { threshold: 1, members: [] }, drKey: null }), /set\.members: .*at least one/],
    ["an empty key", broken({ set: setJson(SET), drKey: "" }), /a key is empty/],
    ["a key in words", broken({ set: setJson(SET), drKey: "key" }), /drKey: not hex/],
    ["another member", broken({ set: setJson(SET), drKey: null, extra: 1 }), /extra: unknown member/],
    ["no JSON", [GOOD, "--genesis-request", fileOf("{")], /not strict JSON/],
  ])("%s", async (_, args, message) => {
    await refused(2, review(...args), message);
  });

  it("a set that no verifier takes is a fault of the request, whatever the output says", async () => {
    for (const [set, text] of [
      [{ threshold: 0, members: [alice, bob] }, "threshold"],
      [{ threshold: 1, members: [alice, alice] }, "alice"],
    ] as const) {
      const bytes = output("request", { set: { ...set, members: [...set.members] } });
      const request = requestFile({ ...set, members: [...set.members] });
      const { code, stdout } = await review(outputFile(bytes), "--genesis-request", request);
      expect(code).toBe(1);
      expect(stdout).toContain(text);
    }
  });

  it("inspect shows nothing of an output that two forms read, and says so", async () => {
    const { code, stdout } = await bootproof(["inspect", outputFile(ambiguous), "--format", "json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: "genesis output",
      says: null,
      faults: [expect.stringContaining("several ways")],
    });
  });

  it("inspect recognises a request", async () => {
    const { stdout } = await bootproof(["inspect", REQUEST, "--format", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "genesis request", faults: [], says: { drKey: null } });
  });
});
