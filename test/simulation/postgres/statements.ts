/** The product's statements in the model of Postgres: each is identified by unique words. */

import type { Statement, Statements } from './statement.ts';
import { accountStatements } from './statements/accounts.ts';
import { headStatements } from './statements/heads.ts';
import { operationStatements } from './statements/operations.ts';
import { paymentStatements } from './statements/payments.ts';
import { projectionStatements } from './statements/projections.ts';
import { transferStatements } from './statements/transfers.ts';

const all: Statements = [
  ...projectionStatements,
  ...paymentStatements,
  ...transferStatements,
  ...operationStatements,
  ...accountStatements,
  ...headStatements,
];
const found = new Map<string, { readonly name: string; readonly run: Statement }>();

/** The words by which the model knows its statements. */
export const knownWords: readonly string[] = all.map(([words]) => words);

/** Returns the statement in one line with single spaces. */
export const lineOf = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** @throws for a statement that the model does not know, or that two of its entries claim */
export function statementOf(text: string): { readonly name: string; readonly run: Statement } {
  const known = found.get(text);
  if (known) return known;
  const line = lineOf(text);
  const fitting = all.filter(([words]) => line.includes(words));
  const [statement] = fitting;
  if (!statement || fitting.length > 1) {
    const claimed = fitting.map(([words]) => words).join(' | ');
    throw new Error(`the model of Postgres knows ${fitting.length} meanings (${claimed}) of: ${line}`);
  }
  const entry = { name: nameOf(line), run: statement[1] };
  found.set(text, entry);
  return entry;
}

/** For faults and traces: the verb and the table. */
const nameOf = (line: string): string => {
  const verb = /^\w+/.exec(line)?.[0].toLowerCase() ?? 'statement';
  const table = /(?:FROM|INTO|UPDATE) "?(?:\w+"?\.)?"?(\w+)/.exec(line)?.[1];
  return table === undefined ? verb : `${verb}.${table}`;
};
