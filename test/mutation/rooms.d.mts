export interface Room {
  readonly sources: readonly string[];
  readonly without?: readonly string[];
  readonly tests: readonly string[];
  readonly processEach?: boolean;
}

export const ROOMS: Readonly<Record<string, Room>>;
export const DECIDING: readonly string[];
export function roomOf(source: string): string | undefined;
