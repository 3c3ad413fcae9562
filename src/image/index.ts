/** The package entry `bootproof/image`. */
export type {
  ByteStream,
  Hasher,
  ImageMeasurement,
  ImageSectionType,
  ImageSignature,
  MeasureOptions,
  MeasuredSection,
} from "./measure.js";
export type { ImageContents, ImageFile, RamdiskContents } from "./contents.js";
export { readImageContents } from "./contents.js";
export type {
  ChangedFile,
  FileAspect,
  FilesDifference,
  ImageDifference,
  PcrDifference,
  SectionDifference,
  SectionFacts,
} from "./compare.js";
export { compareImages } from "./compare.js";
export type { ImageVersion } from "./header.js";
export type { SignatureAlgorithm } from "./signature.js";
export { measureBinary, measureImage, measureInstance, measureRole } from "./measure.js";
