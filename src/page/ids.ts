import { EVIDENCE_ID } from "../bundle/page.js";

/** The ids by which the script finds its places in the page. */
export const IDS = {
  evidence: EVIDENCE_ID,
  script: "bootproof-script",
  about: "about",
  command: "own-command",
  form: "form",
  drop: "drop",
  files: "files",
  list: "file-list",
  verify: "verify",
  verifyHint: "verify-hint",
  faults: "faults",
  said: "said",
  result: "result",
} as const;
