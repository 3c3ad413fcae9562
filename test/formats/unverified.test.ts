import { expect, it } from "vitest";
import { RENDERERS } from "../../src/formats/unverified.js";
import { type Inspection } from "../../src/inspect/inspect.js";
import { FORMATS } from "../../src/report/report.js";

const PLAIN = { color: false };
const inspection: Inspection = {
  "NOT VERIFIED": "Nothing below was checked.",
  kind: "app proof",
  encoding: "JSON",
  faults: [],
  leftOut: [],
  says: null,
};

it("are the ones that are documented", () => {
  expect(FORMATS).toEqual(["text", "json"]);
  expect(Object.keys(RENDERERS)).toEqual([...FORMATS]);
});

it("render inspections", () => {
  expect(RENDERERS.text.inspection(inspection, PLAIN)).toMatch(/^NOT VERIFIED/);
  expect(JSON.parse(RENDERERS.json.inspection(inspection, PLAIN))).toEqual(inspection);
});
