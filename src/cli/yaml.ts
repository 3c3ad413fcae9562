/** What reading a release takes of `yaml`: in a file of its own, which the command loads for `pin --release` alone. */
export { LineCounter, isScalar, parseDocument, visit } from "yaml";
