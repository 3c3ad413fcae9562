/** Every layer, by its name; each is loaded when it is asked for. */
import type { Layer } from "./loop.js";

type Loader = () => Promise<Layer>;

/** `share`: of a long run, so that each layer has its part of the time, and what is dear is run less often. */
export const LAYERS: Readonly<Record<string, { readonly share: number; readonly load: Loader }>> = {
  text: { share: 200, load: async () => (await import("./layers-decode.js")).text },
  json: { share: 150, load: async () => (await import("./layers-decode.js")).json },
  cbor: { share: 150, load: async () => (await import("./layers-decode.js")).cbor },
  certificates: { share: 150, load: async () => (await import("./layers-decode.js")).der },
  cose: { share: 150, load: async () => (await import("./layers-decode.js")).cose },
  manifests: { share: 100, load: async () => (await import("./layers-decode.js")).manifests },
  signatures: { share: 150, load: async () => (await import("./layers-decode.js")).signatures },
  payloads: { share: 150, load: async () => (await import("./layers-decode.js")).payloads },
  policies: { share: 40, load: async () => (await import("./layers-decode.js")).policies },
  releases: { share: 20, load: async () => (await import("./layers-decode.js")).releases },
  images: { share: 30, load: async () => (await import("./layers-decode.js")).images },
  documents: { share: 8, load: async () => (await import("./layers-verify.js")).documentsAsTheyCame },
  "documents-signed": { share: 8, load: async () => (await import("./layers-verify.js")).documentsSignedAgain },
  evidence: { share: 4, load: async () => (await import("./layers-verify.js")).evidence },
  enclaves: { share: 4, load: async () => (await import("./layers-verify.js")).enclaves },
  "app-proofs": { share: 8, load: async () => (await import("./layers-verify.js")).appProofs },
  activities: { share: 4, load: async () => (await import("./layers-verify.js")).activities },
  bundles: { share: 4, load: async () => (await import("./layers-verify.js")).bundles },
  audit: { share: 8, load: async () => (await import("./layers-verify.js")).audit },
  answers: { share: 20, load: async () => (await import("./layers-outside.js")).answers },
  webhooks: { share: 10, load: async () => (await import("./layers-outside.js")).webhooks },
  log: { share: 20, load: async () => (await import("./layers-outside.js")).log },
  pages: { share: 2, load: async () => (await import("./layers-outside.js")).pages },
  shown: { share: 10, load: async () => (await import("./layers-outside.js")).shown },
};
