/** The entry point for browsers and the edge, and its size. */
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

async function bundled(entry: string): Promise<{ text: string; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: "browser",
    format: "esm",
    minify: true,
    write: false,
    metafile: true,
    logLevel: "silent",
    splitting: true,
    outdir: "unused",
  });
  return { text: outputFiles.map((file) => file.text).join("\n"), inputs: Object.keys(metafile.inputs) };
}

describe("bootproof/client", () => {
  it("bundles for a browser, with nothing of Node", async () => {
    const { text, inputs } = await bundled("src/client/index.ts");
    expect(text).not.toMatch(/["']node:(?!crypto["'])/);
    expect(inputs.filter((input) => /key-file|src\/(lab|cli)\//.test(input))).toEqual([]);
  });

  it("does not come into the verifier, nor what it seals with", async () => {
    const { inputs } = await bundled("src/index.ts");
    expect(inputs.filter((input) => /node_modules\/@hpke|src\/client/.test(input))).toEqual([]);
  });

  it("exports what it says", async () => {
    const client = await import("../../src/client/index.js");
    expect(
      Object.keys(client)
        .filter((name) => !/^[a-zA-Z]+Schema$|^[A-Z0-9_]+$/.test(name))
        .sort(),
    ).toEqual([
      "ClientError",
      "MemoryEventStore",
      "RejectedActivityError",
      "RejectedAddressesError",
      "ServiceError",
      "WebhookError",
      "apiKeyStamper",
      "createClient",
      "createSessionTarget",
      "encryptOnRampSecret",
      "fetchActivity",
      "fetchBootProof",
      "fetchEvidence",
      "fetchLatestBootProof",
      "generateApiKey",
      "nodeWebhookHandler",
      "openCredentialBundle",
      "openSession",
      "verifyWebhook",
      "webauthnStamper",
      "webhookHandler",
      "withAppProofs",
    ]);
  });
});
