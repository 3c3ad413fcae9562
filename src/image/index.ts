/** The package entry `bootproof/image`. */
export type {
  ByteStream,
  Hasher,
  ImageMeasurement,
  ImageSection,
  ImageSectionType,
  MeasureOptions,
} from "./measure.js";
export { measureBinary, measureImage, measureInstance, measureRole } from "./measure.js";
