/**
 * The identity in a certificate for a build: Fulcio's extensions (decode/README.md, "Build identity") and the
 * subject alternative name. It reads extensions 1.3.6.1.4.1.57264.1.8 and up, which are DER, but not the older raw ones
 * (.1 to .6).
 */
import { type Certificate, decodeAltName, decodeUtf8String } from "./certificate.js";
import { FaultList, type Reading, attempt, faultText } from "../errors.js";

const FULCIO = "1.3.6.1.4.1.57264.1";
const ALT_NAME = "2.5.29.17";
const ALT_NAME_WORDS = "subject alternative name";

/** The last number of each extension. */
const EXTENSIONS = {
  issuer: 8,
  /** URI of the workflow that the certificate was issued to. It can be a reusable workflow. */
  signer: 9,
  runner: 11,
  repository: 12,
  commit: 13,
  ref: 14,
  repositoryId: 15,
  /** URI of the workflow that was started first, with the ref. */
  buildConfig: 18,
  trigger: 20,
} as const;

/** The identity in a certificate. An absent extension is null. */
export type BuildIdentity = { readonly [Name in keyof typeof EXTENSIONS]: string | null } & {
  /** The subject alternative name, a URI or an email address. */
  readonly san: string;
};

/** Returns the name of a member for messages, such as `repository (.12)`. */
export function extensionText(name: keyof typeof EXTENSIONS): string {
  return `${name} (.${EXTENSIONS[name]})`;
}

/** Returns the good members, and a fault for each extension that is repeated or malformed. */
export function readBuildIdentity({ extensions }: Pick<Certificate, "extensions">): Reading<BuildIdentity> {
  const faults = new FaultList();
  const values = new Map<string, Uint8Array>();
  const repeated = new Set<string>();
  for (const { id, value } of extensions)
    if (values.has(id)) repeated.add(id);
    else values.set(id, value);
  for (const id of repeated) faults.push({ path: "", message: `extension ${id}: twice` });
  const valueOf = (id: string): Uint8Array | null => values.get(id) ?? null;
  const read = (id: string, what: string, decode: (value: Uint8Array, what: string) => string): string | null => {
    const value = valueOf(id);
    if (value === null) return null;
    const text = attempt(() => decode(value, what));
    if (text.value === undefined) faults.push({ path: "", message: faultText(text.faults) });
    return text.value ?? null;
  };
  const names = Object.keys(EXTENSIONS) as (keyof typeof EXTENSIONS)[];
  const members = Object.fromEntries(
    names.map((name) => [name, read(`${FULCIO}.${EXTENSIONS[name]}`, extensionText(name), decodeUtf8String)]),
  ) as { [Name in keyof typeof EXTENSIONS]: string | null };
  const san = read(ALT_NAME, ALT_NAME_WORDS, (value, what) => decodeAltName(value, what).text);
  if (san === null && valueOf(ALT_NAME) === null) faults.push({ path: "", message: `no ${ALT_NAME_WORDS}` });
  return { value: Object.freeze({ ...members, san: san ?? "" }), faults };
}

/** Whether a certificate has the issuer of an identity, also in the older raw form (.1). */
export function namesIssuer({ extensions }: Pick<Certificate, "extensions">): boolean {
  return extensions.some(({ id }) => id === `${FULCIO}.1` || id === `${FULCIO}.${EXTENSIONS.issuer}`);
}

/** Whether the name of a certificate is a URI. An email address of the same text is the name of somebody else. */
export function isNamedByUri({ extensions }: Pick<Certificate, "extensions">): boolean {
  const name = extensions.find(({ id }) => id === ALT_NAME);
  return name !== undefined && attempt(() => decodeAltName(name.value, ALT_NAME_WORDS)).value?.isUri === true;
}

/**
 * Returns the path of the workflow that was started first, which is the text between repository and ref in extension
 * .18. Returns null unless all of .18 is `repository/PATH@ref`. Nothing is split at `@`, which paths and refs may
 * contain.
 */
export function buildWorkflow({ buildConfig, repository, ref }: BuildIdentity): string | null {
  const [start, end] = [`${repository}/`, `@${ref}`];
  if (buildConfig === null || repository === null || ref === null) return null;
  if (!buildConfig.startsWith(start) || !buildConfig.endsWith(end)) return null;
  return buildConfig.slice(start.length, -end.length) || null;
}
