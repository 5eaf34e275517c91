import { Damaged } from './environment.ts';
import type { CannotWrite } from './room.ts';

/** Problems of a running node, for an operator. */
export type Trouble =
  /** A part of the log is damaged. */
  | { readonly kind: 'damaged'; readonly directory: string; readonly message: string }
  | { readonly kind: 'cannotWrite'; readonly directory: string; readonly message: string }
  | { readonly kind: 'writesAgain'; readonly directory: string }
  /** The node must be restarted. */
  | { readonly kind: 'broken'; readonly message: string }
  /** An unexpected error. */
  | { readonly kind: 'failed'; readonly message: string };

export type Tell = (trouble: Trouble) => void;

export function troubleOf(error: unknown): Trouble {
  if (error instanceof Damaged) return { kind: 'damaged', directory: error.directory, message: error.message };
  return { kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

export const writing = (directory: string, trouble: CannotWrite | null): Trouble =>
  trouble ? { kind: 'cannotWrite', directory, message: trouble.message } : { kind: 'writesAgain', directory };

const toldMost = 100;

/** Reports each damaged position and each failure once. */
export function tellingOnce(tell: Tell): Tell {
  const told = new Set<string>();
  return (trouble) => {
    if (trouble.kind === 'damaged' || trouble.kind === 'failed') {
      if (told.has(trouble.message) || told.size >= toldMost) return;
      told.add(trouble.message);
    }
    tell(trouble);
  };
}
