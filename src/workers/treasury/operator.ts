import type { By } from '../../../commands/handle.ts';

/** A person at a terminal. */
export interface OperatorBy extends By {
  readonly cause: `operator:${string}`;
}

/** At most 128 characters, as events hold it. */
export const operatorName = ({ cause }: OperatorBy): string =>
  cause.slice('operator:'.length, 'operator:'.length + 128);
