/** The package entry `bootproof/image`. */
export type { ByteStream, ImageMeasurement, MeasureOptions } from "./measure.js";
export type { ImageContents } from "./contents.js";
export { readImageContents } from "./contents.js";
export type { ImageDifference } from "./compare.js";
export { compareImages } from "./compare.js";
export { measureBinary, measureImage, measureInstance, measureRole } from "./measure.js";
