-- Why payouts are not signed, for whoever asks.

CREATE TABLE ops.payout_waits (
  payment_id text        PRIMARY KEY,
  chain_id   integer     NOT NULL,
  reason     text        NOT NULL,
  message    text        NOT NULL,
  since      timestamptz NOT NULL,
  noted_at   timestamptz NOT NULL
);
CREATE INDEX payout_waits_old ON ops.payout_waits (noted_at);
COMMENT ON TABLE ops.payout_waits IS 'Reasons why payouts were not signed at the last attempt. A payout that was signed later can still be here. Rows are removed one day after their last update.';
COMMENT ON COLUMN ops.payout_waits.reason IS 'A stable code such as float, gas, appPerHour, treasuryPaused.';
COMMENT ON COLUMN ops.payout_waits.since IS 'When it first waited for this reason.';
