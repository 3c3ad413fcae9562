/** JSON for a test to damage: every member may be read and set. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Loose = Record<string, any>;
