/** Exportable columns. The type checker requires a decision about a view's new column: export or exclude. */

import type { Tables } from '../../projections/tables.ts';
import type { Kind, Value } from '../../src/api/parquetTypes.ts';

export type { Kind, Value };

export interface ExportColumn {
  readonly name: string;
  readonly kind: Kind;
}

export type ExportRow = Readonly<Record<string, Value>>;

export const subjects = ['payments', 'transfers', 'events'] as const;
export type Subject = (typeof subjects)[number];

/** Rows of Postgres: the view, its key, and the time that `--from` and `--to` refer to. */
export interface View {
  readonly view: 'payments' | 'transactions';
  readonly key: readonly string[];
  readonly time: string;
}

type Kinds<T> = Readonly<Record<keyof T & string, Kind | 'leftOut'>>;

/** Excludes addresses of webhooks: some contain a password. */
const payments: Kinds<Tables['payments']> = {
  payment_id: 'text',
  app_id: 'text',
  order_id: 'text',
  status: 'text',
  error_code: 'text',
  error_message: 'text',
  type: 'text',
  intent: 'text',
  keyless: 'boolean',
  title: 'text',
  description: 'text',
  currency: 'text',
  line_items: 'json',
  metadata: 'json',
  webhook_url: 'leftOut',
  created_at: 'time',
  updated_at: 'time',
  expires_at: 'time',
  source_chain_id: 'integer',
  source_token_symbol: 'text',
  source_token_address: 'text',
  source_amount: 'decimal',
  source_fee: 'decimal',
  deposit_address: 'text',
  deposit_memo: 'text',
  deposit_contract: 'text',
  deposit_contract_memo: 'text',
  sender_address: 'text',
  payin_tx_hash: 'text',
  amount_received: 'decimal',
  amount_expected: 'decimal',
  amount_came: 'decimal',
  amount_delta: 'decimal',
  excess: 'decimal',
  dust: 'decimal',
  refunded: 'decimal',
  refunds: 'json',
  payin_seen_at: 'time',
  payin_confirmed_at: 'time',
  destination_chain_id: 'integer',
  destination_token_symbol: 'text',
  destination_token_address: 'text',
  destination_amount: 'decimal',
  receiver_address: 'text',
  receiver_memo: 'text',
  pay_from: 'json',
  payout_tx_hash: 'text',
  payout_confirmed_at: 'time',
  missing: 'decimal',
  held: 'json',
  cancelled_at: 'time',
  refund_of: 'text',
  note: 'leftOut',
  tags: 'leftOut',
  revision: 'position',
};

const transfers: Kinds<Tables['transactions']> = {
  payment_id: 'text',
  app_id: 'text',
  kind: 'text',
  chain_id: 'integer',
  tx_hash: 'text',
  index: 'position',
  status: 'text',
  standing: 'text',
  token_symbol: 'text',
  token_address: 'text',
  amount: 'decimal',
  from_address: 'text',
  to_address: 'text',
  block_number: 'decimal',
  block_hash: 'text',
  at: 'time',
};

const events: Readonly<Record<string, Kind>> = {
  position: 'position',
  stream: 'text',
  revision: 'position',
  event_id: 'text',
  type: 'text',
  at: 'time',
  cause: 'text',
  app_id: 'text',
  schema_version: 'integer',
  data: 'json',
};

const columnsIn = (kinds: Readonly<Record<string, Kind | 'leftOut'>>): readonly ExportColumn[] =>
  Object.entries(kinds).flatMap(([name, kind]) => (kind === 'leftOut' ? [] : [{ name, kind }]));

export const columnsOf: Readonly<Record<Subject, readonly ExportColumn[]>> = {
  payments: columnsIn(payments),
  transfers: columnsIn(transfers),
  events: columnsIn(events),
};

export const exportView: Readonly<Record<Exclude<Subject, 'events'>, View>> = {
  payments: { view: 'payments', key: ['payment_id'], time: 'created_at' },
  transfers: {
    view: 'transactions',
    key: ['payment_id', 'kind', 'chain_id', 'tx_hash', 'index'],
    time: 'at',
  },
};
