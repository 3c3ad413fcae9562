/** One check fails for several causes, and each has advice of its own. */
import { describe, expect, it } from "vitest";
import type { CheckId, DeploymentCause } from "../../src/checks.js";
import { toHex } from "../../src/bytes.js";
import { attempt } from "../../src/errors.js";
import { addressDerivationPayload } from "../../src/lab/enclave.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { CHAIN } from "../../src/lab/pki.js";
import { CHECK_ADVICE, parsePolicy, renderSummary, renderText } from "../../src/index.js";
import { renderMarkdown } from "../../src/formats/index.js";
import { chainSections } from "../../src/show/chain.js";
import { writeHtml } from "../../src/show/html.js";
import { toHtml } from "../../src/show/markup.js";
import { adviceOn } from "../../src/report/causes.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";
import {
  type Alterations,
  type Judgement,
  AT,
  after,
  certificate,
  forge,
  judge,
  lab,
  otherLab,
  put,
  withActivity,
} from "../attacks/support.js";
import { bootproof } from "../cli/support.js";

const OURS = LAB_ADDRESS.organizationId;
const expecting = (organizationId: string): Judgement => ({ expected: { organizationId } });
const under = (pins: object, policy = {}): Judgement => ({ deployments: (all) => [{ ...all, ...pins }], policy });
const payloadOf = (organizationId: string): Alterations => ({
  payloads: [addressDerivationPayload(after(60), { ...LAB_ADDRESS, organizationId })],
});

async function adviceIn(id: CheckId, forged: Alterations, how: Judgement): Promise<string> {
  const { checks } = await judge(forge(forged), how);
  return checks.find((check) => check.id === id && check.status === "fail")!.advice!;
}

const broken = (name: string): Alterations => ({
  bootProof: (json) => ({ ...json, [name]: (json[name] as string).replace(/.{76}/g, "$&\n") }),
});

describe("the advice on", () => {
  it.each<[string, CheckId, Alterations, Judgement, RegExp]>([
    [
      "an app proof of another organization",
      "app.request",
      {},
      expecting("mine"),
      new RegExp(`^The app proof is of organization ${OURS}, and mine was expected \\(--organization-id`),
    ],
    [
      "an activity of another organization",
      "activity.request",
      {},
      { ...expecting("mine"), given: withActivity },
      new RegExp(`^The activity is of organization ${OURS}, and mine was expected`),
    ],
    [
      "an organization that is no id, which is not repeated",
      "app.request",
      payloadOf("x. Run: bootproof pin --boot-proof boot.json"),
      expecting("mine"),
      /^The app proof is of another organization, and mine was expected/,
    ],
    [
      "another organization and another address: both",
      "app.request",
      {},
      { expected: { organizationId: "mine", addresses: ["0x00"] } },
      /was expected .*no app proof answers your request/,
    ],
    [
      "app proofs of another organization than the activity",
      "activity.claims",
      { activity: put("organizationId", "another") },
      { given: withActivity },
      /^App proofs and activity are of different organizations/,
    ],
    [
      "base64 with line breaks",
      "boot.decode",
      broken("qosManifestB64"),
      {},
      /^The text was wrapped when it was copied/,
    ],
    ["a key with line breaks", "boot.decode", broken("ephemeralPublicKeyHex"), {}, /^The text was wrapped/],
    [
      "JSON with line breaks in its strings",
      "boot.decode",
      {},
      { given: ({ bootProof }) => ({ bootProofs: [JSON.stringify(bootProof).replace(/.{76}/g, "$&\r\n")] }) },
      /^The text was wrapped/,
    ],
    [
      "JSON that was cut off",
      "boot.decode",
      {},
      { given: ({ bootProof }) => ({ bootProofs: [JSON.stringify(bootProof).slice(0, 5000)] }) },
      /^The text ends in the middle/,
    ],
    ["another fault of the form", "boot.decode", { bootProof: put("qosManifestB64", 1) }, {}, /^Fetch the boot proof/],
    [
      "a time that the caller chose",
      "chain.validity",
      {},
      { validAt: after(86_400) },
      /^The certificates were not valid at the time that you chose/,
    ],
    [
      "the document's own time",
      "chain.validity",
      certificate(CHAIN.leaf, () => ({ notAfter: after(-60) })),
      {},
      /^The certificates were not valid when the document says/,
    ],
    [
      "an unknown root",
      "chain.anchor",
      {},
      { anchorPem: certificatePem(otherLab.pki.rootCertificate) },
      /^The document comes from another/,
    ],
    [
      "a proof from before the request",
      "app.time",
      {},
      { expected: { organizationId: OURS, requestedAt: after(200) } },
      /^The proof is older than your request/,
    ],
    ["a proof from the future", "app.time", {}, { now: after(-30) }, /^Check this machine's clock/],
    [
      "a document of the setup",
      "policy.commitment",
      { generation: "setup", payloads: [] },
      {},
      /^The document is of the/,
    ],
    ["a legacy document", "policy.commitment", { generation: "legacy" }, {}, /^The kind or generation/],
    [
      "a lower threshold",
      "policy.manifest-set",
      {},
      under({ manifestSet: { threshold: 3, members: members() } }),
      /^The set/,
    ],
    ["another program", "policy.deployment", {}, under({ pivotHash: "ee".repeat(32) }), /^The enclave is genuine/],
    ["an older manifest", "policy.deployment", {}, under({ minNonce: 8 }), /^The manifest is older than the policy/],
    [
      "a retired deployment, of which only the namespace is the same",
      "policy.deployment",
      {},
      under({ minNonce: 8, pivotHash: "ee".repeat(32), pivotArgs: [] }),
      /^The manifest is older than the policy/,
    ],
    [
      "another namespace, whose nonces say nothing",
      "policy.deployment",
      {},
      under({ namespace: "prod", minNonce: 8 }),
      /^The policy pins another namespace or quorum key/,
    ],
    ["a bare document", "policy.deployment", {}, { bare: true }, /^Use a policy with a deployment of kind nitro/],
  ])("%s", async (_, id, forged, how, words) => {
    expect(await adviceIn(id, forged, how)).toMatch(words);
  });

  it("a policy of another version: which was found, and which is read", () => {
    const policy = { policy: "bootproof/2", rules: [], deployments: [{ image: "x" }] };
    const { faults } = attempt(() => parsePolicy(policy));
    expect(faults).toEqual([
      {
        path: "policy",
        message: "version bootproof/2, and only bootproof/1 is read here",
        cause: { code: "version", found: "bootproof/2", reads: "bootproof/1" },
      },
    ]);
    expect(adviceOn([faults[0]!.cause!], CHECK_ADVICE)).toMatch(/^It is of version bootproof\/2, and .* bootproof\/1:/);
    for (const other of ["bootproof/x", "bootproof-bundle/1", 2, undefined])
      expect(() => parsePolicy({ policy: other, deployments: [] })).toThrow('expected "bootproof/1"');
  });

  it("several causes has each once", () => {
    expect(adviceOn(["clock", "clock", "policy.pivot"], CHECK_ADVICE)).toBe(
      `${adviceOn(["clock"], CHECK_ADVICE)} ${CHECK_ADVICE["policy.pivot"]}`,
    );
  });
});

describe("the steps after a rejection by pins", () => {
  const CAUSES = (["qos", "nitro"] as const).flatMap((kind) =>
    (["changed", "older", "another"] as const).flatMap((is) =>
      [true, false].map((isSigned): DeploymentCause => ({ code: "deployment", kind, is, isSigned })),
    ),
  );

  it.each(CAUSES)(
    "begin at the release, and have commands that the command line takes: $kind $is $isSigned",
    async (cause) => {
      const [what, ...steps] = adviceOn([cause], CHECK_ADVICE).split("\n");
      expect(what).toMatch(/Pin nothing from this evidence\.$/);
      const commands = steps.filter((step) => step.startsWith("bootproof "));
      expect(commands.length).toBeGreaterThan(0);
      expect(steps.at(cause.kind === "qos" ? -2 : -1)).toMatch(/^No release, or rejected again: use no result/);
      for (const command of commands) {
        const { code, stderr } = await bootproof(command.split(" ").slice(1));
        // The only faults are the files, whose names are placeholders.
        expect(code, command).toBe(2);
        const faults = stderr
          .trimEnd()
          .split("\n")
          .filter((line) => line.startsWith("bootproof: "));
        for (const fault of faults) expect(fault, command).toMatch(/: no such file$/);
        expect(faults.length, command).toBeGreaterThan(0);
      }
    },
  );

  it("never pin the evidence itself", () => {
    for (const cause of CAUSES) {
      const advice = adviceOn([cause], CHECK_ADVICE);
      for (const [command] of advice.matchAll(/^bootproof pin .*$/gm)) expect(command).toContain(" --release ");
      expect(advice).not.toMatch(/pin [^\n]*--(?:boot-proof|app NAME --out)/);
    }
    expect(CHECK_ADVICE["policy.deployment"]).not.toContain("bootproof pin)");
  });

  it.each([60, 80, 200])(
    "are whole in %i columns of text and summary, with commands that can be pasted",
    async (width) => {
      const report = await judge(forge(), under({ pivotHash: "ee".repeat(32), minNonce: 8 }));
      const { advice } = report.checks.find(({ id }) => id === "policy.deployment")!;
      for (const text of [renderText(report, { width }), renderSummary(report, { width })]) {
        const pasted = text.replace(/ \\\n +/g, " ").split("\n");
        const commands = pasted.map((line) => line.trim()).filter((line) => line.startsWith("bootproof "));
        expect(commands).toEqual(advice!.split("\n").filter((line) => line.startsWith("bootproof ")));
      }
    },
  );

  it("have a line each in Markdown and on a page", async () => {
    const report = await judge(forge(), under({ pivotHash: "ee".repeat(32) }));
    const command = "bootproof pin --release RELEASE --app NAME --add-to policy.json --out next.json";
    expect(renderMarkdown(report)).toContain(`\n  - \`${command}\`\n`);
    const html = toHtml(writeHtml({ sections: chainSections(report) }));
    expect(html).toContain(`<li><code class="text">${command}</code></li>`);
  });

  it("of a signed policy begin with its signers", async () => {
    const times = { issuedAt: AT.toISOString(), expiresAt: after(86_400).toISOString() };
    const how = { ...under({ pivotHash: "ee".repeat(32) }), signed: times };
    expect(await adviceIn("policy.deployment", {}, how)).toContain("\nThose who sign the policy add releases");
  });
});

function members(): string[] {
  return lab.manifestMembers.map(({ key }) => toHex(key.publicKey));
}
