/** A demand that nothing of what is given could meet is a fault of the command line, and never silently dropped. */
import { describe, expect, it } from "vitest";
import { packEvidence } from "../../src/bundle/index.js";
import { Forge, LAB_ADDRESS, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { type Row, fileOf, scene } from "./support.js";

const lab = new Forge();
const at = new Date("2026-03-04T05:06:07.000Z");
const { bootProof, appProofs, activity, anchorPem, document } = forgeEvidence({ lab, at });
const CHALLENGE = "Zx8_qK3vT1mN7bR5wY9cDa";
const ORDER = { type: "ORDER", order: { id: "42", items: [1.5, 7] }, nonce: CHALLENGE };
const timestampMs = "1772600830000";
const orders = forgeEvidence({ lab, at, payloads: [{ ...ORDER, timestampMs }] });
const untimed = forgeEvidence({ lab, at, payloads: [ORDER] });
const colons = forgeEvidence({ lab, at, payloads: [{ type: "A", timestampMs, "b:c": "d=e:/f=g" }] });
const rules = { appProofs: { untimed: ["ORDER"] } } as never;
const [{ publicKey, proofPayload, signature }] = orders.appProofs as unknown as [Record<string, string>];

const N = {
  ...{ boot: fileOf(bootProof), apps: fileOf(appProofs), none: fileOf([]), activity: fileOf(activity) },
  ...{ bundle: fileOf(packEvidence({ bootProofs: [bootProof] })), document: fileOf(document) },
  withApps: fileOf(packEvidence({ bootProofs: [bootProof], appProofs })),
  withActivity: fileOf(packEvidence({ bootProofs: [bootProof], activity })),
  policy: fileOf(labPolicy(anchorPem, [labDeployment(lab)])),
  ...{ key: bootProof["ephemeralPublicKeyHex"] as string, own: LAB_ADDRESS.organizationId },
  address: LAB_ADDRESS.address,
  ofOrders: fileOf(labPolicy(orders.anchorPem, [labDeployment(lab)], rules)),
  files: ["--boot-proof", fileOf(orders.bootProof), "--app-proof", fileOf(orders.appProofs)],
  untimed: ["--boot-proof", fileOf(untimed.bootProof), "--app-proof", fileOf(untimed.appProofs)],
  colons: ["--boot-proof", fileOf(colons.bootProof), "--app-proof", fileOf(colons.appProofs)],
  ...{ orderBoot: fileOf(orders.bootProof), orderKey: orders.bootProof["ephemeralPublicKeyHex"] as string },
  orders: fileOf(packEvidence({ bootProofs: [orders.bootProof], appProofs: orders.appProofs })),
  ...{ id: ["--payload", 'ORDER:/order/id="42"'], sent: ["--challenge", `ORDER:/nonce="${CHALLENGE}"`] },
  renamed: fileOf({ public_key: publicKey, payload: proofPayload, signature }),
};
const { having, run, table, usage } = scene(N, { now: "2026-03-04T06:00:00Z" });

describe("--organization-id", () => {
  const alone = [
    "verify --boot-proof $boot",
    "verify --boot-proof $boot --ephemeral-key $key",
    "verify --boot-proof $bundle",
    "verify --boot-proof $boot --app-proof $none",
    "verify $bundle",
    "bundle --boot-proof $boot",
    "bundle --boot-proof $boot --app-proof $none",
  ].map((line) => `${line} --policy $policy`);
  const NAMELESS = /^bootproof: --organization-id: boot proofs name no organization/;
  const others = ["--boot-proof $boot --app-proof $apps", "--boot-proof $boot --activity $activity", "$withApps"];
  table([
    ...alone.flatMap((line): Row[] => [
      [`${line} --organization-id $own`, 2, NAMELESS],
      [`${line} --organization-id another`, 2, NAMELESS],
      // Of the environment it belongs to connections.
      [`BOOTPROOF_ORGANIZATION_ID=another ${line}`, 0],
    ]),
    ["verify --attestation $document --organization-id o --policy $policy", 2, "--organization-id"],
    ...others.flatMap((evidence): Row[] => [
      [`verify ${evidence} --policy $policy --organization-id $own`, 0],
      [`verify ${evidence} --policy $policy --organization-id another`, 1],
      [`BOOTPROOF_ORGANIZATION_ID=another verify ${evidence} --policy $policy`, 1],
      [`BOOTPROOF_ORGANIZATION_ID='' verify ${evidence} --policy $policy`, 2, "BOOTPROOF_ORGANIZATION_ID: empty"],
    ]),
    // An address that no app proof speaks of.
    ["verify --boot-proof $boot --organization-id $own --address $address --policy $policy", 1],
    ["verify $bundle --organization-id $own --address $address --policy $policy", 1],
  ]);
});

describe("an option that would do nothing", () => {
  usage("", [
    ["lab --list-faults --port 0", "--list-faults cannot be used with --port: it starts no lab"],
    ["lab --list-faults --data x", "--list-faults cannot be used with --data: it starts no lab"],
    ["verify $bundle --policy $policy --activity-id a --organization-id o", "the file has none"],
    ["page --policy $policy", "unknown option --policy"],
    ["page --payload A:/b=1", "unknown option --payload"],
    ["page --challenge A:/b=1", "unknown option --challenge"],
    [
      "audit --policy $policy $boot --queue redis://localhost:9 --workers 2",
      "--queue cannot be used with --workers: these are for the threads of this machine",
    ],
  ]);
});

describe("--payload and --challenge", () => {
  const verify = "verify $files --policy $ofOrders";
  const DIFFERS = 'the payload differs from expected.payload[0], of type ORDER: /order/id is "42", expected "43"';
  table([
    [`${verify} $id`, 0],
    [`${verify} $id $sent`, 0],
    // A number, as another decimal.
    [`${verify} --payload ORDER:/order/items/0=1.50 ORDER:/order/items/1=0.7e1`, 0],
    [`${verify} --payload ORDER:/order/id="43"`, 1, DIFFERS],
    // No app proof meets them.
    ["verify --boot-proof $orderBoot --policy $ofOrders $id", 1],
    ["verify --boot-proof $orderBoot --policy $ofOrders --ephemeral-key $orderKey $sent", 1],
    ["verify $orders --policy $ofOrders $id $sent", 0],
    ['verify $orders --policy $ofOrders --payload ORDER:/order/id="43"', 1],
    ["bundle $files --policy $ofOrders $id $sent", 0, '!"expected"'],
    ['bundle $files --policy $ofOrders --payload ORDER:/order/id="43"', 1],
    // The type ends at the first colon, the pointer at the first equals sign.
    ['verify $colons --policy $ofOrders --payload A:/b:c="d=e:/f=g"', 0],
    ['verify $colons --policy $ofOrders --payload A:/b:c="d=e:/f=h"', 1],
    // The application has its own names for the members.
    ["verify --boot-proof $orderBoot --app-proof $renamed --policy $ofOrders", 1, "appProofOf({ publicKey,"],
    ["inspect $renamed", 2, "appProofOf"],
    // An activity demands the organization, too.
    ...[
      "verify --boot-proof $boot --activity $activity",
      "bundle --boot-proof $boot --activity $activity",
      "verify $withActivity",
    ].flatMap((line): Row[] => [
      [`${line} --policy $policy $id`, 2, "also require its organization", "--organization-id"],
      [`${line} --policy $policy $id --organization-id $own`, 1],
    ]),
    ...["$id", "$sent"].flatMap((given): Row[] => [
      [`verify --app signer ${given} --policy $ofOrders`, 2, "--app cannot be used with --"],
      [`verify --attestation signer ${given} --policy $ofOrders`, 2, "--attestation cannot be used with --"],
    ]),
  ]);

  it.each(["$files", "$untimed"])("leave a packed report without differences, timed or not: %s", async (files) => {
    const { stdout } = await run(`bundle ${files} --policy $ofOrders $id $sent`, 0);
    for (const options of ["", " $id $sent", " $id"]) {
      const line = `verify $it${options} --policy $ofOrders --format json`;
      const answer = await having({ it: fileOf(stdout) })(line, 0);
      expect(JSON.parse(answer.stdout)).toMatchObject({ bundle: { packed: { differences: [] } } });
    }
  });

  const LONG_ENOUGH = "expected a string of 22 or more base64url characters, or of 32 or more hex digits";
  const NO_POINTER = "expected a JSON pointer";
  usage(
    verify,
    (
      [
        ["--payload ORDER", "--payload ORDER: expected TYPE:/pointer=JSON"],
        ["--payload ORDER:/order/id", "expected TYPE:/pointer=JSON"],
        ["--payload :/order/id=1", "expected TYPE:/pointer=JSON"],
        ["--payload ORDER:/a=1 bundle.json", "It takes every word up to the next option"],
        ["--payload ORDER:/id=abc", `--payload 'ORDER:/id="42"'`],
        ["--challenge ORDER:/id=", `--challenge 'ORDER:/id="42"'`],
        ['--payload ORDER:/order={"id":"42"}', "--payload ORDER:/order: an object or array: name its"],
        ["--payload ORDER:/order=[]", "an object or array: name its members"],
        ["--payload ORDER:/n=9007199254740993", "--payload ORDER:/n: "],
        ["--payload ORDER:/n=1e999", "--payload ORDER:/n: "],
        ["--payload ORDER:order=1", `--payload ORDER:order: ${NO_POINTER}`],
        ["--payload ORDER:/a~2=1", `--payload ORDER:/a~2: ${NO_POINTER}`],
        ["--payload ORDER:/a=1 ORDER:/a=1", "--payload ORDER:/a: repeated"],
        ["$sent --payload ORDER:/nonce=1", "--challenge ORDER:/nonce: repeated"],
        [`$sent ORDER:/b="${CHALLENGE}"`, "--challenge ORDER:/b: a type has at most one challenge"],
        ['--challenge ORDER:/a="short"', "--challenge ORDER:/a: its value is not random enough"],
        [`--challenge ORDER:/a="${"a1".repeat(15)}f"`, LONG_ENOUGH],
        ["--challenge ORDER:/a=12345678901234", "not random enough"],
      ] as const
    ).map(([line, says]) => [line, says, "!expected.payload", "!TypeError"]),
  );
});
