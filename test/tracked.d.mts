export const ROOT: string;
export function trackedFiles(): string[];
