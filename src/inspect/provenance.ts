/** Provenance bundles of Sigstore, and trusted roots. */
import { fromUtf8 } from "../bytes.js";
import { readBuildIdentity } from "../decode/build-identity.js";
import { type GithubRelease, isReleaseType, readGithubRelease } from "../decode/github-release.js";
import { type JsonValue, jsonLines, parseJson } from "../decode/json.js";
import {
  type ProvenanceBundle,
  bundleText,
  readProvenanceBundle,
  wrappedBundles,
} from "../decode/provenance-bundle.js";
import { type Reading, attempt } from "../errors.js";
import {
  type Described,
  type Inspected,
  UNKNOWN,
  UNREADABLE,
  inspectEach,
  membersOf,
  definedMembers,
  restOf,
  within,
} from "./described.js";
import { shownCertificate } from "./shown.js";

/** Maximum number of lines that are inspected in a file of JSON Lines. */
const MAX_LINES = 256;

/** Inspects provenance bundles. `json` is undefined for JSON Lines. */
export async function inspectProvenance(bytes: Uint8Array, json: JsonValue | undefined): Promise<Inspected> {
  if (json === undefined) return inspectLines(bytes, inspectBundle);
  const wrapped = wrappedBundles(json);
  return wrapped === null ? inspectBundle(json) : inspectEach(wrapped, MAX_LINES, inspectBundle);
}

export async function inspectTrustedRoot(bytes: Uint8Array, json: JsonValue | undefined): Promise<Inspected> {
  const unchanged = (root: JsonValue): Inspected => ({ faults: [], says: root as Described });
  return json === undefined ? inspectLines(bytes, unchanged) : unchanged(json);
}

function inspectLines(
  bytes: Uint8Array,
  inspect: (json: JsonValue) => Inspected | Promise<Inspected>,
): Promise<Inspected> {
  return inspectEach(jsonLines(fromUtf8(bytes) ?? ""), MAX_LINES, ({ text }) => {
    const { value, faults } = attempt(() => parseJson(text));
    return value === undefined ? { faults, says: { [UNREADABLE]: text } } : inspect(value);
  });
}

/** Reads the release that a statement names. It has no members if the statement is on something else. */
function releaseIn({ statement, payload }: Reading<ProvenanceBundle>["value"]): Reading<GithubRelease> {
  const isRelease = statement !== undefined && isReleaseType(statement.predicateType);
  return isRelease ? readGithubRelease({ payload: payload! }) : { value: {}, faults: [] };
}

async function inspectBundle(json: JsonValue): Promise<Inspected> {
  const text = attempt(() => bundleText(json));
  const { value, faults } =
    text.value === undefined ? { value: {}, faults: text.faults } : readProvenanceBundle(text.value);
  const identity = value.certificate && readBuildIdentity(value.certificate);
  const certificate = value.certificate && (await shownCertificate(value.certificate));
  const release = releaseIn(value);
  const statement = value.payload && attempt(() => parseJson(value.payload!)).value;
  const { mediaType, verificationMaterial, dsseEnvelope } = membersOf(json);
  const { payload, payloadType, signatures } = membersOf(dsseEnvelope);
  const {
    certificate: given,
    x509CertificateChain,
    tlogEntries,
    timestampVerificationData,
  } = membersOf(verificationMaterial);
  const placed = { x509CertificateChain: true, tlogEntries: true, timestampVerificationData: true };
  const read = {
    mediaType: true,
    verificationMaterial: { certificate: { rawBytes: true }, ...placed },
    dsseEnvelope: { payload: true, payloadType: true, signatures: true },
  };
  const says = {
    mediaType,
    identity:
      identity && definedMembers(Object.entries(identity.value).filter(([, text]) => text !== null && text !== "")),
    githubRelease: definedMembers(Object.entries(release.value)),
    statement: statement as Described | undefined,
    payloadType,
    signatures,
    certificate,
    certificateChain: x509CertificateChain,
    tlogEntries,
    timestampVerificationData,
    [UNREADABLE]: definedMembers([
      ["payload", statement === undefined ? payload : undefined],
      ["certificate", certificate === undefined ? given : undefined],
    ]),
    [UNKNOWN]: restOf(json, read),
  };
  return { faults: [...faults, ...release.faults, ...within("certificate", identity)], says };
}
