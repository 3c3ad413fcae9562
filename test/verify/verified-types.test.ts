/** Only verification makes the verified types; what they vouch for is asked anew where it depends on the caller. */
import { describe, expect, it } from "vitest";
import {
  NO_POLICY_ANY_ENCLAVE,
  VerifiedActivity,
  VerifiedAppProof,
  VerifiedAttestation,
  VerifiedBootProof,
  parseTrustAnchor,
  verifyActivity,
  verifyAppProofs,
  verifyAttestation,
  verifyBootProof,
  verifyEvidence,
} from "../../src/index.js";
import { pinPolicy } from "../../src/author/index.js";
import { NOW, forge, idsOf, optionsOf } from "../attacks/support.js";

const whole = forge();
const options = optionsOf(whole);
const {
  bootProofs: [bootProof],
  appProofs: [appProof],
  activity,
} = await verifyEvidence({ bootProofs: [whole.bootProof], activity: whole.activity }, options);
const { attestation } = await verifyAttestation(whole.document, optionsOf(whole, { noPolicy: true }));

interface VerifiedClass {
  new (...facts: never[]): object;
  isVerified(value: unknown): boolean;
}

const kinds: { name: string; type: VerifiedClass; genuine: object }[] = [
  { name: "VerifiedBootProof", type: VerifiedBootProof, genuine: bootProof! },
  { name: "VerifiedAppProof", type: VerifiedAppProof, genuine: appProof! },
  { name: "VerifiedActivity", type: VerifiedActivity, genuine: activity! },
  { name: "VerifiedAttestation", type: VerifiedAttestation, genuine: attestation! },
];

/** All that looks like the genuine one and is not. */
function imitations(genuine: object, type: VerifiedClass): [name: string, value: unknown][] {
  const prototype = type.prototype as object;
  const facts = { ...genuine } as Record<string, unknown>;
  return [
    ["a spread", { ...genuine }],
    ["a copy by Object.assign", Object.assign({}, genuine)],
    [
      "a structured clone",
      structuredClone(Object.fromEntries(Object.entries(facts).filter(([, value]) => isPlain(value)))),
    ],
    [
      "its JSON",
      JSON.parse(JSON.stringify(genuine, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))),
    ],
    ["an object of its prototype", Object.assign(Object.create(prototype) as object, facts)],
    ["an object that inherits from it", Object.create(genuine)],
    ["an object whose prototype was set to its", Object.setPrototypeOf({ ...facts }, prototype)],
    ["a proxy around it", new Proxy(genuine, {})],
    ["the class", type],
    ["its prototype", prototype],
    ["null", null],
    ["undefined", undefined],
    ["a text", "VerifiedBootProof"],
    ["a function", () => genuine],
    ["an array of it", [genuine]],
  ];
}

function isPlain(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}

describe.each(kinds)("a $name", ({ name, type, genuine }) => {
  it("is what verification made", () => {
    expect(genuine).toBeInstanceOf(type);
    expect(type.isVerified(genuine)).toBe(true);
  });

  it("is of its own kind only", () => {
    for (const other of kinds.filter((kind) => kind.type !== type))
      expect(other.type.isVerified(genuine), other.name).toBe(false);
  });

  it.each(imitations(genuine, type))("is not %s", (_, value) => {
    expect(type.isVerified(value)).toBe(false);
  });

  it("cannot be constructed, whatever the constructor is given", () => {
    const make = type as unknown as new (...facts: unknown[]) => object;
    const facts = { ...genuine };
    const byVerificationOnly = new TypeError(`a ${name} is made by verification only`);
    for (const leave of [
      undefined,
      null,
      true,
      "verified",
      Symbol("verified"),
      Symbol.for("verified"),
      genuine,
      type,
    ]) {
      expect(() => new make(facts, leave)).toThrow(byVerificationOnly);
      expect(() => new make(facts, facts, leave)).toThrow(byVerificationOnly);
      expect(() => new make(facts, facts, facts, leave)).toThrow(byVerificationOnly);
      expect(() => Reflect.construct(make, [facts, leave], Object) as object).toThrow(byVerificationOnly);
    }
    const constructor = (genuine as { constructor: new (...facts: unknown[]) => object }).constructor;
    expect(() => new constructor(facts)).toThrow(byVerificationOnly);
  });

  it("cannot be constructed by a subclass, nor left half made", () => {
    const Base = type as unknown as new (...facts: unknown[]) => object;
    let escaped: unknown;
    class Sub extends Base {
      constructor() {
        super({ ...genuine }, Symbol("verified"));
        escaped = this as unknown;
      }
    }
    expect(() => new Sub()).toThrow(TypeError);
    class Returning extends Base {
      constructor() {
        try {
          super(null, null);
        } catch {
          // The object under construction is out of reach.
        }
        return { ...genuine };
      }
    }
    const imitation = new Returning();
    expect(type.isVerified(imitation)).toBe(false);
    expect(escaped).toBeUndefined();
  });

  it("cannot be given other fields", () => {
    expect(Object.isFrozen(genuine)).toBe(true);
    for (const key of Object.keys(genuine))
      expect(() => {
        (genuine as Record<string, unknown>)[key] = null;
      }, `${name}.${key}`).toThrow(TypeError);
    expect(() => {
      (genuine as Record<string, unknown>)["more"] = 1;
    }).toThrow(TypeError);
    expect(() => Object.setPrototypeOf(genuine, {}) as object).toThrow(TypeError);
  });

  it("lets no caller reach the private marks of its class by a name", () => {
    expect(
      Reflect.ownKeys(genuine).filter((key) => typeof key === "symbol" || key.startsWith("#") || key.startsWith("_")),
    ).toEqual([]);
  });
});

describe("an imitation of a verified boot proof", () => {
  const rows = imitations(bootProof!, VerifiedBootProof);

  // pinPolicy takes several: an array of a genuine one is none of the imitations here.
  it.each(rows.filter(([name]) => name !== "an array of it"))("is not pinned: %s", (_, value) => {
    expect(() => pinPolicy(value as VerifiedBootProof)).toThrow(TypeError);
  });

  it.each(rows)("is judged as evidence, and rejected: %s", async (_, value) => {
    const { report, bootProofs } = await verifyEvidence({ bootProofs: [value], appProofs: whole.appProofs }, options);
    expect(report.verdict).toBe("rejected");
    expect(idsOf(report, "fail")).toContain("boot.decode");
    expect(idsOf(report, "pass")).not.toContain("cose.signature");
    expect(bootProofs).toEqual([null]);
  });

  it.each(kinds.filter(({ type }) => type !== VerifiedBootProof))("is a $name too", async ({ genuine }) => {
    expect(() => pinPolicy(genuine as VerifiedBootProof)).toThrow(TypeError);
    const { report } = await verifyEvidence({ bootProofs: [genuine] }, options);
    expect(report.verdict).toBe("rejected");
  });

  it("of app proofs: a verified one is not evidence again", async () => {
    const { report } = await verifyAppProofs([appProof!], [bootProof!], options);
    expect(idsOf(report, "fail")).toContain("app.decode");
  });

  it("of activities: a verified one is not evidence again", async () => {
    expect(idsOf((await verifyActivity(activity!, [bootProof!], options)).report, "fail")).toContain("activity.decode");
  });
});

describe("a verified boot proof, used again", () => {
  it("is rejected by the AWS anchor, which is the default without a policy", async () => {
    const { report } = await verifyBootProof(bootProof!, { policy: NO_POLICY_ANY_ENCLAVE, now: NOW });
    expect(idsOf(report, "fail")).toEqual(["chain.anchor"]);
  });

  it("names its trust anchor as the one that it is held against now", async () => {
    const renamed = {
      ...optionsOf(whole, { noPolicy: true }),
      trustAnchors: [parseTrustAnchor("another name of it", whole.anchorPem)],
    };
    const [reused, anew] = [
      await verifyBootProof(bootProof!, renamed),
      await verifyBootProof(whole.bootProof, renamed),
    ];
    expect(reused.report).toEqual(anew.report);
    expect(reused.report.claims!.bootProofs[0]!.hardware.trustAnchor).toBe("another name of it");
  });
});
