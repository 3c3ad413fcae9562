/** Places inside an input, such as `manifest.pivot.args[0]`. Each place has one text, which no other place has. */

const PLAIN_NAME = /^[\w$-]+$/;
/** Longer names, and names in long paths, are replaced by their index. */
const MAX_NAME = 600;
const MAX_PLACE = 4096;

/** `index` replaces a name that is too long. */
export function placeIn(place: string, name: string | number, index = 0): string {
  if (typeof name === "number") return `${place}[${name}]`;
  const step = name.length > MAX_NAME || place.length > MAX_PLACE ? `#${index}` : stepText(name);
  return place === "" ? step : `${place}.${step}`;
}

function stepText(name: string): string {
  return PLAIN_NAME.test(name) ? name : JSON.stringify(name);
}

/** Reported places cover everything below them. */
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

  /** Finds the first place from the text on, by binary search. */
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
