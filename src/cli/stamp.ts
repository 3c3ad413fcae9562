/** `bootproof stamp`: writes the X-Stamp header's value for a body on stdin. */
import type { Command } from "commander";
import { keySourceOf, stamperOf } from "./connection.js";
import { EXIT } from "./exit-codes.js";
import { InputFiles, STDIN } from "./files.js";
import type { Io } from "./io.js";
import type { Flags } from "./option-table.js";
import { ArgumentReader } from "./options.js";

const MAX_BODY_BYTES = 16 * 1024 * 1024;

const EXAMPLES = `
The stamp covers every byte of stdin, up to the last line feed: send the same bytes (curl: --data-binary, not -d). The
key comes from --api-key-file, or from BOOTPROOF_API_PUBLIC_KEY and BOOTPROOF_API_PRIVATE_KEY.

Examples:
    $ curl "$BASE_URL/public/v1/query/get_user" --data-binary @body.json -H "Content-Type: application/json" \\
        -H "X-Stamp: $(bootproof stamp --api-key-file key.json < body.json)"`;

export function addStampCommand(command: Command, io: Io, finish: (code: number) => void): void {
  command
    .description("Print the value of the X-Stamp header that authenticates the body on stdin.")
    .usage("--api-key-file FILE < BODY")
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(command);
  command.action(async (flags: Flags<"stamp">) => {
    args.refuseRepeated();
    const source = keySourceOf(args, flags, io);
    args.throwFaults();
    const stamper = await stamperOf(source!, io);
    const files = new InputFiles(io);
    const body = await files.raw(STDIN, MAX_BODY_BYTES);
    files.throwFaults();
    io.stdout.write(`${(await stamper.stamp(body!)).value}\n`);
    finish(EXIT.good);
  });
}
