import type { PaymentView } from '../domain/payment/view.ts';

export interface PaymentRow extends Readonly<Record<string, unknown>> {
  readonly payment_id: string;
  readonly created_at: string;
}

const fields = new Map<string, string>();

/** A row of `payments` is the view, column by column; only its revision is the read side's own. */
export function viewOfRow({ revision: _, ...row }: PaymentRow): PaymentView {
  const view: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) view[fieldOf(column)] = value;
  return view as unknown as PaymentView;
}

function fieldOf(column: string): string {
  const known = fields.get(column) ?? column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  fields.set(column, known);
  return known;
}
