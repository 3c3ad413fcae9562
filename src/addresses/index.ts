/** `bootproof/addresses`: which addresses of an organization are proven. */
export { ACCEPTABLE_CLASSES, CLASSES, isAcceptedClass, unplacedText } from "./classes.js";
export type { Acceptable, AddressClass } from "./classes.js";
export { joinAddresses, unplacedKeys } from "./join.js";
export type { AddressRow, JoinOptions } from "./join.js";
export { ADDRESS_ACTIVITY_TYPES, readAccounts, readPrivateKeys, readWallets } from "./lists.js";
export type { AddressLists } from "./lists.js";
export { verifyAddressActivity } from "./verify.js";
export type { AddressEvidence, AddressVerifyOptions } from "./verify.js";
export { DerivationPolicyError, requireDerivationPolicy } from "../appraise/derivation.js";
