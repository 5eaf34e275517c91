import type { Row } from './tables.ts';

/** A file that is being written. It is whole once `finish` has resolved. */
export interface PartWriter {
  write(rows: readonly Row[]): Promise<void>;
  finish(): Promise<void>;
  /** Lets go of a file that is not finished. After `finish` it does nothing. */
  abandon(): Promise<void>;
}
