import type { Bell } from './bell.ts';
import type { Outflow } from './outflow.ts';
import type { Present, Reply } from './present.ts';
import type { Storage } from './storage.ts';

/** What one call that reads works with. */
export interface Reading {
  readonly storage: Storage;
  /** Rung when the log has grown. */
  readonly grown: Bell;
  readonly out: Outflow<Reply>;
  readonly present: Present;
}
