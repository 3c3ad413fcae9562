/** `bootproof measure`: the PCRs of an enclave that boots from an image, and whether a policy pins them. */
import type { MeasuredComparison } from "../appraise/measured.js";
import type { DeploymentPins, Policy } from "../appraise/parsed-policy.js";
import type { Evidence, NamedEvidence } from "../bootproof.js";
import { jsonDocument } from "../report/json.js";
import { type MeasureResult, type Pcrs, measuredDoc, measuredJson } from "../show/measure.js";
import { writeText } from "../show/terminal.js";
import { measuredBinary, measuredImage, measuredNames } from "./built.js";
import { commandOf } from "./command.js";
import { EXIT } from "./exit-codes.js";
import { nameOf } from "./files.js";
import { UsageError, textOptions } from "./io.js";
import type { Flags } from "./option-table.js";
import { readGivenPolicy, requireCurrent } from "./policy-source.js";
import { readProvenance, verifierFor } from "./provenance.js";

const EXAMPLES = `
PCR0 is the whole image: kernel, command line and ramdisks. PCR1 is kernel, command line and the first ramdisk, PCR2 the
other ramdisks. PCR8 is the certificate that signed the image, if it is signed; PCR3 the role of the parent instance,
PCR4 the instance. This does not prove that an enclave runs the image: verify a boot proof, with bootproof verify.

With --policy: whether one of its deployments pins what was measured: an image by its PCR0, and everything else that was
measured by its own pin. Every other pin of the deployment is compared too, as far as its value was measured. With
--provenance, bundles that meet what the deployment demands of its application's build pin the binary.

Examples:
    $ bootproof measure app.eif
    $ bootproof measure app.eif --binary app --policy policy.json
    $ bootproof measure --binary app --policy policy.json --provenance app.sigstore.json
    $ bootproof measure app.eif --role-arn arn:aws:iam::123456789012:role/Name --format json

Exit codes: 0 measured (and pinned, with --policy), 1 no deployment of the policy pins it, or a signed policy is not in
force; 2 wrong usage, or a file that is unreadable or not an enclave image.`;

export const addMeasureCommand = commandOf<"measure", [image: string | undefined]>(
  "measure",
  { help: EXAMPLES },
  async ({ args, flags, files, io }, image) => {
    if ([image, flags.binary, flags.roleArn, flags.instanceId].every((one) => one === undefined))
      args.fault("nothing to measure: FILE, --binary, --role-arn or --instance-id is required");
    const { format } = flags;
    args.throwFaults();
    const names = await measuredNames(flags);
    const policy = await readGivenPolicy(files, flags, io);
    const measured = await measuredImage(files, image, io);
    const pivotHash = await measuredBinary(files, flags.binary, io);
    const { provenance } = await readProvenance(files, flags.provenance);
    files.throwFaults();
    await requireCurrent(policy, io.now());
    const pcrs = { ...measured?.pcrs, ...names };
    const comparison = policy === undefined ? null : await compared(policy.policy, { pcrs, pivotHash, provenance });
    const result: MeasureResult = {
      image: measured === undefined ? null : { file: nameOf(image!), measured },
      binary: pivotHash === undefined ? null : { file: nameOf(flags.binary!), pivotHash },
      ...{ given: givenIn(flags), pcrs, comparison, now: io.now() },
    };
    io.stdout.write(
      format === "json" ? jsonDocument(measuredJson(result)) : writeText(measuredDoc(result), textOptions(io)),
    );
    return comparison?.fits === false ? EXIT.different : EXIT.good;
  },
);

function givenIn({ roleArn, instanceId, policy }: Flags<"measure">): MeasureResult["given"] {
  const file = policy === undefined ? null : nameOf(policy);
  return { roleArn: roleArn ?? null, instanceId: instanceId ?? null, policy: file };
}

interface Build {
  readonly pcrs: Pcrs;
  readonly pivotHash: Uint8Array | undefined;
  readonly provenance: Evidence["provenance"];
}

async function compared(policy: Policy, { pcrs, pivotHash, provenance }: Build): Promise<MeasuredComparison> {
  const { compareBuild, compareMeasured } = await import("../appraise/measured.js");
  const measured = { pcrs, ...(pivotHash && { pivotHash }) };
  if (provenance === undefined) return compareMeasured(policy, measured);
  const isDemanded = ({ provenance: demands = [] }: DeploymentPins): boolean =>
    demands.some(({ workload }) => workload === null);
  if (!policy.deployments.some(isDemanded))
    throw new UsageError([
      "--provenance: no deployment of the policy demands provenance of its application, so nothing would be compared",
    ]);
  const { provenanceVerifier } = await verifierFor(policy);
  const bundles = provenance.map((piece) => (piece as NamedEvidence).value);
  return compareBuild(policy, measured, { provenance: bundles, provenanceVerifier: provenanceVerifier! });
}
