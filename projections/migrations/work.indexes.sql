-- Built when the rows are there: a rebuild fills bare tables.

CREATE INDEX IF NOT EXISTS payments_newest     ON payments (app_id, created_at DESC, payment_id DESC);
CREATE INDEX IF NOT EXISTS payments_by_status  ON payments (app_id, status, created_at DESC, payment_id DESC);
-- Held money, and payments that received too little: what an app's people have to look at.
CREATE INDEX IF NOT EXISTS payments_needing_somebody ON payments (app_id, created_at DESC, payment_id DESC)
  WHERE held IS NOT NULL OR missing IS NOT NULL;
-- Held money, for analysts.
CREATE INDEX IF NOT EXISTS payments_failed     ON payments (payment_id) WHERE status IN ('payment_bounced', 'payment_refunded');
CREATE INDEX IF NOT EXISTS payments_exceeding  ON payments (payment_id) WHERE excess > 0;
CREATE INDEX IF NOT EXISTS payins_uncounted    ON payins (payment_id) WHERE phase = 'confirmed' AND standing <> 'counted';
CREATE INDEX IF NOT EXISTS payments_by_order   ON payments (app_id, order_id) WHERE order_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS payments_by_update  ON payments (app_id, updated_at);
-- Refunds of a month: a payment changes when its refund is final.
CREATE INDEX IF NOT EXISTS payments_with_refunds ON payments (app_id, updated_at, payment_id) WHERE json_array_length(refunds) > 0;
CREATE INDEX IF NOT EXISTS payments_to_pay_in  ON payments (created_at) WHERE status IN ('payment_unpaid', 'payment_started');
CREATE INDEX IF NOT EXISTS payments_of_strangers ON payments (app_id)
  WHERE keyless AND status IN ('payment_unpaid', 'payment_started');
CREATE INDEX IF NOT EXISTS payments_to_pay_out ON payments (destination_chain_id, destination_token_address)
  INCLUDE (destination_amount, amount_received, source_amount)
  WHERE status IN ('payment_started', 'payment_payin_completed', 'payment_bridging', 'payment_payout_started');
CREATE INDEX IF NOT EXISTS payments_paid_out   ON payments (destination_chain_id, payout_confirmed_at)
  WHERE payout_confirmed_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS payments_settled    ON payments (app_id, payout_confirmed_at, payment_id)
  WHERE payout_confirmed_at IS NOT NULL;
-- What was announced and not yet funded; all that was seen is among the transactions.
CREATE INDEX IF NOT EXISTS payments_announced  ON payments (app_id, payin_tx_hash)
  WHERE payin_tx_hash IS NOT NULL AND payin_confirmed_at IS NULL;
CREATE INDEX IF NOT EXISTS payins_pending      ON payins (chain_id, block_number) WHERE phase = 'detected';
CREATE INDEX IF NOT EXISTS payins_left         ON payins (chain_id, block_time) WHERE phase IN ('orphaned', 'lost');
CREATE INDEX IF NOT EXISTS payins_confirmed    ON payins (chain_id, block_number) WHERE phase = 'confirmed';
CREATE INDEX IF NOT EXISTS payins_by_block     ON payins (chain_id, block_hash);
CREATE INDEX IF NOT EXISTS unmatched_by_verdict ON unmatched (verdict, decided_at);
CREATE INDEX IF NOT EXISTS todo_payments_due   ON todo_payments (chain_id, due_at);
CREATE INDEX IF NOT EXISTS transfers_due      ON transfers (chain_id, app_id, due_at, reference) WHERE step IN ('order', 'sign', 'broadcast', 'tell', 'batched');
CREATE INDEX IF NOT EXISTS transfers_held     ON transfers (chain_id) WHERE step = 'hold';
CREATE INDEX IF NOT EXISTS transfers_sent     ON transfers (chain_id, token_address) INCLUDE (amount, reference) WHERE step = 'broadcast';
CREATE INDEX IF NOT EXISTS transfers_settled  ON transfers (chain_id, settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS transfers_unsettled ON transfers (reference) WHERE signed AND settled_at IS NULL;
CREATE INDEX IF NOT EXISTS todo_webhooks_due   ON todo_webhooks (app_id, created_at, payment_id, event_revision);
CREATE UNIQUE INDEX IF NOT EXISTS api_keys_by_hash ON api_keys (hash);
CREATE INDEX IF NOT EXISTS apps_by_developer  ON apps (developer_id) WHERE developer_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS app_members_by_person ON app_members (developer_id);
CREATE INDEX IF NOT EXISTS api_keys_by_app     ON api_keys (app_id);
-- Solana: its accounts are looked at, not its blocks.
CREATE INDEX IF NOT EXISTS todo_payments_watched ON todo_payments (due_at, payment_id) WHERE chain_id = 501;
CREATE INDEX IF NOT EXISTS deposits_of_payments ON deposits (payment_id) WHERE chain_id = 501;
CREATE INDEX IF NOT EXISTS deposits_watched    ON deposits (expires_at, address) WHERE chain_id = 501;
CREATE INDEX IF NOT EXISTS todo_credits_due    ON todo_credits (due_at);
CREATE INDEX IF NOT EXISTS todo_cashback_due   ON todo_cashback (due_at);
CREATE INDEX IF NOT EXISTS cashback_withdrawals_newest ON cashback_withdrawals (app_id, withdrawn_at DESC);
CREATE INDEX IF NOT EXISTS links_newest        ON links (app_id, created_at DESC, link_id DESC);
CREATE INDEX IF NOT EXISTS app_changes_newest ON app_changes (app_id, changed_at DESC, event_id DESC);
CREATE INDEX IF NOT EXISTS operations_newest   ON operations (ordered_at DESC, operation_id DESC);
CREATE INDEX IF NOT EXISTS operations_open     ON operations (chain_id, token_address) INCLUDE (amount)
  WHERE standing IN ('waitsForApproval', 'ordered', 'signed');
