/** The parts of `yaml` that read a release, in a file that is loaded only when needed. */
export { LineCounter, isScalar, parseDocument, visit } from "yaml";
