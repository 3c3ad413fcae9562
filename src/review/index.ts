/** `bootproof/review`: what an operator checks before an approval. */
export { reviewGenesis } from "./genesis.js";
export type { GenesisReview, GenesisReviewOptions } from "./genesis.js";
export { reviewManifest } from "./review.js";
export type { ManifestReview, ReviewOptions } from "./review.js";
export { renderReview } from "./text.js";
