/** `bootproof/token`: tokens and bundles that enclaves sign, verified under a policy. */
export { ANY_ORGANIZATION, ANY_USER, verifyOtpToken, verifySessionToken, verifySignedBundle } from "./verify.js";
export type {
  ExpectedBundle,
  ExpectedOtp,
  ExpectedSession,
  OtpTokenOptions,
  SessionTokenOptions,
  SignedBundleOptions,
  TokenReport,
} from "./verify.js";
export { renderToken } from "./text.js";
