/** `bootproof keygen`: writes a new API key to a file that only its owner can read. */
import { printable } from "../report/printable.js";
import { commandOf } from "./command.js";
import { asClientError } from "./connection.js";
import { EXIT } from "./exit-codes.js";
import { UsageError } from "./io.js";
import { DEFAULT_KEY_FILE } from "./option-table.js";

const EXAMPLES = `
Register the public key, on stdout, with the service. The private key is only in the file.

Examples:
    $ bootproof keygen --out key.json
    $ bootproof fetch --app signer --api-key-file key.json --base-url https://api.example.com --organization-id ID`;

export const addKeygenCommand = commandOf(
  "keygen",
  {
    description:
      "Make an API key pair (P-256): a file of mode 0600, and the public key on stdout. No file is ever overwritten.",
    usage: "[--out FILE]",
    help: EXAMPLES,
  },
  async ({ args, flags: { out = DEFAULT_KEY_FILE }, io }) => {
    if (out === "" || out === "-") args.fault("--out: expected a file, since a private key is not printed");
    args.throwFaults();
    const [{ generateApiKey }, { writeApiKeyFile }] = await Promise.all([
      import("../client/stamp.js"),
      import("../client/key-file.js"),
    ]);
    const key = await generateApiKey();
    try {
      await writeApiKeyFile(out, key);
    } catch (error) {
      throw new UsageError([printable((await asClientError(error)).message)]);
    }
    io.stdout.write(`${key.publicKey}\n`);
    io.stderr.write(printable(`${out} has the private key; the public key is above`) + "\n");
    return EXIT.good;
  },
);
