/** Name and version of the tool in reports. A test compares this with package.json, which browsers cannot read. */
export const TOOL = Object.freeze({ name: "bootproof", version: "0.1.0" });
