/** `bootproof stamp`: writes the X-Stamp header's value for a body on stdin. */
import { commandOf } from "./command.js";
import { keySourceOf, stamperOf } from "./connection.js";
import { EXIT } from "./exit-codes.js";
import { STDIN } from "./files.js";

const MAX_BODY_BYTES = 16 * 1024 * 1024;

const EXAMPLES = `
The stamp covers every byte of stdin, up to the last line feed: send the same bytes (curl: --data-binary, not -d). The
key comes from --api-key-file, or from BOOTPROOF_API_PUBLIC_KEY and BOOTPROOF_API_PRIVATE_KEY.

Examples:
    $ curl "$BASE_URL/public/v1/query/get_user" --data-binary @body.json -H "Content-Type: application/json" \\
        -H "X-Stamp: $(bootproof stamp --api-key-file key.json < body.json)"`;

export const addStampCommand = commandOf(
  "stamp",
  {
    description: "Print the value of the X-Stamp header that authenticates the body on stdin.",
    usage: "--api-key-file FILE < BODY",
    help: EXAMPLES,
  },
  async ({ args, flags, files, io }) => {
    const source = keySourceOf(args, flags, io);
    args.throwFaults();
    const stamper = await stamperOf(source!, io);
    const body = await files.raw(STDIN, MAX_BODY_BYTES);
    files.throwFaults();
    io.stdout.write(`${(await stamper.stamp(body!)).value}\n`);
    return EXIT.good;
  },
);
