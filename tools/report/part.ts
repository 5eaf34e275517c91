import type { VNode } from 'preact';
import type { Answer } from './ask.ts';
import type { Question } from './questions.ts';
import type { TableColumn } from './table.ts';

/** One plot with its table and the SQL of both. */
export interface Part {
  readonly id: Question['id'];
  readonly title: string;
  readonly note: string;
  /** Null where there is nothing to show: then `none` says so. */
  readonly plot: VNode | null;
  readonly none: string;
  readonly answer: Answer;
  readonly columns: readonly TableColumn[];
  /** Whether the table ends with the sums of its columns. */
  readonly total: boolean;
}
