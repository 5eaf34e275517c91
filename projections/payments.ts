import { type PaymentView, viewOf } from '../domain/payment/view.ts';
import { ofStates, upsert } from './projection.ts';

/** One row per payment: its public view, column by column; with the stream's revision beside it. */
export const payments = ofStates('payments', 'payment', ({ after, stored }) => [
  upsert('payments', rowOfView(viewOf(after, stored.metadata.at), stored.revision)),
]);

/** `source_chain_id` of `sourceChainId`. */
type ColumnOf<Field extends string> = Field extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${ColumnOf<Rest>}`
  : '';

/** @typeParam Revision a text where it is written, a bigint where Postgres answers it */
export type PaymentRow<Revision = bigint> = {
  readonly [Field in keyof PaymentView as ColumnOf<Field>]: PaymentView[Field];
} & {
  /** Revision of the last event that the row includes. */
  readonly revision: Revision;
};

const columns = new Map<string, string>();
const fields = new Map<string, string>();

function rowOfView(view: PaymentView, revision: bigint): PaymentRow<string> {
  const row = renamed(view, columns, (field) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  return { ...row, revision: revision.toString() } as unknown as PaymentRow<string>;
}

export function viewOfRow({ revision: _, ...row }: PaymentRow): PaymentView {
  return renamed(row, fields, (column) =>
    column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
  ) as unknown as PaymentView;
}

/** @param known spellings found so far: there are few names and very many rows */
function renamed(values: object, known: Map<string, string>, spell: (name: string) => string): object {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const spelt = known.get(name) ?? spell(name);
    known.set(name, spelt);
    result[spelt] = value;
  }
  return result;
}
