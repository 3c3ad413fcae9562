/** `bootproof keygen`: writes a new API key to a file that only its owner can read. */
import type { Command } from "commander";
import { printable } from "../report/printable.js";
import { asClientError } from "./connection.js";
import { EXIT } from "./exit-codes.js";
import { type Io, UsageError } from "./io.js";
import { DEFAULT_KEY_FILE } from "./key-files.js";
import type { Flags } from "./option-table.js";
import { ArgumentReader } from "./options.js";

const EXAMPLES = `
Register the public key, on stdout, with the service. The private key is only in the file.

Examples:
    $ bootproof keygen --out key.json
    $ bootproof fetch --app signer --api-key-file key.json --base-url https://api.example.com --organization-id ID`;

export function addKeygenCommand(command: Command, io: Io, finish: (code: number) => void): void {
  command
    .description(
      "Make an API key pair (P-256): a file of mode 0600, and the public key on stdout. No file is ever overwritten.",
    )
    .usage("[--out FILE]")
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(command);
  command.action(async ({ out }: Flags<"keygen">) => {
    args.refuseRepeated();
    if (out === "" || out === "-") args.fault("--out: expected a file, since a private key is not printed");
    args.throwFaults();
    io.stdout.write(`${await makeKey(out ?? DEFAULT_KEY_FILE)}\n`);
    io.stderr.write(printable(`${out ?? DEFAULT_KEY_FILE} has the private key; the public key is above`) + "\n");
    finish(EXIT.good);
  });
}

/** Returns the public key. */
async function makeKey(path: string): Promise<string> {
  const [{ generateApiKey }, { writeApiKeyFile }] = await Promise.all([
    import("../client/stamp.js"),
    import("../client/key-file.js"),
  ]);
  const key = await generateApiKey();
  try {
    await writeApiKeyFile(path, key);
  } catch (error) {
    throw new UsageError([printable((await asClientError(error)).message)]);
  }
  return key.publicKey;
}
