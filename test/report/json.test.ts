import { expect, it } from "vitest";
import { renderJson } from "../../src/report/json.js";
import { REPORT_MEMBERS, report, reportOf } from "./reports.js";

it("is the report, member for member, in the order of the contract", () => {
  const text = renderJson(report({}));
  expect(JSON.parse(text)).toEqual(report({}));
  expect(Object.keys(JSON.parse(text) as object)).toEqual(REPORT_MEMBERS);
  expect(text.endsWith("}\n")).toBe(true);
});

it("keeps what steers a terminal escaped", () => {
  const hostile = reportOf({ hardware: { moduleId: "\u001b[2J\u009b\u202e\u007f" } });
  expect(renderJson(hostile)).toMatch(/^[\n\x20-\x7e]*$/);
  expect(JSON.parse(renderJson(hostile))).toEqual(hostile);
});
