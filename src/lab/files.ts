/** What a client needs of a lab, as files: so that a script can use it without a word of TypeScript. */
import { chmod, mkdir, open, rename } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "../decode/json.js";
import { LAB_FILE, type Lab } from "./lab.js";

/** `lab.json`; file names are relative to it. */
export interface LabFiles {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly childOrganizationId: string;
  readonly apiKeyFile: string;
  readonly trustAnchorFile: string;
  readonly policyFile: string;
  readonly ids: Lab["ids"];
  /** The activity that made the wallet, with app proofs of its addresses. */
  readonly walletActivityId: string;
  readonly jwksUrl: string;
  /** GET and PUT `{"faults": ["name"]}` there. */
  readonly faultsUrl: string;
  /** Of a root user of the child organization. */
  readonly child: {
    readonly userId: string;
    readonly walletId: string;
    readonly walletActivityId: string;
    readonly apiKeyFile: string;
  };
  /** Of a user whom policies bind. */
  readonly operator: { readonly userId: string; readonly apiKeyFile: string };
}

const SECRET = 0o600;
const PUBLIC = 0o644;

/** Writes the files into the folder, each whole or not at all, `lab.json` last. */
export async function writeLabFiles(lab: Lab, folder: string): Promise<LabFiles> {
  const { baseUrl, organizationId, childOrganizationId, ids, walletActivityId, jwksUrl, faultsUrl, child, operator } =
    lab;
  const files: LabFiles = {
    baseUrl,
    organizationId,
    childOrganizationId,
    apiKeyFile: "api-key.json",
    trustAnchorFile: "trust-anchor.pem",
    policyFile: "policy.json",
    ids,
    walletActivityId,
    jwksUrl,
    faultsUrl,
    child: {
      userId: child.userId,
      walletId: child.walletId,
      walletActivityId: child.walletActivityId,
      apiKeyFile: "child-api-key.json",
    },
    operator: { userId: operator.userId, apiKeyFile: "operator-api-key.json" },
  };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeWhole(join(folder, files.apiKeyFile), json(lab.apiKey), SECRET);
  await writeWhole(join(folder, files.child.apiKeyFile), json(child.apiKey), SECRET);
  await writeWhole(join(folder, files.operator.apiKeyFile), json(operator.apiKey), SECRET);
  await writeWhole(join(folder, files.trustAnchorFile), lab.trustAnchorPem, PUBLIC);
  await writeWhole(join(folder, files.policyFile), json(lab.policyFile), PUBLIC);
  await writeWhole(join(folder, LAB_FILE), json(files), PUBLIC);
  return files;
}

function json(value: JsonObject | object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** A reader sees the old file or the new one, never a part. */
async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const beside = `${path}.${process.pid}.tmp`;
  const file = await open(beside, "w", mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  // The mode given to open is reduced by the umask, and applies to new files only.
  await chmod(beside, mode);
  await rename(beside, path);
}
