/** A lab whose organization has addresses of each class that an honest service has, and the command against it. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AddressRow } from "../../src/addresses/join.js";
import { type Lab, startLab } from "../../src/lab/index.js";
import { type Json, TARGET_PUBLIC_KEY, TWO_ACCOUNTS, account, completed, submit } from "../lab/support.js";
import { type Answer, type Surroundings, bootproof, connectionTo, fileOf } from "./support.js";

export interface World {
  readonly lab: Lab;
  readonly policy: string;
  readonly connection: readonly string[];
  /** Ids of wallets by what happened to them, and of private keys. */
  readonly ids: Readonly<Record<"derived" | "exported" | "imported" | "service", string>>;
  /** Runs the command online. */
  readonly run: (args: readonly string[], surroundings?: Surroundings) => Promise<Answer>;
  /** Runs the command on a folder of the organization. */
  readonly from: (folder: string, ...args: string[]) => Promise<Answer>;
}

const PROVEN = { generateAppProofs: true };
const resultOf = (activity: Json): Json => Object.values(activity["result"] as Json)[0] as Json;

export async function startWorld(): Promise<World> {
  const lab = await startLab();
  const walletOf = async (walletName: string, sending: Json = PROVEN): Promise<string> =>
    String(
      resultOf(await completed(submit(lab, "createWallet", { ...TWO_ACCOUNTS, walletName }, sending)))["walletId"],
    );
  const service = await walletOf("old", {});
  const exported = await walletOf("exported");
  await completed(submit(lab, "exportWallet", { walletId: exported, targetPublicKey: TARGET_PUBLIC_KEY }));
  const bundle = { userId: lab.ids.userId, encryptedBundle: "a seed", ...TWO_ACCOUNTS, walletName: "imported" };
  const imported = String(resultOf(await completed(submit(lab, "importWallet", bundle, PROVEN)))["walletId"]);
  const unkept = { walletId: lab.ids.walletId, accounts: [account("m/44'/60'/0'/0/9")], persist: false };
  await completed(submit(lab, "createWalletAccounts", unkept, PROVEN));
  const key = { privateKeyName: "k", curve: "CURVE_SECP256K1", addressFormats: ["ADDRESS_FORMAT_ETHEREUM"] };
  await completed(submit(lab, "createPrivateKeys", { privateKeys: [key] }, PROVEN));
  const policy = fileOf(lab.policyFile);
  const connection = connectionTo(lab);
  const present = (): { now: string } => ({ now: new Date().toISOString() });
  return {
    lab,
    policy,
    connection,
    ids: { derived: lab.ids.walletId, exported, imported, service },
    run: (args, surroundings) =>
      bootproof(["addresses", "--policy", policy, ...args, ...connection], { ...present(), ...surroundings }),
    from: (folder, ...args) =>
      bootproof(
        ["addresses", "--policy", policy, "--from", folder, "--organization-id", lab.organizationId, ...args],
        present(),
      ),
  };
}

/** A path that does not look like a key. */
export function newFolder(): string {
  return join(mkdtempSync(join(tmpdir(), "bootproof-addresses-")), "evidence.d");
}

interface TableJson {
  readonly exitCode: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly notListed: readonly string[];
  readonly unfetched: readonly string[];
  readonly notProven: readonly string[];
  readonly rows: readonly (AddressRow & { readonly organizationId: string })[];
}

export function tableOf({ stdout }: Answer): TableJson {
  return JSON.parse(stdout) as TableJson;
}
