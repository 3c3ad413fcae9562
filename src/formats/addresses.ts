/** The table of addresses as JUnit XML: a test case for each address. */
import { CLASSES, isAcceptedClass } from "../addresses/classes.js";
import {
  type AddressResult,
  type TableRow,
  faultsOf,
  headlineOf,
  limitsOf,
  rowFacts,
  tableFault,
} from "../show/addresses.js";
import { leaf, suiteText, testCase } from "./junit.js";

export function tableJunit(result: AddressResult): string {
  const fault = tableFault(result);
  const isWhole = result.unfetched.length === 0;
  const failure = leaf(isWhole ? "failure" : "error", { type: "table", message: headlineOf(result) }, faultsOf(result));
  const output = leaf("system-out", {}, [headlineOf(result), ...result.warnings, ...limitsOf(result)]);
  const isRefused = (row: TableRow): boolean => !isAcceptedClass(row.class, result.accepted);
  const cases = result.rows.flatMap((row) => {
    const message = row.reason ?? CLASSES[row.class].meaning;
    const failed = isRefused(row) ? [leaf("failure", { type: row.class, message }, rowFacts(row))] : [];
    const name = [row.address, ...rowFacts(row).slice(0, 1), `organization ${row.organizationId}`].join(", ");
    return testCase("addresses", name, failed);
  });
  const counts = {
    tests: result.rows.length + 1,
    failures: result.rows.filter(isRefused).length + (fault !== null && isWhole ? 1 : 0),
    errors: isWhole ? 0 : 1,
    skipped: 0,
  };
  const table = testCase("addresses", "table", [...(fault === null ? [] : [failure]), output]);
  return suiteText(counts, result.verifiedAt.toISOString().slice(0, 19), [...table, ...cases]);
}
