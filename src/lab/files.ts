/** Files for clients of a lab in any language. */
import { type FolderFile, claimFolder } from "./folder.js";
import { LAB_FILE, type Lab } from "./lab.js";
import { type Published, fileJson } from "./publication.js";

type LabPlaces = "baseUrl" | "organizationId" | "childOrganizationId" | "ids" | "walletActivityId" | "jwksUrl";
type SwitchedPlaces = "faultsUrl" | "policyFeedUrl" | "signerPublicKey";
type KeyFileOf<User> = Omit<User, "apiKey"> & { readonly apiKeyFile: string };

/** The content of `lab.json`. Names of files are relative to its folder. */
export interface LabFiles extends Pick<Lab, LabPlaces | SwitchedPlaces>, Omit<Published, "files"> {
  readonly apiKeyFile: string;
  readonly trustAnchorFile: string;
  readonly policyFile: string;
  /** What consumers of the feed pin. */
  readonly policySignersFile: string;
  /** An app proof by the newest enclave of the signer, for the first address of the wallet. */
  readonly appProofFile: string;
  readonly child: KeyFileOf<Lab["child"]>;
  readonly operator: KeyFileOf<Lab["operator"]>;
}

const SECRET = 0o600;
const PUBLIC = 0o644;

function contentOf(lab: Lab): LabFiles {
  const { baseUrl, organizationId, childOrganizationId, ids, walletActivityId, jwksUrl, child, operator } = lab;
  const { files: _, ...published } = lab.published;
  const { faultsUrl, policyFeedUrl, signerPublicKey } = lab;
  const { userId, walletId } = child;
  const own = { userId, walletId, walletActivityId: child.walletActivityId };
  return {
    ...{ baseUrl, organizationId, childOrganizationId },
    apiKeyFile: "lab-api-key.json",
    trustAnchorFile: "lab-trust-anchor.pem",
    policyFile: "lab-policy.json",
    ...{ ids, walletActivityId, jwksUrl, faultsUrl, policyFeedUrl, signerPublicKey },
    policySignersFile: "lab-policy-signers.json",
    ...published,
    appProofFile: "app.json",
    child: { ...own, apiKeyFile: "lab-child-api-key.json" },
    operator: { userId: operator.userId, apiKeyFile: "lab-operator-api-key.json" },
  };
}

/**
 * Writes the files into a folder that is empty, new, or a lab's, each completely or not at all, `lab.json` last.
 * Rejects with {@link LabFolderError}, and writes nothing, if it would replace a file that no lab wrote.
 */
export async function writeLabFiles(lab: Lab, folder: string): Promise<LabFiles> {
  const files = contentOf(lab);
  const written: FolderFile[] = [
    { name: files.apiKeyFile, text: fileJson(lab.apiKey), mode: SECRET },
    { name: files.child.apiKeyFile, text: fileJson(lab.child.apiKey), mode: SECRET },
    { name: files.operator.apiKeyFile, text: fileJson(lab.operator.apiKey), mode: SECRET },
    { name: files.trustAnchorFile, text: lab.trustAnchorPem, mode: PUBLIC },
    { name: files.policyFile, text: fileJson(lab.policyFile), mode: PUBLIC },
    { name: files.policySignersFile, text: fileJson(lab.policyFeed.signers), mode: PUBLIC },
    { name: files.appProofFile, text: fileJson(await lab.appProof()), mode: PUBLIC },
    ...[...lab.published.files].map(([name, text]) => ({ name, text, mode: PUBLIC })),
    { name: LAB_FILE, text: fileJson(files), mode: PUBLIC },
  ];
  await (await claimFolder(folder)).write(written);
  return files;
}
