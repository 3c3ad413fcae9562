/** JSON for a test to damage: every member may be read and set. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Loose = Record<string, any>;
