/** The text of docs/comparison.md with the tables of these results. */
export function documentWith(text: string, results: object): string;
