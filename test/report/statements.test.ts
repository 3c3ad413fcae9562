import { describe, expect, it } from "vitest";
import type { ActivityClaims, AppProofClaims, Claims, ImageClaims, Report } from "../../src/report/report.js";
import { provenStatements, unprovenWords } from "../../src/report/statements.js";
import { caveats, unprovenStatements } from "../../src/report/unproven.js";
import {
  ACTIVITY,
  BOOT,
  CHALLENGE,
  IMAGE,
  PASSED,
  UNPINNED,
  UNTIMED,
  bootOf,
  report,
  reportOf,
  reportWith,
} from "./reports.js";

const proven = (...args: Parameters<typeof reportOf>): string => provenStatements(reportOf(...args)).join("\n");
const open = (...args: Parameters<typeof reportOf>): string => unprovenStatements(reportOf(...args)).join("\n");
const openWith = (...args: Parameters<typeof reportWith>): string => unprovenStatements(reportWith(...args)).join("\n");
const authentic: Partial<Report> = {
  verdict: "authentic",
  policy: null,
  policyDigest: null,
  checks: PASSED.slice(0, 1),
};

const NONCE_ASKED = [...PASSED, { ...PASSED[0]!, id: "bind.nonce" as const }];

const APP_PROOFS: Claims["appProofs"] = [
  {
    bootProof: 0,
    type: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
    time: "2026-03-04T05:07:07.000Z",
    expectation: null,
    answers: null,
    payload: {
      addressDerivationProof: { organizationId: "org", walletId: "wal", derivationPath: "m/0", address: "0xabc" },
    },
  },
  {
    bootProof: 0,
    type: "APP_PROOF_TYPE_POLICY_OUTCOME",
    time: "2026-03-04T05:07:08.000Z",
    expectation: null,
    answers: null,
    payload: {
      policyOutcomeProof: {
        organizationId: "org",
        outcome: "OUTCOME_ALLOW",
        decisionContextDigest: "d1",
        organizationDataDigest: "d2",
      },
    },
  },
  {
    bootProof: 0,
    type: "APP_PROOF_TYPE_OTHER",
    time: "2026-03-04T05:07:09.000Z",
    expectation: null,
    answers: null,
    payload: { type: "APP_PROOF_TYPE_OTHER", x: 1 },
  },
];

describe("proven", () => {
  it("says nothing of rejected evidence", () => {
    expect(provenStatements(report({ verdict: "rejected", claims: null }))).toEqual([]);
    expect(unprovenWords(report({ verdict: "rejected", claims: null }))).toEqual([]);
  });

  it("tells what a derivation and a policy outcome say", () => {
    const statements = provenStatements(
      report({ claims: { bootProofs: [BOOT], appProofs: APP_PROOFS, activity: null } }),
    ).slice(-3);
    expect(statements).toEqual([
      "app[0]: the application stated at 2026-03-04T05:07:07.000Z: the address 0xabc was derived for organization " +
        "org, wallet wal, path m/0.",
      "app[1]: the application stated at 2026-03-04T05:07:08.000Z: the policy decision is OUTCOME_ALLOW for " +
        "organization org, decision context d1, organization data d2.",
      'app[2]: the application stated at 2026-03-04T05:07:09.000Z: {"type":"APP_PROOF_TYPE_OTHER","x":1} (of a type ' +
        "that this tool does not know).",
    ]);
  });

  it("quotes what evidence chose", () => {
    const manifest = {
      ...IMAGE.manifest!,
      namespace: 'x" and \u001b[32mVERIFIED',
      pivotArgs: ["a\nb", "\u202e"],
      pivotEnv: { LEVEL: "in\tfo" },
      approvedBy: [{ alias: 'a", "b', pubKey: "04" }],
    };
    const text = proven({ image: { manifest }, hardware: { moduleId: "i\u0007" } });
    expect(text).toContain('namespace "x\\" and \\u{1b}[32mVERIFIED"');
    expect(text).toContain('"a\\u{a}b" "\\u{202e}", in the environment LEVEL="in\\u{9}fo".');
    expect(text).toContain('"a\\", \\"b" 04');
    expect(text).toContain("i\\u{7}");
  });

  it("names workloads in place of a binary", () => {
    const manifest = {
      ...IMAGE.manifest!,
      pivotHash: null,
      pivotArgs: null,
      pivotEnv: null,
      workloads: { app: `sha256:${"34".repeat(32)}`, proxy: `sha256:${"56".repeat(32)}` },
    };
    const text = proven({ image: { manifest } });
    expect(text).toContain(
      'That manifest runs the workloads "app" sha256:34343434…34343434, "proxy" sha256:56565656…56565656.',
    );
    expect(text).not.toContain("binary (pivot) with SHA-256");
  });

  const nonce = (value: string | null, checks = PASSED): string => proven({ hardware: { nonce: value } }, { checks });
  const PCR18 = "The enclave committed to this manifest in PCR18 too.";
  const NOTHING = "The document carries no public key and no user data.";
  // Whatever the anchor calls itself: the check is what knows.
  const OTHER_ANCHOR = PASSED.map((each) => (each.id === "chain.anchor" ? { ...each, status: "warn" as const } : each));

  it.each<[name: string, text: string, words: string, isIn: boolean]>([
    ["no image for debug mode", proven({ image: { debug: true } }), "The enclave booted the image", false],
    ["no AWS for other anchors", proven({}, { checks: OTHER_ANCHOR }), "genuine AWS", false],
    ["PCR18 where it is there", proven({ image: { manifestCommitted: true } }), PCR18, true],
    ["no PCR18 elsewhere", proven({}), "PCR18", false],
    ["a nonce that was asked for", nonce("0a0b", NONCE_ASKED), "The document carries your nonce 0a0b", true],
    ["no nonce that was not asked for", nonce("0a0b"), "your nonce", false],
    ["no nonce that is not there", nonce(null), "your nonce", false],
    ["no nonce that is null", nonce(null, NONCE_ASKED), "your nonce", false],
    ["no nonce of no bytes", nonce("", NONCE_ASKED), "your nonce", false],
    ["no field that is null", proven({ hardware: { publicKey: null, userData: null } }), NOTHING, true],
    ["no field of no bytes", proven({ hardware: { publicKey: "", userData: "" } }), NOTHING, true],
  ])("claims %s", (_, text, words, isIn) => expect(text.includes(words)).toBe(isIn));

  it("says what the answer was held against", () => {
    expect(provenStatements(reportWith({})).slice(-2)).toEqual([
      'Activity "a1" matches your request in organizationId, type, parameters, ' + "requestedAt.",
      'In activity "a1", the address 0x1 is backed by an app proof.',
    ]);
    expect(provenStatements(reportWith({ asked: [], coveredAddresses: [] }))).toEqual(provenStatements(report({})));
  });
});

describe("what an image says that nothing pins", () => {
  const claims: Claims = {
    bootProofs: [bootOf({ ...UNPINNED, image: { ...UNPINNED.image, manifestCommitted: true } })],
    appProofs: APP_PROOFS,
    activity: ACTIVITY,
  };
  const unpinned = report({ ...authentic, claims });
  const IMAGES_WORD = /manifest|namespace|approved|committed|ephemeral|stated|backed by/i;

  it("is not proven, none of it", () => {
    const text = provenStatements(unpinned).join("\n");
    expect(text).not.toMatch(IMAGES_WORD);
    expect(text).toContain("Nothing pins that image.");
    expect(text).toContain("A genuine AWS Nitro enclave");
    expect(text).toContain("the public key 04ababab…abababab and the user data cdcdcdcd…cdcdcdcd");
  });

  it("stands under a heading that says whose word it is", () => {
    const [word, ...others] = unprovenWords(unpinned);
    expect(others).toEqual([]);
    expect(word!.heading).toBe("its image, which nothing pins, says that");
    expect(word!.statements).toEqual([
      expect.stringMatching(/^it booted with the manifest cdcdcdcd…cdcdcdcd \(v2\) of namespace "prod\/signer"/),
      expect.stringMatching(/^that manifest runs the application binary/),
      expect.stringMatching(/^2 of the 3 members of its manifest set approved it/),
      expect.stringMatching(
        /^its ephemeral key is .*; the enclave committed to this key and manifest when it went live\.$/,
      ),
      "the enclave committed to this manifest in PCR18 too.",
      expect.stringMatching(/^app\[0\]: the application stated/),
      expect.stringMatching(/^app\[1\]: /),
      expect.stringMatching(/^app\[2\]: /),
      'in activity "a1", the address 0x1 is backed by an app proof.',
    ]);
  });

  it("is nothing of a bare document, and nothing where the policy pins", () => {
    expect(
      unprovenWords(
        reportOf({ ...UNPINNED, image: { ...UNPINNED.image, manifest: null, commitment: null } }, authentic),
      ),
    ).toEqual([]);
    expect(unprovenWords(report({}))).toEqual([]);
  });

  it("is told for each boot proof, its own app proofs with it", () => {
    const several: Claims = {
      bootProofs: [BOOT, bootOf(UNPINNED)],
      appProofs: APP_PROOFS.map((proof, index) => ({ ...proof, bootProof: index % 2 })),
      activity: null,
    };
    const [word] = unprovenWords(report({ claims: several }));
    expect(word!.heading).toBe("its image, which nothing pins, says that");
    expect(word!.statements.filter((text) => text.startsWith("app["))).toEqual([
      expect.stringMatching(/^app\[1\]: the application of boot\[1\]/),
    ]);
    expect(provenStatements(report({ claims: several })).filter((text) => text.startsWith("app["))).toHaveLength(2);
  });

  it("counts as little in debug mode, whatever is pinned", () => {
    const debug = report({ claims: { ...claims, bootProofs: [bootOf({ image: { debug: true } })] } });
    expect(provenStatements(debug).join("\n")).not.toMatch(IMAGES_WORD);
    expect(unprovenWords(debug)[0]!.heading).toBe("its image, whose code debug mode leaves open, says that");
  });
});

describe("not proven", () => {
  it("is what no report can prove, where everything passed", () => {
    expect(unprovenStatements(report({}))).toEqual([
      "Any result of the application: no app proof was given.",
      "The labels (enclaveApp, owner, deploymentLabel) and createdAt: the service's word, signed by no enclave.",
      "What source code the measured image and binary were built from, and whether that code is good: reproduce the " +
        "build, and review the code.",
      "That the enclave still runs: the document is of 2026-03-04T05:06:07.000Z, and it carries no nonce of yours.",
    ]);
  });

  it("is everything, of rejected evidence", () => {
    expect(unprovenStatements(report({ verdict: "rejected", claims: null }))).toEqual([
      expect.stringMatching(/^Anything: the evidence was rejected/),
    ]);
  });

  it("includes whose enclave it is, without a policy", () => {
    const text = open(UNPINNED, authentic);
    expect(text).toMatch(/^Whose enclave this is/);
    expect(text).toContain("the manifest itself names them");
    expect(text).toContain(
      "That the enclave still runs: the document is of 2026-03-04T05:06:07.000Z, no maximum age was set, and",
    );
  });

  const images: [string, Partial<ImageClaims>, RegExp][] = [
    ["legacy", { commitment: "legacy" }, /^Which application requested the document: it is legacy/m],
    ["setup", { commitment: "setup" }, /^That the enclave holds the quorum key/m],
    ["setup, of the key", { commitment: "setup" }, /it is a setup key/],
    ["a bare document", { manifest: null, commitment: null }, /a bare attestation document comes without a manifest/],
    [
      "PCR8 alone",
      { manifest: null, commitment: null, pinnedPcrs: [8] },
      /^Which release runs in the enclave: the policy pins PCR8 alone/m,
    ],
    ["debug mode", { debug: true }, /it is in debug mode/],
  ];
  it.each(images)("includes what is open with %s, and only there", (_, image, wanted) => {
    expect(open({ image })).toMatch(wanted);
    expect(open({})).not.toMatch(wanted);
  });

  it("names no release where PCR0, 1 and 2 are pinned, and none where nothing is", () => {
    const bare = { manifest: null, commitment: null };
    expect(open({ image: { ...bare, pinnedPcrs: [0, 1, 2, 8] } })).not.toContain("Which release");
    expect(open({ ...UNPINNED, image: { ...UNPINNED.image, ...bare } }, authentic)).not.toContain("Which release");
  });

  it("includes other anchors, and approvers that nobody pinned", () => {
    const checks = [{ ...PASSED[0]!, status: "warn" as const }];
    expect(open({ hardware: { trustAnchor: "lab.pem" } }, { checks })).toContain('its certificates lead to "lab.pem"');
    expect(open({}, { checks: PASSED.slice(0, 1) })).toContain("the policy does not pin a manifest set");
    const byHash = [
      ...PASSED.slice(0, 1),
      { ...PASSED[0]!, id: "policy.manifest-hash" as const, subject: "policy" as const },
    ];
    expect(open({}, { checks: byHash })).not.toContain("the right people");
  });

  it("includes what the policy leaves open", () => {
    expect(open({ open: ["application", "operator"] })).toMatch(
      /^Which application runs in the enclave: the policy leaves it open\.\nWhose deployment/,
    );
    expect(open({ open: ["else" as "operator"] })).toContain('What the policy leaves open: "else".');
  });

  it("includes that pinned labels are the service's word", () => {
    const checks = [...PASSED, { ...PASSED[0]!, id: "policy.labels" as const, subject: "policy" as const }];
    expect(open({}, { checks })).toContain("The policy pins labels, but that checks only the service's response.");
    expect(open({})).not.toContain("The policy pins labels");
  });

  it("does not doubt the life of an enclave that answered a nonce of the caller's", () => {
    expect(open({ hardware: { nonce: "0a" } }, { checks: NONCE_ASKED })).not.toContain("still runs");
    expect(open({ hardware: { nonce: "" } }, { checks: NONCE_ASKED })).toContain("That the enclave still runs");
    expect(open({ hardware: { nonce: "0a" } })).toContain("That the enclave still runs");
  });
});

describe("not proven of an activity", () => {
  const cases: [string, Partial<ActivityClaims>, string][] = [
    ["nobody asked", { asked: [] }, "Whose activity it should be: you named no organization"],
    [
      "no request was given",
      { asked: ["organizationId"], question: null },
      "The paths, and the rest of the request: you gave no request to compare with, so what was requested is only",
    ],
    [
      "only the id was compared",
      { asked: ["organizationId", "id"], question: "id" },
      "The paths, and the rest of the request: only the id of the activity was compared, so what was requested is only",
    ],
    [
      "only the fingerprint was compared",
      { asked: ["organizationId"], question: "fingerprint" },
      "the rest of the request: you voted on the activity, and only its fingerprint was compared, which no enclave",
    ],
    ["there is a decision", { decisions: 1 }, "That the decision was about this request, and that none was withheld: "],
    [
      "there is a sub-organization",
      { subOrganizationId: "sub" },
      'That the sub-organization is new, yours, with your users ("sub"): ',
    ],
    [
      "there is a wallet",
      { walletId: "w1" },
      'That the wallet was made by your request, and that no one else knows its seed ("w1"): ',
    ],
    [
      "result members have no proof",
      { resultWithoutProof: ["walletName", "tags[0]"] },
      "In the result, walletName, tags[0]: only the service's word, without an app proof.",
    ],
    [
      "addresses have no proof",
      { uncoveredAddresses: ["0x2", "0x3"] },
      'The addresses 0x2, 0x3 in activity "a1": no app proof covers them.',
    ],
  ];
  it.each(cases)("is said where %s, and only there", (_, activity, wanted) => {
    expect(openWith(activity)).toContain(wanted);
    expect(openWith({})).not.toContain(wanted);
  });

  it("is a decision, where there is none, and the rest in any case", () => {
    expect(openWith({})).toContain("That an enclave decided to allow this: no decision is among the app proofs");
    expect(openWith({ decisions: 1 })).not.toContain("That an enclave decided");
    expect(openWith({})).toContain(
      "The rest of the activity (its status, votes, fingerprint and other fields): the service's word",
    );
    expect(openWith({ coveredAddresses: [] })).not.toContain("the key behind the address");
    expect(openWith({})).toContain("That the key behind the address was made by your request");
    expect(openWith({ asked: [], question: null, coveredAddresses: [] })).toContain("The request: you gave no request");
  });

  it("is whose app proofs they should be, where there is no activity and nobody asked", () => {
    const claims: Claims = { bootProofs: [BOOT], appProofs: APP_PROOFS, activity: null };
    const asked = [...PASSED, { ...PASSED[0]!, id: "app.request" as const, subject: "app[0]" as const }];
    const text = unprovenStatements(report({ claims })).join("\n");
    expect(text).toContain("Whose app proofs these should be: you named no organization");
    expect(text).toContain("That the decision was about this request, and that none was withheld");
    expect(text).toContain("That the wallet was made by your request, and that no one else knows its seed: ");
    expect(unprovenStatements(report({ claims, checks: asked })).join("\n")).not.toContain("Whose app proofs");
    const oneSkipped = [...asked, { ...asked.at(-1)!, subject: "app[1]" as const, status: "skip" as const }];
    expect(unprovenStatements(report({ claims, checks: oneSkipped })).join("\n")).toContain("Whose app proofs");
  });
});

describe("beside the verdict", () => {
  const OLD = "may be\\u{1b} old.";
  const warned = (
    id: "policy.scope" | "activity.claims" | "activity.request",
    detail: string,
    subject: "policy" | "activity",
  ) => ({
    id,
    subject,
    status: "warn" as const,
    detail,
  });

  const anchor = [{ ...PASSED[0]!, status: "warn" as const }];
  const vote = [...PASSED, warned("activity.request", "the answer to a vote\u001b", "activity")];
  const scope = [...PASSED, warned("policy.scope", "r2026.3.1: one; two", "policy")];
  const scopes = [
    ...PASSED,
    warned("policy.scope", "boot[0]: the operator is open", "policy"),
    warned("policy.scope", "boot[1]: PCR3 alone\u001b", "policy"),
  ];
  const claimed = [...PASSED, warned("activity.claims", "speaks of sub", "activity")];
  const aged = (index: number, status: "warn" | "skip"): Report["checks"][number] => {
    return { id: "policy.age", subject: "policy", about: `boot[${index}]`, status, detail: "may be\u001b old" };
  };
  const two = [PASSED[0]!, { ...PASSED[0]!, subject: "boot[1]" as const }];

  it.each<[name: string, made: Report, stands: readonly unknown[]]>([
    ["nothing where nothing is open", report({}), []],
    ["nothing of a decision and a wallet", reportWith({ walletId: "w1", decisions: 1 }), []],
    ["nothing of an activity by its id", reportWith({ question: "id" }), []],
    ["nothing of a legacy document, which is a warning", reportOf({ image: { commitment: "legacy" } }), []],
    ["nothing beside REJECTED, which says it all", report({ verdict: "rejected", claims: null, checks: scope }), []],
    [
      "another anchor and debug mode",
      reportOf({ image: { debug: true } }, { checks: anchor }),
      [expect.stringContaining("not to AWS"), expect.stringContaining("debug mode was found and allowed")],
    ],
    [
      "that only the fingerprint of a vote was compared",
      reportWith({ question: "fingerprint" }, { checks: vote }),
      ["the answer to a vote\\u{1b}."],
    ],
    [
      "each reason of policy.scope on its own",
      reportOf({ scope: ["one", "two\u001b"], open: ["operator"] }, { checks: scope }),
      ['the deployment "r2026.3.1": one.', 'the deployment "r2026.3.1": two\\u{1b}.'],
    ],
    [
      "what the check says where the claims have no reason",
      report({ checks: scopes }),
      ["boot[0]: the operator is open", "boot[1]: PCR3 alone\\u{1b}"],
    ],
    [
      "what is open even where no check says so",
      reportOf({ open: ["operator"] }),
      ["the policy leaves the operator open: somebody else's enclave may pass."],
    ],
    [
      "that no enclave vouches for a new organization",
      reportWith({ subOrganizationId: "sub" }, { checks: claimed }),
      ['no enclave signed that this organization is new or yours: "sub".'],
    ],
    ["what the check of claims says of no organization", reportWith({}, { checks: claimed }), ["speaks of sub"]],
    ["that an old setup document may be shown again", report({ checks: [PASSED[0]!, aged(0, "warn")] }), [OLD]],
    ["nothing of an age that was not asked for", report({ checks: [PASSED[0]!, aged(0, "skip")] }), []],
    [
      "the age of each boot proof by itself",
      report({
        claims: { bootProofs: [BOOT, BOOT], appProofs: [], activity: null },
        checks: [...two, aged(0, "skip"), aged(1, "warn")],
      }),
      ["boot[1]: May be\\u{1b} old."],
    ],
  ])("stands %s", (_, made, stands) => expect(caveats(made)).toEqual(stands));
});

it("names the boot proof where there are several", () => {
  const claims: Claims = {
    bootProofs: [BOOT, bootOf({ image: { commitment: "legacy" } })],
    appProofs: [],
    activity: null,
  };
  const checks = [...PASSED, { ...PASSED[0]!, subject: "boot[1]" as const }];
  expect(unprovenStatements(report({ claims, checks }))[0]).toMatch(
    /^boot\[1\]: Which application requested the document:/,
  );
  expect(
    provenStatements(report({ claims, checks })).filter((text) => /^boot\[0\] … boot\[1\]: /.test(text)),
  ).toHaveLength(7);
});

describe("what share holders would release", () => {
  const SHARES =
    "The shares of the quorum key 04efefef…efefefef that are released for this document go to the key of this " +
    "document, 04ababab…abababab.";
  const OPEN =
    "That the shares of the quorum key 04efefef…efefefef would go to this enclave: the document is legacy, so its " +
    "key 04ababab…abababab, to which they would go, may be an attacker's.";
  const DETAILS = "The time, the deployment and the state that provisioning details name beside the document";
  const LABELS = "The labels (enclaveApp, owner, deploymentLabel) and createdAt";

  it("is stated for every setup document, whatever form it has, and for no other", () => {
    for (const form of [undefined, "provisioning"] as const)
      for (const commitment of ["setup", "live", "legacy"] as const) {
        const text = proven({ ...(form && { form }), image: { commitment } });
        expect(text.includes(SHARES), `${form} ${commitment}`).toBe(commitment === "setup");
      }
    expect(proven({ image: { commitment: "setup", manifest: null } })).not.toContain("released for this document");
  });

  it("is only the image's word where nothing pins it", () => {
    const made = reportOf({ ...UNPINNED, image: { ...UNPINNED.image, commitment: "setup" } }, authentic);
    expect(provenStatements(made).join("\n")).not.toContain("released for this document");
    expect(unprovenWords(made)[0]!.statements.join("\n")).toContain("released for this document go to the key");
  });

  it("is in full in a verbose report, and without keys of their own for many", () => {
    const made = report({
      claims: { bootProofs: Array(6).fill(bootOf({ image: { commitment: "setup" } })), appProofs: [], activity: null },
    });
    const hex = (text: string): string => text;
    expect(provenStatements(made, { hex, detail: "verbose" }).join("\n")).toContain(`${"ab".repeat(129)}.`);
    expect(provenStatements(made).join("\n")).toMatch(/released for this document go to the key of this document\.$/m);
  });

  it("is open for a legacy document in provisioning details, however it is pinned", () => {
    for (const restsOn of [null, "manifestHash", "manifestSet"] as const)
      expect(open({ form: "provisioning", image: { commitment: "legacy", restsOn } })).toContain(OPEN);
    expect(open({ image: { commitment: "legacy" } })).not.toContain("may be an attacker's");
    expect(open({ form: "provisioning", image: { commitment: "setup" } })).not.toContain("may be an attacker's");
  });

  it("is said with the words that nobody signed: labels, or time and deployment", () => {
    const texts = (form?: "provisioning"): boolean[] => {
      const text = open({ ...(form && { form }), image: { commitment: "setup" } });
      return [text.includes(LABELS), text.includes(DETAILS)];
    };
    expect([texts(), texts("provisioning")]).toEqual([
      [true, false],
      [false, true],
    ]);
  });
});

describe("expected payloads", () => {
  const TIMED: AppProofClaims = { ...UNTIMED, time: "2026-03-04T05:07:07.000Z" };
  const OTHER: AppProofClaims = { ...TIMED, type: "RATE", payload: { type: "RATE" }, expectation: null };
  const KNOWN = APP_PROOFS[0]!;
  const withProofs = (appProofs: readonly AppProofClaims[], rest: Partial<Report> = {}): Report =>
    report({ claims: { bootProofs: [BOOT], appProofs, activity: null }, ...rest });
  const ANSWER = { ...UNTIMED, answers: CHALLENGE };
  const notProven = (...proofs: AppProofClaims[]): string => unprovenStatements(withProofs(proofs)).join("\n");

  it("are said of a payload that meets one", () => {
    expect(provenStatements(withProofs([TIMED])).at(-1)).toBe(
      'The application stated at 2026-03-04T05:07:07.000Z: {"type":"QUOTE","price":1.5} (as you expected).',
    );
  });

  it("say which challenge an answer has, whatever is in it", () => {
    expect(provenStatements(withProofs([ANSWER])).at(-1)).toBe(
      'The application stated, at a time that nobody signed: {"type":"QUOTE","price":1.5} (as you expected). ' +
        "It answers your challenge q7Yt3mVnB2xKc9PzLwRs4A (/challenge), so the enclave was alive after you made it.",
    );
    const pointer = `/\u202e${"x".repeat(500)}`;
    const text = provenStatements(withProofs([{ ...ANSWER, answers: { ...CHALLENGE, pointer } }])).at(-1)!;
    expect(text).toContain("\\u{202e}");
    expect(text.length).toBeLessThan(500);
    const unpinned = withProofs([ANSWER], {
      claims: { ...withProofs([ANSWER]).claims!, bootProofs: [bootOf(UNPINNED)] },
    });
    expect(provenStatements(unpinned).join()).not.toContain("your challenge");
    expect(unprovenWords(unpinned)[0]!.statements.at(-1)).toContain("your challenge");
  });

  it("leave open whether the enclave still runs, unless a challenge is answered", () => {
    for (const proof of [TIMED, UNTIMED]) expect(notProven(proof)).toContain("That the enclave still runs");
    expect(notProven(ANSWER)).not.toContain("still runs");
    const two = { bootProofs: [BOOT, BOOT], appProofs: [{ ...ANSWER, bootProof: 1 }], activity: null };
    expect(unprovenStatements(report({ claims: two })).join("\n")).toContain("That the enclave still runs");
  });

  it("make a warning of each proof without a time that answers no challenge", () => {
    const caveatsOf = (...proofs: AppProofClaims[]): string[] => caveats(withProofs(proofs));
    expect(caveatsOf(TIMED, ANSWER)).toEqual([]);
    expect(caveatsOf(TIMED, UNTIMED)).toEqual(["app[1] has no time: it may be an old answer."]);
    expect(caveatsOf(UNTIMED, ANSWER, UNTIMED)).toEqual(["app[0], app[2] have no time: each may be an old answer."]);
  });

  it("leave open what proofs of other types should be about", () => {
    const about = (proofs: string): string =>
      `What ${proofs} should be about: you expected nothing of app proofs of that type.`;
    expect(notProven(TIMED)).not.toMatch(/should be/);
    expect(notProven(TIMED, OTHER, KNOWN, OTHER)).toContain(about("app[1] … app[3]"));
    expect(notProven(OTHER)).toContain("Whose app proofs these should be");
    const beside = (...appProofs: AppProofClaims[]): string =>
      unprovenStatements(report({ claims: { bootProofs: [BOOT], appProofs, activity: ACTIVITY } })).join("\n");
    expect(beside(TIMED, KNOWN, OTHER)).toContain(about("app[2]"));
    expect(beside(TIMED, KNOWN)).not.toContain("should be about");
    expect(beside(KNOWN, OTHER)).not.toContain("should be about");
  });
});
