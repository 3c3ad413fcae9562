/** Evidence beside evidence, wherever content decides what a value is: none of it is dropped silently. */
import { describe, expect, it } from "vitest";
import { packBundle } from "../../src/bundle/index.js";
import { verifyEvidence } from "../../src/index.js";
import { toUtf8 } from "../../src/bytes.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { type FormValues, listedFile, requested } from "../../src/page/verifier.js";
import { auditorOf, judged } from "../run/support.js";
import { bootproof, fileOf } from "../cli/support.js";
import { detailsOf } from "../support/provisioning.js";
import { NOW, appProof, forge, judge, lab, optionsOf } from "./support.js";

const whole = forge();
const { bootProof, activity, anchorPem } = whole;
const { appProofs } = forge(appProof({ signature: (signature) => new Uint8Array(signature.length) }));
const { intent, result, appProofs: activityProofs } = activity as Record<string, unknown>;
const POLICY = labPolicy(anchorPem, [labDeployment(lab)]);
const bundle = { bundle: "bootproof-bundle/1", bootProofs: [bootProof], appProofs };

const DETAILS = detailsOf(bootProof, "browser");

type Option = "--boot-proof" | "--app-proof" | "--activity";
/** By the kind that an option reads: evidence that would be dropped beside it. */
const DROPPED: readonly (readonly [name: string, option: Option, value: unknown])[] = [
  ["app proofs beside a boot proof", "--boot-proof", { bootProof, appProofs }],
  ["no app proofs beside a boot proof", "--boot-proof", { bootProof, appProofs: [] }],
  ["app proofs that are null beside a boot proof", "--boot-proof", { bootProof, appProofs: null }],
  ["an app proof beside a boot proof", "--boot-proof", { bootProof, appProof: appProofs[0] }],
  ["a bare app proof beside a boot proof", "--boot-proof", { bootProof, ...(appProofs[0] as object) }],
  ["an activity beside a boot proof", "--boot-proof", { bootProof, activity }],
  ["a bare activity beside a boot proof", "--boot-proof", { bootProof, intent, result }],
  ["app proofs in a boot proof", "--boot-proof", { ...(bootProof as object), appProofs }],
  ["app proofs in a boot proof in its wrapper", "--boot-proof", { bootProof: { ...(bootProof as object), appProofs } }],
  ["app proofs in a boot proof of a list", "--boot-proof", [bootProof, { ...(bootProof as object), appProofs }]],
  ["another boot proof beside a bare one", "--boot-proof", { ...(bootProof as object), bootProof }],
  ["a document beside a boot proof", "--boot-proof", { bootProof, attestation: "0oQ=" }],
  ["another form's document beside a boot proof", "--boot-proof", { ...bootProof, ...detailsOf(bootProof, "query") }],
  ["another form's envelope in a boot proof", "--boot-proof", { ...bootProof, manifest_envelope: {} }],
  ["a boot proof's manifest in details", "--boot-proof", { ...detailsOf(bootProof, "query"), bootProof }],
  ["app proofs in details", "--boot-proof", { ...detailsOf(bootProof, "file"), appProofs }],
  ["details of one form in those of another", "--boot-proof", { ...DETAILS, ...detailsOf(bootProof, "query") }],
  ["details beside an app proof", "--app-proof", { appProof: whole.appProofs[0], details: DETAILS }],
  ["app proofs under another name", "--boot-proof", { bootProof, proofs: appProofs }],
  ["app proofs in another spelling", "--boot-proof", { bootProof, app_proofs: appProofs }],
  ["a bundle's name beside a boot proof", "--boot-proof", { bootProof, bundle: "mine" }],
  ["a boot proof beside an app proof", "--app-proof", { appProof: whole.appProofs[0], bootProof }],
  ["a document beside app proofs", "--app-proof", { appProofs: whole.appProofs, attestation: "0oQ=" }],
  ["a boot proof in an activity", "--activity", { ...(activity as object), bootProof }],
  ["boot proofs in an activity", "--activity", { ...(activity as object), bootProofs: [{}] }],
  ["boot proofs in a wrapped activity", "--activity", { activity: { ...(activity as object), bootProofs: [{}] } }],
  ["a bare activity beside another", "--activity", { activity, intent, result, appProofs: activityProofs }],
];

/** Values that services and loggers write beside evidence, but that are no evidence. */
const KEPT: readonly (readonly [name: string, option: Option, value: unknown])[] = [
  ["a boot proof in its answer", "--boot-proof", { bootProof, requestId: "7", status: "OK", signature: "aa" }],
  ["a boot proof with members that are not known", "--boot-proof", { ...(bootProof as object), region: { id: 1 } }],
  ["an app proof with a number", "--app-proof", { ...(whole.appProofs[0] as object), n: 1 }],
  ["an activity in its answer", "--activity", { activity, requestId: "7", walletId: "w", addresses: ["0x1"] }],
  ["an activity with votes", "--activity", { ...(activity as object), votes: [{ publicKey: "a", signature: "b" }] }],
];

const BOOT = fileOf(bootProof);
const argvOf = (option: Option, file: string): string[] => [
  ...["verify", "--policy", fileOf(POLICY)],
  ...(option === "--boot-proof" ? [] : ["--boot-proof", BOOT]),
  ...[option, file],
];
const asked: FormValues = {
  ...{ policy: "none" as const, organization: "", addresses: "", now: "", nonce: "" },
  ...{ ephemeralKey: "", allowDebug: false, failOnWarning: false, payloads: "", challenges: "" },
};
const listed = (name: string, value: unknown): ReturnType<typeof listedFile> =>
  listedFile({ name, bytes: toUtf8(JSON.stringify(value)), sha256: "" });
const pageFaults = (option: Option, value: unknown): readonly string[] | null => {
  const boot = option === "--boot-proof" ? [] : [listed("boot.json", bootProof)];
  return requested([...boot, listed("evidence.json", value)], asked, NOW).faults;
};
const evidenceOf = (option: Option, value: unknown): Parameters<typeof verifyEvidence>[0] => {
  if (option === "--boot-proof") return { bootProofs: Array.isArray(value) ? value : [value] };
  return option === "--activity"
    ? { bootProofs: [bootProof], activity: value }
    : { bootProofs: [], appProofs: [value] };
};

describe.each(DROPPED)("%s", (_, option, value) => {
  it("fails its decode check", async () => {
    const { report } = await verifyEvidence(evidenceOf(option, value), optionsOf(whole));
    const failed = report.checks.filter(({ status }) => status === "fail").map(({ id }) => id);
    expect(report.verdict).toBe("rejected");
    expect(failed).toContain(
      `${{ "--boot-proof": "boot", "--app-proof": "app", "--activity": "activity" }[option]}.decode`,
    );
  });

  it("is not packed", async () => {
    const { bundle: packed } = await packBundle(evidenceOf(option, value), { policy: POLICY as never, now: NOW });
    expect(packed).toBeNull();
  });

  it("is refused as an entry of an audit", async () => {
    const result = await judged(await auditorOf({ bootProofs: [JSON.stringify(bootProof)] }), value);
    expect(result.verdict).toMatch(/^(?:malformed|rejected)$/);
    if (!Array.isArray(value) && !JSON.stringify(value).startsWith('{"activity":')) {
      expect(result.verdict).toBe("malformed");
      expect(result.reason).toMatch(/evidence beside|unknown member/);
    }
  });

  it("is a fault of the page's form", () => {
    expect(pageFaults(option, value)?.join()).toMatch(/^evidence\.json: .*evidence beside a/);
  });

  it("is exit 2 on the command line, with what to do", async () => {
    const { code, stdout, stderr } = await bootproof(argvOf(option, fileOf(value)), { now: NOW.toISOString() });
    expect([code, stdout]).toEqual([2, ""]);
    // Other options refuse what is a boot proof by its content.
    const isOther = option === "--activity" && Object.hasOwn(value as object, "bootProof");
    expect(stderr).toContain(isOther ? "this is a boot proof" : `would not be verified, since ${option} takes`);
    expect(stderr).toContain(isOther ? "--boot-proof takes it" : "a file of its own (bootproof verify --boot-proof");
  });
});

describe.each(KEPT)("%s", (_, option, value) => {
  it("changes no verdict", async () => {
    const { code, stderr } = await bootproof(argvOf(option, fileOf(value)), { now: NOW.toISOString() });
    expect([code, stderr]).toEqual([0, ""]);
    expect(pageFaults(option, value)).toBeNull();
  });
});

describe("a bundle with app proofs", () => {
  it.each(["--boot-proof", "--app-proof", "--activity"] as const)("is exit 2 as %s", async (option) => {
    const content = option === "--activity" ? { ...bundle, activity } : bundle;
    const { code, stderr } = await bootproof(argvOf(option, fileOf(content)), { now: NOW.toISOString() });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/bootproof verify \S+ --policy FILE/)]);
  });

  it("is refused by bundle and audit too; pin takes its boot proofs", async () => {
    const file = fileOf(bundle);
    const [entries, now] = [fileOf(bootProof, "entries.ndjson"), NOW.toISOString()];
    const packed = await bootproof(["bundle", "--boot-proof", file, "--no-policy"], { now });
    expect([packed.code, packed.stdout]).toEqual([2, ""]);
    const audited = await bootproof(["audit", entries, "--boot-proof", file, "--policy", fileOf(POLICY)], { now });
    expect([audited.code, audited.stdout]).toEqual([2, ""]);
    const pinned = await bootproof(["pin", "--boot-proof", file, "--trust-anchor", fileOf(anchorPem)], { now });
    expect(pinned.code).toBe(0);
  });

  it("is a bundle of boot proofs where its list is empty", async () => {
    const file = fileOf({ ...bundle, appProofs: [] });
    expect((await bootproof(argvOf("--boot-proof", file), { now: NOW.toISOString() })).code).toBe(0);
  });
});

describe("the error of a service in place of evidence", () => {
  const ERRORS: readonly unknown[] = [
    { error: "not found" },
    { error: { code: 5, message: "not found" } },
    { code: 5, message: "not found", details: [] },
    { code: 5, message: "not found", bootProof: null },
  ];

  it.each(["--boot-proof", "--app-proof", "--activity", "--attestation"] as const)("is exit 2: %s", async (option) => {
    for (const error of [...ERRORS, ...(option === "--boot-proof" ? [{ bootProof: ERRORS[2] }] : [])]) {
      const file = fileOf(error);
      const argv =
        option === "--attestation" ? ["verify", "--no-policy", option, file] : argvOf(option as Option, file);
      const { code, stdout, stderr } = await bootproof(argv, { now: NOW.toISOString() });
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(`${file}: this is an error from a service`);
    }
  });

  it("is a malformed entry, and is ignored on the page", async () => {
    const result = await judged(await auditorOf(), ERRORS[2]);
    expect(result).toMatchObject({ verdict: "malformed", reason: expect.stringContaining("from a service") });
    expect(listed("error.json", ERRORS[0])).toMatchObject({ role: null, is: expect.stringContaining("a service") });
  });

  it("is rejected where the library reads it as evidence", async () => {
    expect((await judge(whole, { given: () => ({ bootProofs: [ERRORS[0]] }) })).verdict).toBe("rejected");
  });
});
