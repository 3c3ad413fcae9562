/** Callers' validators of payloads: Standard Schema, version 1 (https://standardschema.dev). */
import { copyPlain } from "../decode/input.js";
import type { JsonObject } from "../decode/json.js";
import { type Fault, FaultList, faultText, shownName } from "../errors.js";
import { ClientError } from "../door/errors.js";

/** The part of the Standard Schema interface that is used: schemas of zod, valibot, arktype and others have it. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Schemas by the `type` of the payload. */
export type PayloadSchemas = Readonly<Record<string, StandardSchema>>;

export type SchemaOutput<Schema> = Schema extends StandardSchema<infer Output> ? Output : never;

interface ValidatedPayload {
  /** Path of the payload, with which the paths of faults begin. */
  readonly path: string;
  readonly type: string;
  readonly json: JsonObject;
}

interface Output {
  readonly value: unknown;
  readonly faults: readonly Fault[];
}

type Validate = (value: unknown) => unknown;

/**
 * Reads the schemas once, and returns a function that validates payloads. Throws TypeError if they are not schemas. The
 * function returns an output for each payload, or undefined if its type has no schema. It throws {@link ClientError}
 * (`schema`) with the issues of all payloads.
 */
export function readSchemas(
  schemas: PayloadSchemas = {},
): (payloads: readonly ValidatedPayload[]) => Promise<unknown[]> {
  if (typeof schemas !== "object" || schemas === null || Array.isArray(schemas))
    throw new TypeError("schemas: expected an object of schemas by payload type");
  const validators = new Map(Object.entries(schemas).map(([type, schema]) => [type, validatorOf(type, schema)]));
  return async (payloads) => {
    const outputs = await Promise.all(
      payloads.map(async ({ path, type, json }) => {
        const validate = validators.get(type);
        return validate === undefined ? NO_OUTPUT : outputOf(await validate(copyPlain(json)), path);
      }),
    );
    const faults = new FaultList();
    faults.push(...outputs.flatMap((output) => output.faults));
    if (faults.length === 0) return outputs.map(({ value }) => value);
    const message = `the app proofs are verified, but payloads do not fit your schemas: ${faultText(faults)}`;
    throw new ClientError("schema", message, { faults });
  };
}

function validatorOf(type: string, schema: unknown): Validate {
  const isHolder = (typeof schema === "object" && schema !== null) || typeof schema === "function";
  const standard = isHolder ? (schema as Partial<StandardSchema>)["~standard"] : undefined;
  const { version, validate } = standard ?? {};
  if (version !== 1 || typeof validate !== "function")
    throw new TypeError(
      `schemas.${shownName(type)}: expected a Standard Schema of version 1 (https://standardschema.dev)`,
    );
  return (value) => validate.call(standard, value);
}

const NO_OUTPUT: Output = { value: undefined, faults: [] };

/** Returns the output of a schema. Every result with issues, or without a value, is a fault. */
function outputOf(result: unknown, path: string): Output {
  if (typeof result !== "object" || result === null) return { value: undefined, faults: [{ path, message: NEITHER }] };
  const { issues, value } = result as { readonly issues?: unknown; readonly value?: unknown };
  if (issues === undefined && "value" in result) return { value, faults: [] };
  const named = Array.isArray(issues) ? (issues as readonly SchemaIssue[]) : [];
  const faults = named.map((issue) => ({ path: issuePath(path, issue), message: issue.message }));
  return { value: undefined, faults: faults.length > 0 ? faults : [{ path, message: NEITHER }] };
}

const NEITHER = "the schema returned neither a value nor an issue";

function issuePath(path: string, { path: steps }: SchemaIssue): string {
  const keys = Array.from(steps ?? [], (step) => (typeof step === "object" ? step.key : step));
  return keys.reduce<string>(
    (before, key) => (typeof key === "number" ? `${before}[${key}]` : `${before}.${shownName(String(key))}`),
    path,
  );
}
