/** `bootproof page`: makes the page that verifies files. */
import type { Command } from "commander";
import { EXIT } from "./exit-codes.js";
import type { Io } from "./io.js";

const EXAMPLES = `
It writes a page to stdout that verifies the files dropped on it, in any browser, without a server or a network. The
page of a verification is made by bootproof verify --format html; bootproof verify report.html verifies its evidence.

Example:
    $ bootproof page > verifier.html

Exit codes: 0 written, 2 wrong usage.`;

export function addPageCommand(command: Command, io: Io, finish: (code: number) => void): void {
  command.description("Make a page that verifies evidence in a browser.").addHelpText("after", EXAMPLES);
  command.action(async () => {
    const { renderVerifier } = await import("../page/page.js");
    io.stdout.write(await renderVerifier());
    finish(EXIT.good);
  });
}
