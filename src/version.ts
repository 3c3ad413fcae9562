/** Which tool wrote a report. The core reads no file in a browser: a test compares this with package.json. */
export const TOOL = Object.freeze({ name: "bootproof", version: "0.1.0" });
