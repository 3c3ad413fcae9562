/**
 * Comparison of a bundle with a demand of either kind, before its signature is verified. Digests of subjects are
 * compared elsewhere.
 */
import { type BuildIdentity, isNamedByUri, namesIssuer } from "../decode/build-identity.js";
import {
  type GithubRelease,
  RELEASE_TYPES,
  isReleaseType,
  readGithubRelease,
  releaseName,
} from "../decode/github-release.js";
import type { ProvenanceBundle } from "../decode/provenance-bundle.js";
import { faultText, listed } from "../errors.js";
import { type ProvenanceFault, differing, signerFaults } from "./build-signer.js";
import type { DemandedRelease, ProvenanceDemand } from "./provenance-demand.js";

type Faults = readonly ProvenanceFault[];

/** The faults by check: `provenance.bundle`, `provenance.signer` and `provenance.subject`. */
interface DemandFaults {
  readonly bundle: Faults;
  readonly signer: Faults;
  readonly statement: Faults;
}

export function demandFaults(
  bundle: ProvenanceBundle,
  identity: BuildIdentity,
  demand: ProvenanceDemand,
): DemandFaults {
  if (demand.githubRelease !== undefined) return releaseFaults(bundle, identity, demand.githubRelease);
  return {
    bundle: [],
    signer: signerFaults(identity, demand),
    statement: typeFaults(bundle, demand.predicateTypes),
  };
}

function typeFaults({ statement: { predicateType } }: ProvenanceBundle, wanted: readonly string[]): Faults {
  if (wanted.includes(predicateType)) return [];
  return [differing("the statement is of another type", listed(wanted, " or "), predicateType)];
}

/** Compares a bundle with a release. GitHub signs all releases with one identity, so only the predicate names it. */
function releaseFaults(bundle: ProvenanceBundle, { san }: BuildIdentity, wanted: DemandedRelease): DemandFaults {
  const name = releaseName(wanted.tenant);
  return {
    bundle: [
      ...(bundle.logEntries > 0 ? [{ detail: "a log entry, which no release of GitHub has" }] : []),
      ...(bundle.timestamps === 0 ? [{ detail: "no RFC 3161 timestamp, which each release of GitHub has" }] : []),
    ],
    signer: [
      ...(san === name ? [] : [differing("another subject alternative name", name, san)]),
      ...(san !== name || isNamedByUri(bundle.certificate)
        ? []
        : [{ detail: "the subject alternative name is an email address, expected a URI" }]),
      ...(namesIssuer(bundle.certificate)
        ? [{ detail: "the certificate has an issuer (.8 or .1), so it is that of a build" }]
        : []),
    ],
    statement: isReleaseType(bundle.statement.predicateType)
      ? predicateFaults(bundle, wanted)
      : typeFaults(bundle, RELEASE_TYPES),
  };
}

const COMPARED = ["repository", "repositoryId", "tag"] as const satisfies readonly (keyof GithubRelease)[];

function predicateFaults(bundle: ProvenanceBundle, wanted: DemandedRelease): Faults {
  const { value, faults } = readGithubRelease(bundle);
  if (faults.length > 0) return [{ detail: faultText(faults) }];
  return COMPARED.flatMap((name) => {
    const [expected, actual] = [wanted[name], value[name]];
    return expected === undefined || actual === expected
      ? []
      : [differing(`another ${name} in the predicate`, expected, actual ?? null)];
  });
}
