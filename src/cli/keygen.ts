/** `bootproof keygen`: writes a new API key to a file that only its owner can read. */
import { randomBytes } from "node:crypto";
import { printable } from "../report/printable.js";
import type { KeyType } from "../signed-policy/index.js";
import { commandOf } from "./command.js";
import { asClientError } from "./connection.js";
import { EXIT } from "./exit-codes.js";
import { type Io, UsageError } from "./io.js";
import { DEFAULT_KEY_FILE } from "./option-table.js";

const EXAMPLES = `
Register the public key, on stdout, with the service. The private key is only in the file. With --type, the file is
PKCS#8 in PEM, and the public key on stdout is PEM for the signers file of a signed policy.

Examples:
    $ bootproof keygen --out key.json
    $ bootproof keygen --type p256 --out alice.pem
    $ bootproof fetch --app signer --api-key-file key.json --base-url https://api.example.com --organization-id ID`;

/** The types of keys that sign policies, by their names on the command line. */
export const KEY_TYPES = { p256: "P-256", p384: "P-384", ed25519: "Ed25519" } as const;

export const addKeygenCommand = commandOf(
  "keygen",
  {
    description:
      "Make an API key pair (P-256), or a key that signs policies: a file of mode 0600, and the public key on " +
      "stdout. No file is ever overwritten.",
    usage: "[--type TYPE] [--out FILE]",
    help: EXAMPLES,
  },
  async ({ args, flags: { type, out = DEFAULT_KEY_FILE }, io }) => {
    if (type !== undefined && !Object.hasOwn(KEY_TYPES, type))
      args.fault(`--type ${type}: expected one of ${Object.keys(KEY_TYPES).join(", ")}`);
    if (type !== undefined && out === DEFAULT_KEY_FILE) args.fault("--out FILE is required with --type");
    if (out === "" || out === "-") args.fault("--out: expected a file, since a private key is not printed");
    args.throwFaults();
    if (type !== undefined) return makePolicyKey(KEY_TYPES[type as keyof typeof KEY_TYPES], out, io);
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

async function makePolicyKey(type: KeyType, out: string, io: Io): Promise<number> {
  const [{ makeSigningKey, readSigningKey }, { createWhole }] = await Promise.all([
    import("../signed-policy/index.js"),
    import("../disk/whole.js"),
  ]);
  const pem = await makeSigningKey(type, (length) => randomBytes(length));
  await createWhole(out, pem, { mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    const isThere = error.code === "EEXIST";
    const why = isThere ? "exists already, and a key is never overwritten: choose another name" : "cannot be written";
    throw new UsageError([{ file: out, message: why }]);
  });
  io.stdout.write((await readSigningKey(pem)).publicKey.pem);
  io.stderr.write(printable(`${out} has the private key; the public key is above`) + "\n");
  return EXIT.good;
}
