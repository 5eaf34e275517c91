/** Made by `npm run docs` from the tables of projections/migrations/; do not edit. Rows as projections write them. */

export interface Tables {
  readonly api_keys: {
    readonly key_id: string;
    readonly hash: string;
    readonly app_id: string;
    readonly scope: string;
    readonly hint: string;
    readonly name: string;
    readonly revoked_at: string | null;
  };
  readonly app_events: {
    readonly app_id: string;
    readonly ordinal: string | number;
    readonly event_id: string;
    readonly type: string;
    readonly payment_id: string;
    readonly order_id: string | null;
    readonly revision: string | number;
    readonly status: string;
    readonly previous_status: string | null;
    readonly error_code: string | null;
    readonly at: string;
  };
  readonly apps: {
    readonly app_id: string;
    readonly id_salt: string;
    readonly registered_at: string;
    readonly webhook_url: string | null;
    readonly webhook_secret_ciphertext: string | null;
    readonly webhook_secret_fingerprint: string | null;
    readonly settlement_chain_id: number | null;
    readonly settlement_token_symbol: string | null;
    readonly settlement_token_address: string | null;
    readonly settlement_address: string | null;
    readonly settlement_memo: string | null;
    readonly keyless_creation: boolean;
  };
  readonly daily_durations: {
    readonly app_id: string;
    readonly day: string;
    readonly seconds: number;
    readonly count: string | number;
  };
  readonly deliveries: {
    readonly delivery_id: string;
    readonly payment_id: string;
    readonly app_id: string;
    readonly event_type: string;
    readonly url: string;
    readonly status: string;
    readonly status_code: number | null;
    readonly error: string | null;
    readonly response_preview: string | null;
    readonly started_at: string;
    readonly delivered_at: string | null;
    readonly attempt_number: number;
  };
  readonly deposits: {
    readonly address: string;
    readonly memo: string;
    readonly payment_id: string;
    readonly app_id: string;
    readonly chain_id: number;
    readonly token_address: string;
    readonly expires_at: string;
    readonly agreed_usd: string | number | null;
  };
  readonly hourly_payments: {
    readonly app_id: string;
    readonly hour: string;
    readonly unpaid: string | number;
    readonly started: string | number;
    readonly payin_completed: string | number;
    readonly bridging: string | number;
    readonly payout_started: string | number;
    readonly payout_completed: string | number;
    readonly completed: string | number;
    readonly bounced: string | number;
    readonly expired: string | number;
    readonly refunded: string | number;
  };
  readonly hourly_stats: {
    readonly app_id: string;
    readonly hour: string;
    readonly volume: string;
    readonly net: string;
    readonly count: string | number;
  };
  readonly payins: {
    readonly transfer_id: string;
    readonly payment_id: string;
    readonly app_id: string;
    readonly chain_id: number;
    readonly tx_hash: string;
    readonly index: string | number;
    readonly block_number: string;
    readonly block_hash: string;
    readonly block_time: string;
    readonly token_symbol: string;
    readonly token_address: string;
    readonly from_address: string;
    readonly to_address: string;
    readonly amount: string;
    readonly agreed_usd: string | number | null;
    readonly phase: string;
    readonly standing: string;
  };
  readonly payments: {
    readonly payment_id: string;
    readonly app_id: string;
    readonly order_id: string | null;
    readonly status: string;
    readonly error_code: string | null;
    readonly error_message: string | null;
    readonly type: string;
    readonly intent: string | null;
    readonly keyless: boolean;
    readonly title: string | null;
    readonly description: string | null;
    readonly currency: string | null;
    readonly metadata: object | null;
    readonly webhook_url: string | null;
    readonly created_at: string;
    readonly updated_at: string;
    readonly expires_at: string;
    readonly source_chain_id: number;
    readonly source_token_symbol: string;
    readonly source_token_address: string;
    readonly source_amount: string | null;
    readonly source_fee: string | null;
    readonly deposit_address: string;
    readonly deposit_memo: string | null;
    readonly deposit_contract: string | null;
    readonly deposit_contract_memo: string | null;
    readonly sender_address: string | null;
    readonly payin_tx_hash: string | null;
    readonly amount_received: string | null;
    readonly excess: string | null;
    readonly dust: string | null;
    readonly refunded: string;
    readonly payin_seen_at: string | null;
    readonly payin_confirmed_at: string | null;
    readonly destination_chain_id: number;
    readonly destination_token_symbol: string;
    readonly destination_token_address: string;
    readonly destination_amount: string | null;
    readonly receiver_address: string;
    readonly receiver_memo: string | null;
    readonly payout_tx_hash: string | null;
    readonly payout_confirmed_at: string | null;
    readonly revision: string | number;
  };
  readonly todo_payments: {
    readonly payment_id: string;
    readonly chain_id: number;
    readonly step: string;
    readonly due_at: string;
  };
  readonly todo_webhooks: {
    readonly delivery_id: string;
    readonly payment_id: string;
    readonly app_id: string;
    readonly event_type: string;
    readonly event_id: string;
    readonly event_revision: string | number;
    readonly url: string;
    readonly created_at: string;
  };
  readonly transactions: {
    readonly payment_id: string;
    readonly app_id: string;
    readonly kind: string;
    readonly chain_id: number;
    readonly tx_hash: string;
    readonly index: string | number;
    readonly status: string;
    readonly standing: string | null;
    readonly token_symbol: string;
    readonly token_address: string;
    readonly amount: string;
    readonly from_address: string;
    readonly to_address: string;
    readonly block_number: string | null;
    readonly block_hash: string | null;
    readonly at: string;
  };
  readonly unmatched: {
    readonly transfer_id: string;
    readonly chain_id: number;
    readonly tx_hash: string;
    readonly index: string | number;
    readonly block_number: string;
    readonly block_time: string;
    readonly token_symbol: string;
    readonly token_address: string;
    readonly from_address: string;
    readonly to_address: string;
    readonly memo: string | null;
    readonly amount: string;
    readonly seen_at: string;
    readonly verdict: string;
    readonly decided_at: string | null;
    readonly payment_id: string | null;
    readonly app_id: string | null;
    readonly refund_address: string | null;
    readonly refund_memo: string | null;
    readonly refund_reason: string | null;
  };
}

/** Which columns tell a row from the others. */
export interface TableKeys {
  readonly api_keys: 'key_id';
  readonly app_events: 'app_id' | 'ordinal';
  readonly apps: 'app_id';
  readonly daily_durations: 'app_id' | 'day' | 'seconds';
  readonly deliveries: 'delivery_id';
  readonly deposits: 'address' | 'memo';
  readonly hourly_payments: 'app_id' | 'hour';
  readonly hourly_stats: 'app_id' | 'hour';
  readonly payins: 'transfer_id' | 'payment_id';
  readonly payments: 'payment_id';
  readonly todo_payments: 'payment_id';
  readonly todo_webhooks: 'delivery_id';
  readonly transactions: 'payment_id' | 'kind' | 'chain_id' | 'tx_hash' | 'index';
  readonly unmatched: 'transfer_id';
}
