/** `bootproof key`: makes keys, shows their public halves, and stamps requests. */
import { randomBytes } from "node:crypto";
import { diskReason } from "../disk/reason.js";
import { printable } from "../report/printable.js";
import type { KeyType } from "../signed-policy/keys.js";
import { commandOf, groupOf } from "./command.js";
import { keySourceOf } from "./connection.js";
import { asClientError, stamperOf } from "./service.js";
import { EXIT } from "./exit-codes.js";
import { STDIN } from "./files.js";
import { type Io, UsageError } from "./io.js";
import { KeyRefusal, privateKeyIn } from "./key-files.js";
import { DEFAULT_KEY_FILE } from "./option-rows.js";

const NEW_HELP = `
Register the public key, on stdout, with the service. The private key is only in the file. With --type, the file is
PKCS#8 in PEM, and the public key on stdout is PEM for the signers file of a signed policy.

Examples:
    $ bootproof key new --out key.json
    $ bootproof key new --type p256 --out alice.pem
    $ bootproof fetch --app signer --api-key-file key.json --base-url https://api.example.com --organization-id ID`;

/** The types of keys that sign policies, by their names on the command line. */
const KEY_TYPES = { p256: "P-256", p384: "P-384", ed25519: "Ed25519" } as const;

const addNew = commandOf(
  "key new",
  {
    description:
      "Make an API key pair (P-256), or a key that signs policies: a file of mode 0600, and the public key on " +
      "stdout. No file is ever overwritten.",
    usage: "[--type TYPE] [--out FILE]",
    help: NEW_HELP,
  },
  async ({ args, flags: { type, out = DEFAULT_KEY_FILE }, io }) => {
    if (args.has("type") && out === DEFAULT_KEY_FILE) args.fault("--out FILE is required with --type");
    if (out === STDIN) args.fault("--out: expected a file, since a private key is not printed");
    args.throwFaults();
    if (type !== undefined) return makePolicyKey(KEY_TYPES[type], out, io);
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
    return shown(`${key.publicKey}\n`, out, io);
  },
);

async function makePolicyKey(type: KeyType, out: string, io: Io): Promise<number> {
  const [{ makeSigningKey, readSigningKey }, { createWhole }] = await Promise.all([
    import("../signed-policy/index.js"),
    import("../disk/whole.js"),
  ]);
  const pem = await makeSigningKey(type, (length) => randomBytes(length));
  await createWhole(out, pem, { mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    const message = diskReason(error, {
      EEXIST: "exists already, and a key is never overwritten: choose another name",
    });
    throw new UsageError([{ file: out, message: message ?? error.message }]);
  });
  return shown((await readSigningKey(pem)).publicKey.pem, out, io);
}

/** Prints the public half of a key that was made, and says where the private one is. */
function shown(publicKey: string, out: string, io: Io): number {
  io.stdout.write(publicKey);
  io.stderr.write(printable(`${out} has the private key; the public key is above`) + "\n");
  return EXIT.good;
}

const MAX_BODY_BYTES = 16 * 1024 * 1024;

const STAMP_HELP = `
The stamp covers every byte of stdin, up to the last line feed: send the same bytes (curl: --data-binary, not -d). The
key comes from --api-key-file, or from BOOTPROOF_API_PUBLIC_KEY and BOOTPROOF_API_PRIVATE_KEY.

Examples:
    $ curl "$BASE_URL/public/v1/query/get_user" --data-binary @body.json -H "Content-Type: application/json" \\
        -H "X-Stamp: $(bootproof key stamp --api-key-file key.json < body.json)"`;

const addStamp = commandOf(
  "key stamp",
  {
    usage: "--api-key-file FILE < BODY",
    help: STAMP_HELP,
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

const MAX_KEY_BYTES = 64 * 1024;

const SHOW_HELP = `
Of an API key its public key in hex, of a key in PEM the public key in PEM. With --origin, an Ed25519 key of a log is
shown as a vkey of signed notes, by which other tools verify checkpoints.

Examples:
    $ bootproof key show key.json
    $ bootproof key show log.pem --origin bootproof-log/signer`;

const addShow = commandOf<"key show", [file: string]>(
  "key show",
  { help: SHOW_HELP },
  async ({ args, flags: { origin }, files, io }, path) => {
    args.throwFaults();
    const bytes = await files.raw(path, MAX_KEY_BYTES);
    files.throwFaults();
    const { kindOf } = await import("../inspect/kinds.js");
    const isApiKey = kindOf(bytes!) === "API key" && path !== STDIN;
    if (isApiKey && origin !== undefined)
      throw new UsageError(["--origin is for the key of a log, and this is an API key"]);
    if (isApiKey) io.stdout.write(await publicHexOf(path));
    else {
      const text = files.textOf(path, bytes!) ?? "";
      const pem = await publicPemOf(text).catch((error: unknown) => files.fault(path, messageOf(error)));
      files.throwFaults();
      io.stdout.write(origin === undefined ? pem! : `${await vkeyFor(origin, pem!)}\n`);
    }
    return EXIT.good;
  },
);

async function publicHexOf(path: string): Promise<string> {
  const { readApiKeyFile } = await import("../client/key-file.js");
  try {
    return `${(await readApiKeyFile(path)).key.publicKey}\n`;
  } catch (error) {
    throw new UsageError([printable((await asClientError(error)).message)]);
  }
}

/** Errors of the platform may quote the file. */
function messageOf(error: unknown): string {
  return error instanceof KeyRefusal ? error.message : "no key: expected an API key file, or a key in PEM";
}

async function publicPemOf(text: string): Promise<string> {
  const { createPublicKey } = await import("node:crypto");
  const key = createPublicKey((await privateKeyIn(text)) ?? text);
  return key.export({ type: "spki", format: "pem" }).toString();
}

async function vkeyFor(origin: string, pem: string): Promise<string> {
  const { vkeyOf } = await import("../run/index.js");
  return vkeyOf(origin, pem).catch((error: unknown) => {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError([`--origin: ${printable(error.message)}`]);
  });
}

export const addKeyCommand = groupOf(
  {
    help: `
Examples:
    $ bootproof key new --out key.json
    $ bootproof key show key.json`,
  },
  {
    new: { summary: "make an API key, or a key that signs policies", add: addNew },
    show: {
      summary: "show the public half of a key file",
      operands: { "<file>": "an API key file, or a key in PEM; - for PEM on stdin" },
      add: addShow,
    },
    stamp: { summary: "print the stamp of a request's body, for curl", add: addStamp },
  },
);
