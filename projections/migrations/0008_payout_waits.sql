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
COMMENT ON TABLE ops.payout_waits IS 'Why payouts were not signed when that was last tried. A payout that was signed since may still be here: todo_payments has those that wait. Rows go a day after they were last noted.';
COMMENT ON COLUMN ops.payout_waits.reason IS 'A stable code such as float, gas, appPerHour, treasuryPaused.';
COMMENT ON COLUMN ops.payout_waits.since IS 'When it first waited for this reason.';
