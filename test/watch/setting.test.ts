/** Another setting while a watch runs: what is the same, what is refused, and that all of it is applied or nothing. */
import { describe, expect, it } from "vitest";
import { parsePolicy } from "../../src/appraise/policy.js";
import { toHex, toUtf8 } from "../../src/bytes.js";
import type { JsonValue } from "../../src/decode/json.js";
import { NamedEvidence } from "../../src/inputs.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { LabSigstore, labProvenancePin } from "../../src/lab/sigstore.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";
import { sha256 } from "../../src/verify/digest.js";
import type { LogEntry } from "../../src/watch/entry.js";
import type { WatchMessage } from "../../src/watch/outages.js";
import type { SettingRefusal, WatchSetting } from "../../src/watch/setting.js";
import { memoryStore } from "../../src/watch/store.js";
import { type WatchOptions, type WatchPoll, type WatchStatus, watch } from "../../src/watch/watch.js";
import { START, SimulatedClock, isSign } from "./support.js";

const MINUTE = 60_000;
const lab = new Forge();
const evidence = forgeEvidence({ lab, at: START });
const bootProof = evidence.bootProof as unknown as JsonValue;
const [one, two, three] = [new LabSigstore(), new LabSigstore(), new LabSigstore()];
const [rootOne, rootTwo, rootThree] = [one, two, three].map(({ trustedRoot }) => JSON.stringify(trustedRoot));
const bundle = one.attest({ at: START, digest: lab.pivotHash });
const stranger = new Forge();

/** Two deployments, each with the roots of its own file; the evidence is of the first. */
const deployments = [
  { ...labDeployment(lab), provenance: [labProvenancePin({ file: "r1.jsonl" })] },
  { ...labDeployment(stranger), name: "other", provenance: [labProvenancePin({ file: "r2.jsonl" })] },
];
const POLICY = JSON.stringify({
  ...labPolicy(evidence.anchorPem, deployments),
  trustAnchors: [{ file: "anchor.pem" }],
});

type Files = Readonly<Record<string, string>>;
const FILES: Files = {
  policy: POLICY,
  "anchor.pem": evidence.anchorPem,
  "r1.jsonl": `${rootTwo}\n${rootOne}`,
  "r2.jsonl": rootThree!,
  bundle,
};
const verifier = await sigstoreVerifier();

function settingOf(files: Files): WatchSetting {
  const readFile = (name: string): string => {
    if (files[name] === undefined) throw new Error("no such file");
    return files[name];
  };
  const policy = parsePolicy(files["policy"]!, { readFile });
  return { policy, provenance: [files["bundle"]], provenanceVerifier: verifier };
}

interface Outcome {
  readonly entries: LogEntry[];
  readonly messages: WatchMessage[];
  readonly polls: (WatchPoll & Pick<WatchStatus, "settingRefusedSince">)[];
  readonly reads: number;
}

type Read = () => WatchSetting | SettingRefusal;

/** At its second poll it is asked for a reload, and before each further poll it has the next of these. */
async function reloading(reads: readonly Read[], more: Partial<WatchOptions> = {}, most = 6): Promise<Outcome> {
  const clock = new SimulatedClock();
  const [entries, messages, polls]: [LogEntry[], WatchMessage[], Outcome["polls"]] = [[], [], []];
  let status: WatchStatus | null = null;
  const stop = new AbortController();
  let ask = (): void => {};
  let count = 0;
  const options: Parameters<SimulatedClock["watching"]>[0] = {
    ...settingOf(FILES),
    apps: ["signer"],
    newest: async () => {
      if (polls.length === 1) ask();
      return bootProof;
    },
    reload: {
      read: async () => reads[Math.min(count++, reads.length - 1)]!(),
      when: (given) => {
        ask = given;
        return () => {};
      },
    },
    onEntry: ({ entry }) => entries.push(entry as LogEntry),
    onMessage: (message) => messages.push(message),
    onStatus: (next) => (status = next),
    onPoll: (poll) => {
      polls.push({ ...poll, settingRefusedSince: status!.settingRefusedSince });
      if (polls.length === most) stop.abort();
    },
    signal: stop.signal,
    ...more,
  };
  const watching = watch(clock.watching(options));
  let ended = false;
  watching.finally(() => (ended = true)).catch(() => {});
  await clock.runUntil(() => ended);
  await watching;
  return { entries, messages, polls, reads: count };
}

const changing = (...each: readonly Partial<Files>[]): Read[] =>
  each.map((changes) => () => settingOf({ ...FILES, ...changes } as Files));
const wordsOf = (entries: readonly LogEntry[]): string[] =>
  entries.map((entry) => ("event" in entry ? entry.event : entry.verdict));
const sha = async (text: string): Promise<string> => toHex(await sha256(toUtf8(text)));

describe("another setting", () => {
  it.each<[string, Partial<Files>, string[]]>([
    ["a root that was removed from a file's end", { "r1.jsonl": rootTwo! }, ["trustedRoots"]],
    [
      "a root that was moved to the file of another pin",
      { "r1.jsonl": rootTwo!, "r2.jsonl": `${rootOne}\n${rootThree}` },
      ["trustedRoots"],
    ],
    ["the files of two pins exchanged", { "r1.jsonl": rootThree!, "r2.jsonl": FILES["r1.jsonl"]! }, ["trustedRoots"]],
    ["a file with other content under its path", { "r1.jsonl": rootTwo!.replace("{", "{ ") }, ["trustedRoots"]],
    ["another anchor", { "anchor.pem": forgeEvidence({ lab: stranger, at: START }).anchorPem }, ["trustAnchors"]],
    ["another bundle", { bundle: one.attest({ at: START, digest: new Uint8Array(32) }) }, ["provenance"]],
    [
      "several of them, together",
      { policy: POLICY.replace('"deployments"', '"comment":"x","deployments"'), "r1.jsonl": rootTwo!, bundle: "{}" },
      ["policy", "trustedRoots", "provenance"],
    ],
  ])("is %s: it is recorded, and its verdict at once", async (_, changes, changed) => {
    const { entries, messages, polls } = await reloading(changing(changes));
    expect(wordsOf(entries)).toEqual(["verified", "setting-changed", "rejected"]);
    const [first, event, last] = entries as { settingDigest: string }[];
    const own = changed.includes("policy") ? (changes["policy"] ?? POLICY) : POLICY;
    expect(event).toMatchObject({ changed, policy: "lab", policyDigest: await sha(own), before: first!.settingDigest });
    expect(event!.settingDigest).not.toBe(first!.settingDigest);
    expect(last!.settingDigest).toBe(event!.settingDigest);
    expect(messages).toMatchObject([{ event: "setting-read", changed }]);
    expect(polls.every(({ settingRefusedSince }) => settingRefusedSince === null)).toBe(true);
    // No interval between the poll in which it was asked for and the next one.
    expect(entries[2]!.at).toBe(new Date(START.getTime() + MINUTE).toISOString());
  });

  it("with the same verdict has an entry of its own, too", async () => {
    const { entries } = await reloading(changing({ "r2.jsonl": `${rootThree}\n${rootTwo}` }));
    expect(wordsOf(entries)).toEqual(["verified", "setting-changed", "verified"]);
  });

  it.each<[string, Partial<Files>]>([
    ["unchanged files", {}],
    [
      "the same content under other paths",
      {
        policy: POLICY.replace("r1.jsonl", "new/one.jsonl").replace("anchor.pem", "new.pem"),
        "new/one.jsonl": FILES["r1.jsonl"]!,
        "new.pem": FILES["anchor.pem"]!,
      },
    ],
    ["other text around the certificate", { "anchor.pem": `# root\n${FILES["anchor.pem"]!}` }],
  ])("is none with %s", async (_, changes) => {
    const { entries, messages, reads } = await reloading(changing(changes));
    expect([wordsOf(entries), reads]).toEqual([["verified"], 1]);
    expect(messages).toMatchObject([{ event: "setting-read", changed: [] }]);
  });

  it("is applied after a half-written file, once the file is whole, without another signal", async () => {
    const half = POLICY.slice(0, 100);
    const removed = { "r1.jsonl": rootTwo! };
    const reads = changing({ policy: half }, { policy: half }, removed);
    const { entries, messages, polls, reads: count } = await reloading(reads);
    expect(wordsOf(entries)).toEqual(["verified", "setting-refused", "setting-changed", "rejected"]);
    const since = new Date(START.getTime() + MINUTE);
    const reason = expect.stringMatching(/^malformed json: /) as string;
    expect(entries[1]).toMatchObject({ since: since.toISOString(), faults: [{ file: null, reason }] });
    expect(entries[2]).toMatchObject({ changed: ["trustedRoots"] });
    expect(messages).toMatchObject([
      { event: "setting-refused", since, again: false, faults: [{ reason }] },
      { event: "setting-read", changed: ["trustedRoots"] },
    ]);
    const refused = polls.map(({ settingRefusedSince }) => settingRefusedSince);
    expect([refused, count]).toEqual([[null, null, since, since, null, null], 3]);
  });

  it.each<[string, Partial<Files>]>([
    ["the policy", { policy: "{}" }],
    ["an anchor that cannot be read", { "anchor.pem": undefined }],
    ["an anchor that is none", { "anchor.pem": "no certificate" }],
    ["a trusted root", { "r2.jsonl": `${rootThree}\n{` }],
    ["a trusted root that is empty", { "r2.jsonl": "" }],
  ])("is refused whole where one file is bad: %s", async (_, bad) => {
    // The other files would reject the evidence.
    const other = { bundle: one.attest({ at: START, digest: new Uint8Array(32) }), "r1.jsonl": rootTwo! };
    const { entries, polls, reads } = await reloading(changing({ ...other, ...bad }));
    expect(wordsOf(entries)).toEqual(["verified", "setting-refused"]);
    expect([polls.at(-1)!.settingRefusedSince, reads]).toEqual([new Date(START.getTime() + MINUTE), 4]);
    expect(polls.at(-1)).toMatchObject({ isRefused: false, failure: null });
  });

  it("is refused for what it lacks, and for whatever its reader rejects with", async () => {
    const { policy } = settingOf(FILES);
    const refusedFor = async (...reads: Read[]): Promise<unknown> => {
      const { entries } = await reloading(reads, {}, 4);
      return entries.flatMap((entry) => ("faults" in entry ? [entry.faults] : []));
    };
    const throwing = (error: unknown) => (): never => {
      throw error as Error;
    };
    expect(await refusedFor(() => ({ policy, provenanceVerifier: verifier }))).toMatchObject([
      [{ file: null, reason: expect.stringMatching(/^options\.provenance: required, since the deployment/) as string }],
    ]);
    expect(await refusedFor(throwing("disk"))).toEqual([[{ file: null, reason: "disk" }]]);
    expect(await refusedFor(throwing(new Error("disk")))).toEqual([[{ file: null, reason: "disk" }]]);
    expect(await refusedFor(() => ({ refused: [] }))).toEqual([
      [{ file: null, reason: "the reload was refused, and no reason was given" }],
    ]);
    const many = Array.from({ length: 40 }, (_, n) => ({ file: "f".repeat(5000), reason: `${n}`.repeat(5000) }));
    const [bounded] = (await refusedFor(() => ({ refused: many }))) as { file: string; reason: string }[][];
    expect(bounded).toHaveLength(16);
    expect(bounded!.every(({ file, reason }) => file.length < 1100 && reason.length < 1100)).toBe(true);
  });

  it("that is refused is recorded once for each fault, and reported again after an hour", async () => {
    const refused = (reason: string) => (): SettingRefusal => ({ refused: [{ file: "policy.json", reason }] });
    const reads = [refused("one"), refused("one"), refused("two"), ...Array<Read>(200).fill(refused("two"))];
    const { entries, messages } = await reloading(reads, { intervalMs: 10 * MINUTE }, 17);
    expect(wordsOf(entries)).toEqual(["verified", "setting-refused", "setting-refused"]);
    expect(entries.slice(1)).toMatchObject([{ faults: [{ reason: "one" }] }, { faults: [{ reason: "two" }] }]);
    const at = (minutes: number): Date => new Date(START.getTime() + minutes * MINUTE);
    expect(messages).toMatchObject([
      { at: at(10), since: at(10), again: false, faults: [{ file: "policy.json", reason: "one" }] },
      { at: at(30), since: at(10), again: true, faults: [{ reason: "two" }] },
      { at: at(90), since: at(10), again: true },
      { at: at(150), since: at(10), again: true },
    ]);
  });

  it("that was refused and put back ends the refusal with an entry", async () => {
    const { entries, polls } = await reloading(changing({ policy: "{" }, {}));
    expect(wordsOf(entries)).toEqual(["verified", "setting-refused", "setting-changed"]);
    const [first, , last] = entries as { settingDigest: string }[];
    expect(last).toMatchObject({ changed: [], before: first!.settingDigest, settingDigest: first!.settingDigest });
    expect(polls.at(-1)!.settingRefusedSince).toBeNull();
  });

  it("is read once more where it was asked for while it was read", async () => {
    let ask = (): void => {};
    const reads = [(): WatchSetting => (ask(), settingOf(FILES)), ...changing({ "r1.jsonl": rootTwo! })];
    let count = 0;
    const { entries } = await reloading(
      [],
      {
        reload: {
          read: async () => reads[Math.min(count++, 1)]!(),
          when: (given) => {
            ask = given;
            ask();
            return () => {};
          },
        },
      },
      3,
    );
    expect([count, wordsOf(entries)]).toEqual([2, ["verified", "setting-changed", "rejected"]]);
  });

  it("is not waited for when the watch ends, and not read any more", async () => {
    const stop = new AbortController();
    const [ends, reads]: [string[], number[]] = [[], []];
    let asked = 0;
    const { polls, entries, messages } = await reloading([], {
      signal: stop.signal,
      newest: async () => {
        if (++asked === 3) stop.abort();
        return bootProof;
      },
      reload: {
        read: () => new Promise<never>(() => reads.push(1)),
        when: (ask) => (ask(), () => ends.push("ended")),
      },
    });
    expect([wordsOf(entries), messages, ends, reads]).toEqual([["verified"], [], ["ended"], [1]]);
    // A file that cannot be read does not hold up the polls.
    expect(polls.length).toBeGreaterThan(1);
  });

  it("between two starts makes the newest finding news", async () => {
    const log = memoryStore();
    const once = async (changes: Partial<Files>, more: Partial<WatchOptions> = {}): Promise<string[]> => {
      const entries: LogEntry[] = [];
      const clock = new SimulatedClock();
      await watch({
        ...settingOf({ ...FILES, ...changes } as Files),
        ...{ apps: ["signer"], newest: async () => bootProof, log, once: true },
        onEntry: ({ entry }) => isSign(entry) || entries.push(entry as LogEntry),
        ...clock,
        ...more,
      });
      return wordsOf(entries);
    };
    const other = { "r2.jsonl": `${rootThree}\n${rootTwo}` };
    expect([await once({}), await once({}), await once(other), await once(other)]).toEqual([
      ["verified"],
      [],
      ["verified"],
      [],
    ]);
    expect(await once(other, { allowDebug: true })).toEqual(["verified"]);
    // The same bundle, in another form.
    const named = new NamedEvidence("build", bundle);
    expect(await once(other, { allowDebug: true, provenance: [named] })).toEqual([]);
    expect(await once(other, { allowDebug: true, provenance: [toUtf8(bundle)] })).toEqual([]);
  });

  it("of a policy that was read from a value has digests, too", async () => {
    const value = parsePolicy(labPolicy(evidence.anchorPem, [labDeployment(lab)]));
    const again = parsePolicy(labPolicy(evidence.anchorPem, [labDeployment(lab)]));
    const renamed = parsePolicy({ ...labPolicy(evidence.anchorPem, [labDeployment(lab)]), name: "other" });
    const { entries } = await reloading([() => ({ policy: again })], { policy: value });
    expect(wordsOf(entries)).toEqual(["verified"]);
    const other = await reloading([() => ({ policy: renamed })], { policy: value });
    expect(other.entries).toMatchObject([{}, { changed: ["policy"], policy: "other", policyDigest: null }, {}]);
  });
});
