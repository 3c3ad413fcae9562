/** What is read of a release and wrong with it, to the letter: codes, files, sentences and bounds. */
import { describe, expect, it } from "vitest";
import { parsePolicy } from "../../src/appraise/policy.js";
import { PUBLIC_KEYS } from "../support/public-keys.js";
import { MalformedError } from "../../src/errors.js";
import { checkReleases } from "../../src/release/check.js";
import { readSet } from "../../src/release/demand.js";
import { type ReadReleaseOptions, type Release, readRelease } from "../../src/release/release.js";
import { releaseOf } from "../support/releases.js";
import { type Files, type LabRelease, changeJson, genuine, labFiles, labRelease, operators, setOf } from "./support.js";

const NONE = { noManifestSet: true } as const;
const bytes = (text = ""): Uint8Array => new TextEncoder().encode(text);

describe("the files of a release", () => {
  it("are approvals in the order of their names, whatever order they are given in", async () => {
    const files = [...labFiles({ approvers: "cab" })];
    for (const given of [files, files.toReversed()]) {
      const { approvals } = await readRelease(given);
      expect(approvals.map(({ file }) => file.slice(0, 1))).toEqual(["a", "b", "c"]);
    }
  });

  it("are at most 1,000 approvals, and 1,000 notes on others", async () => {
    const many = (count: number, ending: string): [string, Uint8Array][] =>
      [...Array(count).keys()].map((index) => [`${String(index).padStart(4, "0")}${ending}`, bytes()]);
    const faultsOf = async (count: number) => (await readRelease(many(count, ".approval"))).faults;
    expect((await faultsOf(1000)).map(({ code }) => code).sort()).toEqual([
      ...Array<string>(1000).fill("approval"),
      "manifest-missing",
    ]);
    const faults = await faultsOf(1001);
    expect(faults).toHaveLength(1002);
    expect(faults).toContainEqual({
      code: "too-many-files",
      file: "*.approval",
      message: "1001 approvals, of which 1000 are read",
    });
    expect((await readRelease(many(1001, ".approval.bak"))).notes).toHaveLength(1000);
  });

  it("have names of their own, which say what each is", async () => {
    const { notes, faults, approvals } = await readRelease([
      ["manifest.json.bak", bytes()],
      ["x.approval.bak", bytes()],
      ["x.approval", bytes()],
    ]);
    expect(notes).toEqual([
      { code: "unknown-file", file: "manifest.json.bak", message: "not a file of a release, so it was not read" },
      { code: "unknown-file", file: "x.approval.bak", message: "not a file of a release, so it was not read" },
    ]);
    expect(faults.map(({ code, file }) => [code, file])).toEqual([
      ["manifest-missing", "manifest"],
      ["approval", "x.approval"],
    ]);
    expect(approvals).toEqual([]);
  });

  it("are pairs of a name and bytes, each once, in a place of texts", async () => {
    const wanted = "files: expected pairs of a name and a Uint8Array";
    for (const files of [[[5, bytes()]], [["manifest", "text"]]])
      await expect(readRelease(files as never)).rejects.toThrow(new TypeError(wanted));
    await expect(
      readRelease([
        ["x", bytes()],
        ["x", bytes()],
      ]),
    ).rejects.toThrow(new TypeError("files: x is given twice"));
    for (const version of [5, {}])
      await expect(readRelease([], { version } as never)).rejects.toThrow(
        /^options\.version: expected a string, got an? .*$/,
      );
    await expect(readRelease([], { version: "2026.1.0", folder: "x" } as never)).rejects.toThrow(/^options/);
    const { version, application, name } = await readRelease([], { version: null, application: null });
    expect([version, application, name]).toEqual([null, null, ""]);
  });
});

describe("manifest.json", () => {
  type Json = { patchSet?: unknown; namespace?: unknown; enclave: { qosCommit?: unknown } };
  const changed = (change: (json: Json) => unknown) =>
    genuine("2026.9.0", "signer", (files) => changeJson(files, "manifest.json", change as never));
  const without = (...names: ("patchSet" | "qosCommit")[]) =>
    changed((json) => {
      if (names.includes("patchSet")) delete json.patchSet;
      if (names.includes("qosCommit")) delete json.enclave.qosCommit;
    });

  it("has a note where it is as incomplete as those of 2025", async () => {
    const large = changed((json) => {
      delete json.patchSet;
      return Object.assign(json, { more: 12345 });
    });
    const literal = genuine("2026.9.0", "signer", (files: Files) => {
      changeJson(files, "manifest.json", (json: Json) => void delete json.patchSet as never);
      const text = Buffer.from(files.get("manifest.json")!).toString();
      files.set("manifest.json", bytes(text.replace("{", '{"more":12345678901234567890.5,')));
    });
    for (const made of [without("patchSet"), without("qosCommit"), without("patchSet", "qosCommit"), large, literal]) {
      const { faults, notes } = await made;
      expect([faults, notes]).toEqual([
        [],
        [
          {
            code: "manifest-json-incomplete",
            file: "2026.9.0/signer/manifest.json",
            message: "incomplete: without qosCommit or patchSet it is not what was approved",
          },
        ],
      ]);
    }
  });

  it("is a fault where it is not a manifest at all", async () => {
    const none: ((json: Json) => unknown)[] = [
      (json) => {
        delete json.patchSet;
        json.namespace = "prod/signer";
      },
      (json) => ({ ...json, patchSet: undefined, enclave: "x" }),
      (json) => ({ ...json, patchSet: undefined, enclave: undefined }),
      (json) => ({ ...json, version: 9 }),
      () => [],
      () => "text",
    ];
    for (const change of none) {
      const { faults, notes } = await changed(change);
      expect([faults.map(({ code }) => code), notes]).toEqual([["manifest-json"], []]);
    }
  });

  it("that differs is a fault only beside the manifest that it differs from", async () => {
    const other = releaseOf("2026.9.1").get("manifest.json")!;
    const beside = await genuine("2026.9.0", "signer", (files) => files.set("manifest.json", other));
    expect(beside.faults).toEqual([
      {
        code: "manifest-json-differs",
        file: "2026.9.0/signer/manifest.json",
        message: "differs from the file manifest, which was approved",
      },
    ]);
    const alone = await genuine("2026.9.0", "signer", (files) => files.delete("manifest"));
    expect(alone.faults.map(({ code }) => code)).toEqual(["manifest-missing"]);
  });
});

async function faultsOf(files: Files, place: ReadReleaseOptions) {
  const { releases } = await checkReleases([await readRelease(files, place)], NONE);
  return releases[0]!.faults.map(({ code, file, message }) => `${code} ${file}: ${message}`);
}

describe("the place of a release", () => {
  const withNonce = (nonce: number): Files =>
    labFiles({ alter: (one) => ({ ...one, namespace: { ...one.namespace, nonce } }) });

  it.each<[string, number]>([
    ["1000.0.0", 10_000_000],
    ["9999.99.99", 99_999_999],
    ["2026.1.0", 20_260_100],
    ["2026.01.00", 20_260_100],
  ])("%s has the nonce %d, and no other", async (version, nonce) => {
    const [name, place] = [`${version}/manifest`, { version }];
    expect(await faultsOf(withNonce(nonce), place)).toEqual([]);
    expect(await faultsOf(withNonce(nonce + 1), place)).toEqual([
      `nonce ${name}: has the nonce ${nonce + 1}, and "${version}" has ${nonce}`,
    ]);
  });

  it.each<[string, number]>([
    ["999.99.99", 9_999_999],
    ["10000.0.0", 100_000_000],
    ["2026.100.0", 20_270_000],
    ["2026.0.100", 20_260_100],
  ])("%s has no nonce", async (version, nonce) => {
    expect(await faultsOf(withNonce(nonce), { version })).toEqual([
      `nonce ${version}/manifest: no nonce follows from the version "${version}": expected YYYY.M.P`,
    ]);
  });

  it("without a version, or an application, is not compared", async () => {
    for (const version of ["2026.1", "x2026.9.0", "2026.9.0.1", "2026.9.0-rc", "latest"])
      expect(await faultsOf(labFiles(), { version, application: "signer" })).toEqual([]);
    expect(await faultsOf(labFiles({ application: "ump" }), { version: "2026.1.0" })).toEqual([]);
    expect(await faultsOf(labFiles({ application: "ump" }), { application: "signer" })).toEqual([
      'namespace signer/manifest: is a manifest of "lab/ump", not of "signer", which its folder names',
    ]);
  });
});

it("what is wrong with approvals and their set names the file", async () => {
  const faulty = async (parts: LabRelease) => faultsOf(labFiles(parts), {});
  expect(await faulty({ approvers: "a" })).toEqual(["threshold manifest: 1 valid approval, 2 required"]);
  expect(await faulty({ set: "abca" })).toEqual([
    "manifest-set manifest: two members have the alias a",
    "manifest-set manifest: two members share an encryption point",
    "manifest-set manifest: two members share a signing point",
  ]);
  expect(await faulty({ approvers: "abd" })).toEqual([
    'approval-stranger d-lab-signer-20260100.approval: its member "d" is not in the manifest set, by alias and key',
  ]);
  const changed = async (change: (files: Files) => unknown) => {
    const files = labFiles({ approvers: "abc" });
    change(files);
    return faultsOf(files, {});
  };
  const [a, c] = ["a-lab-signer-20260100.approval", "c-lab-signer-20260100.approval"];
  expect(await changed((files) => files.set("d.approval", files.get(c)!).delete(c))).toEqual([
    'approval-name d.approval: its member is "c", but the file\'s name begins differently',
  ]);
  expect(await changed((files) => files.set("a-again.approval", files.get(a)!))).toEqual([
    `approval-twice ${a}: a second approval of "a"`,
  ]);
  const unsigned = (files: Files) =>
    changeJson(files, c, ((json: { signature: string }) => ({ ...json, signature: "11".repeat(64) })) as never);
  expect(await changed(unsigned)).toEqual([
    `approval-signature ${c}: the signature is not one of "c" over this manifest`,
  ]);
  // One key approves once, whether its first approval is valid or not, as in envelopes.
  expect(await changed((files) => (files.set("c-valid.approval", files.get(c)!), unsigned(files)))).toEqual([
    `approval-signature ${c}: the signature is not one of "c" over this manifest`,
    'approval-twice c-valid.approval: a second approval of "c"',
  ]);
});

describe("a history", () => {
  it("says what is wrong, of which release", async () => {
    const releases = await Promise.all(
      [
        {},
        { version: "2026.2.0", set: "def", approvers: "de" },
        { application: "other", alter: (one: never) => one },
      ].map((parts) => labRelease(parts as LabRelease)),
    );
    const { histories } = await checkReleases(releases, { manifestSet: setOf("ade", 3) });
    expect(histories.map(({ faults }) => faults)).toEqual([
      [
        {
          code: "approvers",
          release: "2026.2.0/signer",
          index: 1,
          message: "its approvers in the manifest set of 2026.1.0/signer, the release before: 0, expected 2",
        },
        {
          code: "manifest-set-demanded",
          release: "2026.1.0/signer",
          index: 0,
          message: "its approvers in the set that is demanded (the manifest set): 1, expected 3",
        },
      ],
      [expect.objectContaining({ code: "manifest-set-demanded", release: "2026.1.0/other" })],
    ]);
  });

  it("says which nonce two have, and which namespaces", async () => {
    const place = { application: "signer" };
    const named = (name: string): LabRelease => ({
      alter: (one) => ({ ...one, namespace: { ...one.namespace, name } }),
    });
    const releases = await Promise.all([
      readRelease(labFiles(), place),
      readRelease(labFiles(named("evil/signer")), place),
    ]);
    const { histories } = await checkReleases(releases, NONE);
    expect(histories[0]!.faults.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      'other-namespace: is of the namespace "evil/signer", and signer of "lab/signer": name the accepted namespaces ' +
        "(--namespace, namespaces)",
      "nonce-twice: has the nonce 20260100 of signer, and another hash",
    ]);
  });

  it("is called by its namespace where no folder has a name", async () => {
    const [one, other] = await Promise.all([readRelease(labFiles()), labRelease()]);
    const { histories, releases } = await checkReleases([one, other], NONE);
    expect(histories.map(({ application, namespace }) => [application, namespace])).toEqual([
      ["lab/signer", "lab/signer"],
      ["signer", "lab/signer"],
    ]);
    expect(releases[1]!.notes).toEqual([
      { code: "same-manifest", file: "2026.1.0/signer", message: "the manifest of " },
    ]);
    await expect(checkReleases([one], { ...NONE, applications: ["signer"] })).rejects.toThrow(/no release of this/);
    expect((await checkReleases([one, other], { ...NONE, applications: ["signer"] })).releases).toHaveLength(1);
  });

  it("has the first release in its place decide whose sets judge it, never one in a wrong place", async () => {
    const evil = labRelease({
      version: "2026.0.1",
      alter: (one) => ({ ...one, namespace: { ...one.namespace, name: "lab/other" } }),
    });
    const deployment = { name: "d", namespace: "lab/signer", manifestSet: setOf("abc") };
    const policy = parsePolicy({ policy: "bootproof/1", deployments: [deployment] });
    const { releases } = await checkReleases([await evil, await labRelease()], { policy });
    expect(releases.map(({ status }) => status)).toEqual(["bad", "good"]);
    expect((await checkReleases([await evil], { policy })).counts).toMatchObject({ bad: 1 });
  });
});

it("the newest nonces are said, and none where there is none", async () => {
  const sentence = (newest: string) =>
    "A release that is missing here, such as one that removed a member of the set, cannot be noticed. " +
    `Newest nonce seen: ${newest}.`;
  const word = "No manifest set was demanded: only these files say that the first set is the right people.";
  const [signer, ump] = await Promise.all([labRelease(), labRelease({ application: "ump", version: "2026.2.0" })]);
  expect((await checkReleases([signer, ump], NONE)).unknowable).toEqual([
    sentence("signer 20260100, ump 20260200"),
    word,
  ]);
  const { unknowable } = await checkReleases([signer], { manifestSet: setOf("abc") });
  expect(unknowable).toEqual([sentence("signer 20260100")]);
  expect((await checkReleases([await readRelease([])], NONE)).unknowable[0]).toBe(sentence("none"));
});

describe("a demand", () => {
  it("is exactly one of three, and never undefined", async () => {
    const release = await labRelease();
    const wanted = "expected exactly one of manifestSet, policy, noManifestSet";
    for (const demand of [{}, { ...NONE, manifestSet: setOf("abc") }])
      await expect(checkReleases([release], demand as never)).rejects.toThrow(new TypeError(wanted));
    for (const [name, demand] of [
      ["manifestSet", { ...NONE, manifestSet: undefined }],
      ["policy", { manifestSet: setOf("abc"), policy: undefined }],
      ["applications", { ...NONE, applications: undefined }],
    ] as const)
      await expect(checkReleases([release], demand as never)).rejects.toThrow(
        new TypeError(`options.${name}: undefined: leave it out, or give a value`),
      );
    expect((await checkReleases([release], { ...NONE, skipUnapproved: undefined } as never)).good).toBe(true);
    await expect(checkReleases([release], { noManifestSet: false } as never)).rejects.toThrow(
      new TypeError("options.noManifestSet: expected true, got a boolean"),
    );
    await expect(checkReleases([release], { ...NONE, skipUnapproved: 1 } as never)).rejects.toThrow(
      new TypeError("options.skipUnapproved: expected true or false, got a number"),
    );
    await expect(checkReleases([release], { ...NONE, other: 1 } as never)).rejects.toThrow(/^options/);
  });

  it("of a policy is of one that pins a set for the namespace", async () => {
    const deployment = { name: "d", namespace: "lab/other", manifestSet: setOf("abc") };
    const policy = parsePolicy({ policy: "bootproof/1", deployments: [deployment] });
    const error: unknown = await checkReleases([await labRelease()], { policy }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: "policy",
      faults: [{ path: "deployments", message: 'no deployment pins a manifestSet for the namespace "lab/signer"' }],
    });
    const other = await labRelease({ application: "other" });
    expect((await checkReleases([other], { policy })).demand).toBe("policy");
    expect((await checkReleases([other], { manifestSet: setOf("abc") })).demand).toBe("manifest set");
    expect((await checkReleases([other], NONE)).demand).toBe("none");
  });

  it("is of releases that were read, in an array", async () => {
    const release = await labRelease();
    const wanted = "releases: expected an array of results of readRelease";
    const every = (): boolean => true;
    for (const releases of [release, new Set([release]), { length: 1, every }, [release, { ...release }], [{}]])
      await expect(checkReleases(releases as readonly Release[], NONE)).rejects.toThrow(new TypeError(wanted));
    const error: unknown = await checkReleases([], NONE).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(MalformedError);
    expect(error).toMatchObject({ code: "release", faults: [{ path: "", message: "no release to check" }] });
  });

  it("names what is wrong with a set by the member", () => {
    const faults = (json: unknown) => {
      try {
        return readSet(json as never);
      } catch (error) {
        expect(error).toMatchObject({ code: "policy" });
        return (error as MalformedError).faults.map(({ path }) => path);
      }
    };
    expect(faults({ threshold: 0, members: setOf("abc").members })).toEqual(["threshold"]);
    expect(faults({ threshold: 1, members: ["00"] })).toEqual(["members[0]"]);
    expect(faults({})).toEqual(["threshold", "members"]);
    expect(faults({ threshold: 1, members: [PUBLIC_KEYS[0]] })).toEqual(["", "", ""]);
    expect(faults([])).toEqual([""]);
    expect(faults({ ...setOf("abc"), "x.y": 1 })).toEqual(["x.y"]);
    const members = operators("ab").map(({ alias, key }) => ({
      alias,
      pubKey: Buffer.from(key.publicKey).toString("hex"),
    }));
    expect(faults({ threshold: 2, members })).toEqual({ ...setOf("ab"), members: expect.any(Array) });
  });
});
