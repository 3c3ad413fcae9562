/** Files for clients of a lab in any language. */
import { type FolderFile, claimFolder } from "./folder.js";
import { LAB_FILE, type Lab } from "./lab.js";

/** The content of `lab.json`. Names of files are relative to its folder. */
export interface LabFiles extends Pick<
  Lab,
  "baseUrl" | "organizationId" | "childOrganizationId" | "ids" | "walletActivityId" | "jwksUrl"
> {
  readonly apiKeyFile: string;
  readonly trustAnchorFile: string;
  readonly policyFile: string;
  /** The URL of the faults. GET returns them, and PUT with `{"faults": ["name"]}` sets them. */
  readonly faultsUrl: string;
  /** The feed of the signed policy, and the file of what its consumers pin. */
  readonly policyFeedUrl: string;
  readonly policySignersFile: string;
  /** The releases that the service published, with their approvals, and the folder of the newest one. */
  readonly releasesFolder: string;
  readonly newestRelease: string;
  /** The keys of the operators who approve releases, and their threshold. */
  readonly operatorsFile: string;
  /** An app proof by the newest enclave of the signer, for the first address of the wallet. */
  readonly appProofFile: string;
  /** A root user of the child organization. */
  readonly child: {
    readonly userId: string;
    readonly walletId: string;
    readonly walletActivityId: string;
    readonly apiKeyFile: string;
  };
  /** A user to whom policies apply. */
  readonly operator: { readonly userId: string; readonly apiKeyFile: string };
}

const SECRET = 0o600;
const PUBLIC = 0o644;

/**
 * Writes the files into a folder that is empty, new, or a lab's, each completely or not at all, `lab.json` last.
 * Rejects with {@link LabFolderError}, and writes nothing, if it would replace a file that no lab wrote.
 */
export async function writeLabFiles(lab: Lab, folder: string): Promise<LabFiles> {
  const { child, operator } = lab;
  const { files: published, ...places } = lab.published;
  const appProofFile = "app.json";
  const files: LabFiles = {
    baseUrl: lab.baseUrl,
    organizationId: lab.organizationId,
    childOrganizationId: lab.childOrganizationId,
    apiKeyFile: "lab-api-key.json",
    trustAnchorFile: "lab-trust-anchor.pem",
    policyFile: "lab-policy.json",
    ids: lab.ids,
    walletActivityId: lab.walletActivityId,
    jwksUrl: lab.jwksUrl,
    faultsUrl: lab.faultsUrl,
    policyFeedUrl: lab.policyFeedUrl,
    policySignersFile: "lab-policy-signers.json",
    ...places,
    appProofFile,
    child: {
      userId: child.userId,
      walletId: child.walletId,
      walletActivityId: child.walletActivityId,
      apiKeyFile: "lab-child-api-key.json",
    },
    operator: { userId: operator.userId, apiKeyFile: "lab-operator-api-key.json" },
  };
  const written: FolderFile[] = [
    { name: files.apiKeyFile, text: json(lab.apiKey), mode: SECRET },
    { name: files.child.apiKeyFile, text: json(child.apiKey), mode: SECRET },
    { name: files.operator.apiKeyFile, text: json(operator.apiKey), mode: SECRET },
    { name: files.trustAnchorFile, text: lab.trustAnchorPem, mode: PUBLIC },
    { name: files.policyFile, text: json(lab.policyFile), mode: PUBLIC },
    { name: files.policySignersFile, text: json(lab.policyFeed.signers), mode: PUBLIC },
    { name: appProofFile, text: json(await lab.appProof()), mode: PUBLIC },
    ...[...published].map(([name, text]) => ({ name, text, mode: PUBLIC })),
    { name: LAB_FILE, text: json(files), mode: PUBLIC },
  ];
  await (await claimFolder(folder)).write(written);
  return files;
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
