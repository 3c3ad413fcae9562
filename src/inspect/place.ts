/** Places inside an input, such as `manifest.pivot.args[0]`. Different places have different texts. */

const PLAIN_NAME = /^[\w$-]+$/;
/** Maximum length of a name. A longer name, or a name in a long path, is replaced by its index. */
const MAX_NAME = 600;
const MAX_PLACE = 4096;

/** Returns the place of a member or item. `index` replaces a name that is too long. */
export function placeIn(place: string, name: string | number, index = 0): string {
  if (typeof name === "number") return `${place}[${name}]`;
  const step = name.length > MAX_NAME || place.length > MAX_PLACE ? `#${index}` : stepText(name);
  return place === "" ? step : `${place}.${step}`;
}

function stepText(name: string): string {
  return PLAIN_NAME.test(name) ? name : JSON.stringify(name);
}

/** Returns the places that contain the place, and other texts if a name has dots, which are no places. */
export function placesAbove(place: string): string[] {
  return [...place.matchAll(/[.[]/g)].map(({ index }) => place.slice(0, index));
}
