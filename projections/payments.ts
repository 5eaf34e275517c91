import { viewOf } from '../domain/payment/view.ts';
import { ofPayments, type Row, upsert } from './projection.ts';

/** Today's row of every payment: its public view. */
export const payments = ofPayments('payments', ({ after, stored }) => [
  upsert('payments', {
    ...inColumns(viewOf(after, stored.metadata.at)),
    revision: stored.revision.toString(),
  }),
]);

const columns = new Map<string, string>();

/** Renames `sourceChainId` to `source_chain_id`. */
function inColumns(view: object): Row {
  const row: Record<string, Row[string]> = {};
  for (const [field, value] of Object.entries(view)) row[columnOf(field)] = value;
  return row;
}

function columnOf(field: string): string {
  const known = columns.get(field) ?? field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  columns.set(field, known);
  return known;
}
