/** `bootproof page`: makes the page that verifies files. */
import { commandOf } from "./command.js";
import { EXIT } from "./exit-codes.js";

const EXAMPLES = `
It writes a page to stdout that verifies the files dropped on it, in any browser, without a server or a network. The
page of a verification is made by bootproof verify --format html; bootproof verify report.html verifies its evidence.

Example:
    $ bootproof page > verifier.html

Exit codes: 0 written, 2 wrong usage.`;

export const addPageCommand = commandOf("page", { help: EXAMPLES }, async ({ io }) => {
  const { renderVerifier } = await import("../page/page.js");
  io.stdout.write(await renderVerifier());
  return EXIT.good;
});
