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

/** Places whose changes are reported. Each covers everything below it. */
export class ReportedPlaces {
  readonly #places: ReadonlySet<string>;
  readonly #sorted: readonly string[];

  constructor(places: readonly string[]) {
    this.#places = new Set(places);
    this.#sorted = [...this.#places].sort();
  }

  has(place: string): boolean {
    return this.#places.has(place);
  }

  hasBelow(place: string): boolean {
    return [`${place}.`, `${place}[`].some((start) => this.#firstFrom(start)?.startsWith(start) === true);
  }

  /** Returns the first place that is not before the text in sorted order. */
  #firstFrom(text: string): string | undefined {
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#sorted[middle]! < text) low = middle + 1;
      else high = middle;
    }
    return this.#sorted[low];
  }
}
