/** The package entry `bootproof/image`. */
export type {
  ByteStream,
  Hasher,
  ImageMeasurement,
  ImageSection,
  ImageSectionType,
  ImageSignature,
  MeasureOptions,
} from "./measure.js";
export type { ImageVersion } from "./header.js";
export type { SignatureAlgorithm } from "./signature.js";
export { measureBinary, measureImage, measureInstance, measureRole } from "./measure.js";
