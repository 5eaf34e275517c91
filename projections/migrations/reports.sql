-- Projection set "reports": what people look at. Its bugs never stop a payout.

CREATE TABLE transactions (
  payment_id    text        NOT NULL,
  app_id        text        NOT NULL,
  kind          text        NOT NULL,
  chain_id      integer     NOT NULL,
  tx_hash       text        NOT NULL,
  index         bigint      NOT NULL,
  status        text        NOT NULL,
  standing      text,
  token_symbol  text        NOT NULL,
  token_address text        NOT NULL,
  amount        numeric     NOT NULL,
  from_address  text        NOT NULL,
  to_address    text        NOT NULL,
  block_number  numeric(20),
  block_hash    text,
  at            timestamptz NOT NULL,
  PRIMARY KEY (payment_id, kind, chain_id, tx_hash, index)
);
COMMENT ON TABLE transactions IS 'Transfers of payments on their chains: detected payins, and signed attempts of payouts and refunds. Amounts in whole tokens.';
COMMENT ON COLUMN transactions.kind IS 'payin, payout or refund.';
COMMENT ON COLUMN transactions.index IS 'Payins: place among the transaction''s logs. Payouts and refunds: number of the attempt.';
COMMENT ON COLUMN transactions.status IS 'Payins: detected, confirmed, orphaned, lost. Payouts and refunds: live, settled, short (less than was ordered arrived: amount is what did), dead, lapsed.';
COMMENT ON COLUMN transactions.standing IS 'Payins: counted towards the payment, or why the money is held.';
COMMENT ON COLUMN transactions.at IS 'Payins: block time. Payouts and refunds: when the attempt was signed.';

CREATE TABLE payment_words (
  app_id     text COLLATE "C" NOT NULL,
  word       text COLLATE "C" NOT NULL,
  payment_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (app_id, word, payment_id)
);
COMMENT ON TABLE payment_words IS 'Words that find each payment, in lower case: id, order, beginnings of the title''s words, addresses, transactions, $amounts, #tags. A search reads one range of the key.';

CREATE TABLE hourly_stats (
  app_id   text        NOT NULL,
  hour     timestamptz NOT NULL,
  volume   numeric     NOT NULL,
  net      numeric     NOT NULL,
  count    bigint      NOT NULL,
  refunded numeric     NOT NULL,
  PRIMARY KEY (app_id, hour)
);
COMMENT ON TABLE hourly_stats IS 'Payments by app and UTC hour of their confirmed payout, refunds by that of their own, in whole tokens (USDT counts as USDC).';
COMMENT ON COLUMN hourly_stats.refunded IS 'Sum of what went back, without what sending it cost.';
COMMENT ON COLUMN hourly_stats.volume IS 'Sum of accepted source amounts.';
COMMENT ON COLUMN hourly_stats.net IS 'Sum of destination amounts: what reached the receivers.';

CREATE TABLE app_events (
  app_id          text        NOT NULL,
  ordinal         bigint      NOT NULL,
  event_id        text        NOT NULL,
  type            text        NOT NULL,
  payment_id      text        NOT NULL,
  order_id        text,
  revision        bigint      NOT NULL,
  status          text        NOT NULL,
  previous_status text,
  error_code      text,
  at              timestamptz NOT NULL,
  PRIMARY KEY (app_id, ordinal)
);
COMMENT ON TABLE app_events IS 'The feed: every event of each app''s payments, in the order of the log.';
COMMENT ON COLUMN app_events.ordinal IS 'Number of the event among the app''s events, from 1 without a gap: equal after every rebuild.';
COMMENT ON COLUMN app_events.revision IS 'Number of the event in the stream payment-<payment_id>, from 0.';
COMMENT ON COLUMN app_events.status IS 'Status of the payment after this event.';
COMMENT ON COLUMN app_events.previous_status IS 'Status before the event; null for the first event.';
COMMENT ON COLUMN app_events.error_code IS 'Reason why the payment bounced; null otherwise.';

CREATE TABLE hourly_payments (
  app_id           text        NOT NULL,
  hour             timestamptz NOT NULL,
  unpaid           bigint      NOT NULL,
  started          bigint      NOT NULL,
  payin_completed  bigint      NOT NULL,
  bridging         bigint      NOT NULL,
  payout_started   bigint      NOT NULL,
  payout_completed bigint      NOT NULL,
  completed        bigint      NOT NULL,
  bounced          bigint      NOT NULL,
  expired          bigint      NOT NULL,
  refunded         bigint      NOT NULL,
  PRIMARY KEY (app_id, hour)
);
COMMENT ON TABLE hourly_payments IS 'Number of payments by current status, app and UTC hour of creation.';

CREATE TABLE daily_durations (
  app_id  text        NOT NULL,
  day     timestamptz NOT NULL,
  seconds integer     NOT NULL,
  count   bigint      NOT NULL,
  PRIMARY KEY (app_id, day, seconds)
);
COMMENT ON TABLE daily_durations IS 'Durations from the payin''s block to the confirmed payout, by app and UTC day of the payout.';
COMMENT ON COLUMN daily_durations.seconds IS 'Rounded up to two digits, so that each day has few rows.';

CREATE TABLE deliveries (
  delivery_id       text        PRIMARY KEY,
  kind              text        NOT NULL,
  first_delivery_id text,
  payment_id        text,
  app_id            text        NOT NULL,
  event_type        text        NOT NULL,
  url               text        NOT NULL,
  status            text        NOT NULL,
  status_code       integer,
  error             text,
  response_preview  text,
  started_at        timestamptz NOT NULL,
  delivered_at      timestamptz,
  duration_ms       integer,
  attempt_number    integer     NOT NULL,
  endpoint_id       text
);
COMMENT ON TABLE deliveries IS 'Every webhook that was attempted; each is attempted once.';
COMMENT ON COLUMN deliveries.kind IS 'automatic, or requested by the app''s owner: test, manual (a redelivery).';
COMMENT ON COLUMN deliveries.first_delivery_id IS 'For a redelivery: the first, automatic delivery.';
COMMENT ON COLUMN deliveries.endpoint_id IS 'Further endpoint of the app; null for its webhook URL.';
COMMENT ON COLUMN deliveries.payment_id IS 'Null for a test.';
COMMENT ON COLUMN deliveries.status IS 'delivered for a 2xx answer, else exhausted; exhausted also if the outcome is unknown.';
COMMENT ON COLUMN deliveries.delivered_at IS 'Time of the answer or of the time-out; null while no outcome is recorded.';

CREATE TABLE treasury_movements (
  chain_id     integer     NOT NULL,
  account      text        NOT NULL,
  tx_hash      text        NOT NULL,
  asset        text        NOT NULL,
  part         text        NOT NULL,
  kind         text        NOT NULL,
  amount       numeric     NOT NULL,
  reference    text,
  counterparty text,
  block_number bigint      NOT NULL,
  block_hash   text,
  position     bigint      NOT NULL,
  at           timestamptz NOT NULL,
  PRIMARY KEY (chain_id, account, tx_hash, asset, part)
);
COMMENT ON TABLE treasury_movements IS 'Effects of every recorded transfer on an account of the treasury, and receipts from outside. Opening and movements add up to the balance.';
COMMENT ON COLUMN treasury_movements.account IS 'Account whose money moved: the paying account, or the receiving account of payins to a shared address or to the payin contract.';
COMMENT ON COLUMN treasury_movements.tx_hash IS 'Empty if no single transaction is known.';
COMMENT ON COLUMN treasury_movements.asset IS 'coin for the chain''s own, a token by its address.';
COMMENT ON COLUMN treasury_movements.part IS 'fee, rent, or the number of the transfer in the transaction.';
COMMENT ON COLUMN treasury_movements.kind IS 'opening, payin, unmatched, payout, refund, withdrawal, rebalance, burn, mint, sweep, deployment, anchor, cancel, adopted, topUp, flush (a deposit that another account emptied), explained, networkClosed (moves nothing: the chain''s network was reset).';
COMMENT ON COLUMN treasury_movements.amount IS 'In smallest units; negative for outgoing amounts.';
COMMENT ON COLUMN treasury_movements.reference IS 'Payment, operation or transfer of the movement.';
COMMENT ON COLUMN treasury_movements.position IS 'Position of the event in the log.';

CREATE TABLE notices (
  event_id     text        PRIMARY KEY,
  app_id       text        NOT NULL,
  kind         text        NOT NULL,
  payment_id   text,
  amount       numeric,
  token_symbol text,
  position     bigint      NOT NULL,
  at           timestamptz NOT NULL
);
COMMENT ON TABLE notices IS 'Events that an app''s members can be notified of.';
COMMENT ON COLUMN notices.kind IS 'moneyHeld, largePayment or webhookFailing. Each not accepted webhook is a row; only several of them are a notification.';
COMMENT ON COLUMN notices.payment_id IS 'Null for webhooks.';
COMMENT ON COLUMN notices.amount IS 'Held or received amount in whole tokens; null for webhooks.';
COMMENT ON COLUMN notices.position IS 'Position of the event in the log.';
