/** The output formats of commands that verify nothing, one row each. */
import type { Difference } from "../diff/diff.js";
import { renderDiff } from "../diff/text.js";
import type { Inspection } from "../inspect/inspect.js";
import { renderInspection } from "../inspect/text.js";
import { renderJson } from "../report/json.js";
import type { TextOptions } from "../show/text.js";
import type { Format } from "../report/report.js";

interface Renderer {
  readonly inspection: (inspection: Inspection, options: TextOptions) => string;
  readonly difference: (difference: Difference, options: TextOptions) => string;
}

export const RENDERERS: Readonly<Record<Format, Renderer>> = {
  text: { inspection: renderInspection, difference: renderDiff },
  json: { inspection: (inspection) => renderJson(inspection), difference: (difference) => renderJson(difference) },
};
