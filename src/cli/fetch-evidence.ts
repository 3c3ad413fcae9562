/** Fetches evidence from the service, for `fetch` and `verify`. It verifies nothing. */
import { fromBase64 } from "../bytes.js";
import type { ActivityEvidence } from "../door/evidence.js";
import type { AskService } from "../door/evidence-source.js";
import { bootProofMembers } from "../decode/boot-proof.js";
import type { DeploymentAnswer } from "../decode/deployment.js";
import { misspelt, provisioningForm, stateInstead } from "../decode/evidence-members.js";
import { type JsonValue, isJsonObject } from "../decode/json.js";
import { faultText } from "../errors.js";
import { NamedEvidence } from "../inputs.js";
import { printable } from "../report/printable.js";
import { inTurns } from "../verify/in-turns.js";
import type { Connection } from "./connection.js";
import { connect, reached } from "./service.js";
import { type Io, UnreachableError } from "./io.js";

/** The number of concurrent requests, which is small since each response may be large. */
const AT_ONCE = 4;

/**
 * Fetches the newest boot proofs. Throws {@link UnreachableError} with all failures, each with the name of its
 * application.
 */
export async function fetchLatestBootProofs(
  apps: readonly string[],
  connection: Connection,
  io: Io,
): Promise<readonly NamedEvidence[]> {
  const [client, { fetchLatestBootProof }] = await Promise.all([connect(connection, io), import("../client/index.js")]);
  const query: AskService = (name, parameters) => client.query(name, parameters);
  io.progress(`fetching the newest boot proof of ${apps.map(printable).join(", ")} from ${hostOf(connection)}`);
  const fetched = await inTurns(apps, AT_ONCE, async (app) => {
    try {
      const bootProof = await reached(fetchLatestBootProof(query, app), connection);
      if (bootProof === null)
        throw unreachable(connection, ["the service has no boot proof of this application: check its name"]);
      return new NamedEvidence(app, requireBootProof(bootProof, connection), { latestOf: app });
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      return error.problems.map(({ message }) => `${printable(app)}: ${message}`);
    }
  });
  const failures = fetched.flatMap((one) => (Array.isArray(one) ? one : []));
  if (failures.length > 0) throw new UnreachableError(failures);
  return fetched.flatMap((one) => (Array.isArray(one) ? [] : [one]));
}

/** Returns the boot proof of a key, as it was received. */
export async function fetchBootProofOf(ephemeralKey: string, connection: Connection, io: Io): Promise<JsonValue> {
  const client = await connect(connection, io);
  io.progress(`fetching the boot proof from ${hostOf(connection)}`);
  const answer = client.query("get_boot_proof", { ephemeralKey: ephemeralKey.toLowerCase() });
  const { bootProof } = await reached(answer, connection);
  return requireBootProof(bootProof, connection);
}

/**
 * Returns the boot proof of an answer. Throws {@link UnreachableError} for a value without any member of a boot proof:
 * the service did not answer the question, so there is nothing to reject.
 */
function requireBootProof<T>(value: T, connection: Connection): Exclude<T, undefined> {
  const members = Object.keys(bootProofMembers(provisioningForm(value)));
  const spelt = misspelt(value);
  if (spelt.length > 0) throw unreachable(connection, [`the boot proof of the response: ${faultText(spelt)}`]);
  if (isJsonObject(value) && members.some((name) => value[name] !== undefined)) return value as Exclude<T, undefined>;
  throw unreachable(connection, ["the response has no member of a boot proof: check the base address"]);
}

/**
 * Fetches provisioning details. Returns only the members by which other commands recognise them. Throws
 * {@link UnreachableError} if the deployment has none, with its state.
 */
export async function fetchProvisioningDetails(deploymentId: string, connection: Connection, io: Io): Promise<object> {
  const client = await connect(connection, io);
  io.progress(`fetching the provisioning details from ${hostOf(connection)}`);
  const details = await reached(client.getTvcDeploymentProvisioningDetails({ deploymentId }), connection);
  const { attestationDocument, manifestEnvelope, provisioningState } = details;
  if (attestationDocument && manifestEnvelope)
    return { attestationDocument, manifestEnvelope, ...(provisioningState && { provisioningState }) };
  throw unreachable(connection, [stateInstead(details) ?? NO_DETAILS]);
}

/**
 * Returns the manifest of a deployment, and what the service says of it. Nobody vouches for either. Throws
 * {@link UnreachableError} for the deployment of another id or organization.
 */
export async function fetchManifest(
  deploymentId: string,
  connection: Connection,
  io: Io,
): Promise<{ readonly bytes: Uint8Array; readonly deployment: DeploymentAnswer }> {
  const client = await connect(connection, io);
  io.progress(`fetching the manifest of the deployment from ${hostOf(connection)}`);
  const { tvcDeployment: deployment } = await reached(client.getTvcDeployment({ deploymentId }), connection);
  const bytes = fromBase64(deployment.manifest.manifest);
  const faults = [
    ...mistakenIn("get_tvc_deployment: this is not the requested deployment", deployment, deploymentId, connection),
    ...(bytes === null ? ["get_tvc_deployment: its manifest is not base64"] : []),
  ];
  if (faults.length > 0) throw unreachable(connection, faults);
  return { bytes: bytes!, deployment };
}

/** Returns a message for each member of an answer that is not the requested one. Messages begin with `says`. */
export function mistakenIn(
  says: string,
  answered: { readonly id?: unknown; readonly organizationId?: unknown },
  id: string,
  { organizationId }: Connection,
): string[] {
  const wanted = { id, organizationId };
  return (["id", "organizationId"] as const)
    .filter((name) => answered[name] !== wanted[name])
    .map((name) => {
      const given = answered[name];
      const shown = typeof given === "string" ? given.slice(0, MAX_SHOWN) : "missing";
      return `${says}: ${name} is ${shown}, ${wanted[name]} was requested`;
    });
}

/** Characters of an id that are shown. */
export const MAX_SHOWN = 100;

/**
 * Fetches the evidence of an activity. Throws {@link UnreachableError} if the activity itself is missing: app proofs
 * for an id alone do not show what was requested.
 */
export async function fetchActivityEvidence(
  wanted: { readonly activityId: string } | { readonly activity: JsonValue },
  connection: Connection,
  io: Io,
): Promise<ActivityEvidence<JsonValue>> {
  const [client, library] = await Promise.all([connect(connection, io), import("../client/index.js")]);
  const query: AskService = (name, parameters) => client.query(name, parameters);
  const host = hostOf(connection);
  io.progress(`fetching the activity and its app proofs from ${host}`);
  const activity =
    "activity" in wanted ? wanted.activity : await reached(library.fetchActivity(query, wanted.activityId), connection);
  if (activity === null && "activityId" in wanted)
    throw unreachable(connection, [`the service does not return the activity ${wanted.activityId} ${NO_ACTIVITY}`]);
  const whole = await reached(library.withAppProofs(query, activity), connection);
  return reached(
    library.fetchEvidence(whole, async (key, index, count) => {
      io.progress(`fetching the boot proof of key ${index + 1} of ${count} from ${host}`);
      const bootProof = await library.fetchBootProof(query, key);
      return bootProof && requireBootProof(bootProof, connection);
    }),
    connection,
  );
}

function hostOf({ baseUrl }: Connection): string {
  return new URL(baseUrl).host;
}

const NO_DETAILS =
  "get_tvc_deployment_provisioning_details: the response lacks attestationDocument or manifestEnvelope: check the " +
  "base address";
const NO_ACTIVITY =
  "(get_activity). If you have the response to its submission, give that with --activity FILE: app proofs that are " +
  "fetched by an id alone do not show what was requested.";

export function unreachable({ baseUrl }: Connection, messages: readonly string[]): UnreachableError {
  return new UnreachableError(messages.map((message) => printable(`${baseUrl}: ${message}`)));
}
