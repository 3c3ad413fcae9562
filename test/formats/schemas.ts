/** The published schemas of the formats for CI, asked by readers that are not ours: what they find wrong. */
import Ajv from "ajv-draft-04";
import addFormats from "ajv-formats";
import { validateXML } from "xmllint-wasm";
import { readVectorJson, readVectorText } from "../support/vectors.js";

const JUNIT = { fileName: "junit.xsd", contents: readVectorText("schemas/jenkins-junit.xsd") };

/** By libxml2, which takes half a second to be loaded, and therefore all at once. */
export async function junitFaults(...reports: readonly string[]): Promise<string[]> {
  const xml = reports.map((contents, index) => ({ fileName: `report-${index}.xml`, contents }));
  const { errors } = await validateXML({ xml, schema: [JUNIT] });
  return errors.map(({ rawMessage }) => rawMessage);
}

// One of the schema's patterns is none where regular expressions are read strictly.
const ajv = new Ajv.default({ strict: false, allErrors: true, unicodeRegExp: false });
addFormats.default(ajv as unknown as Parameters<typeof addFormats.default>[0]);
const isSarif = ajv.compile(readVectorJson<object>("schemas/sarif-2.1.0-rtm.5.json"));

export function sarifFaults(log: unknown): string[] {
  isSarif(log);
  return (isSarif.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}
