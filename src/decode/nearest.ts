/** Suggestion of a known name for an unknown one. */

/** Maximum length of a compared name. The distance takes time in proportion to both lengths. */
const MAX_COMPARED_NAME = 64;

/** Returns `, did you mean NAME?`, or an empty text if no known name is near. */
export function nearest(name: string, known: readonly string[]): string {
  if (name.length > MAX_COMPARED_NAME) return "";
  const best = known
    .map((one) => ({ one, distance: editDistance(name.toLowerCase(), one.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)[0];
  return best && best.distance <= Math.ceil(best.one.length / 2) ? `, did you mean ${best.one}?` : "";
}

/** Number of letters to insert, remove or replace (Levenshtein distance). */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++)
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (letter === b[j] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
