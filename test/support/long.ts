/** Whether loops that only repeat run in full: `BOOTPROOF_TESTS=long`, as `npm run test:release` sets it. */
export const IS_LONG = process.env["BOOTPROOF_TESTS"] === "long";
