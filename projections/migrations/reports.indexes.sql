-- Built when the rows are there: a rebuild fills bare tables.

CREATE INDEX IF NOT EXISTS deliveries_newest ON deliveries (app_id, started_at DESC, delivery_id DESC);
CREATE INDEX IF NOT EXISTS deliveries_by_status ON deliveries (app_id, status, started_at DESC, delivery_id DESC);
CREATE INDEX IF NOT EXISTS deliveries_of_payment ON deliveries (payment_id, started_at DESC, delivery_id DESC);
CREATE INDEX IF NOT EXISTS transactions_by_hash ON transactions (tx_hash);
CREATE INDEX IF NOT EXISTS treasury_movements_by_block ON treasury_movements (chain_id, account, block_number);
CREATE INDEX IF NOT EXISTS notices_newest ON notices (app_id, kind, at DESC);
CREATE INDEX IF NOT EXISTS notices_by_position ON notices (position);
-- Burns whose mint is missing: each round of the service looks for them.
CREATE INDEX IF NOT EXISTS treasury_movements_in_transit ON treasury_movements (kind, reference)
  WHERE kind IN ('burn', 'mint') AND asset <> 'coin';
-- For analysts: moments of a payment, and the rows of a day.
CREATE INDEX IF NOT EXISTS app_events_of_payins ON app_events (payment_id)
  WHERE type IN ('PayinDetected', 'PayinConfirmed', 'PayoutHeld');
CREATE INDEX IF NOT EXISTS treasury_movements_costs ON treasury_movements (tx_hash) WHERE asset = 'coin' AND part IN ('fee', 'rent');
CREATE INDEX IF NOT EXISTS treasury_movements_closed ON treasury_movements (chain_id, account, position) WHERE kind = 'networkClosed';
CREATE INDEX IF NOT EXISTS treasury_movements_by_time ON treasury_movements USING brin
  (at timestamptz_minmax_multi_ops, ((at AT TIME ZONE 'UTC')::date) date_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX IF NOT EXISTS transactions_by_time ON transactions USING brin
  (at timestamptz_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);
