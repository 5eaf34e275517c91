-- What payouts have waited for, kept once they are signed: the log has no event of a wait. One row for each payment and reason.

CREATE TABLE ops.payout_waited (
  payment_id text        NOT NULL,
  reason     text        NOT NULL,
  chain_id   integer     NOT NULL,
  first_at   timestamptz NOT NULL,
  last_at    timestamptz NOT NULL,
  waited     interval    NOT NULL,
  times      integer     NOT NULL,
  PRIMARY KEY (payment_id, reason)
);
COMMENT ON TABLE ops.payout_waited IS 'What payouts have waited for before they were signed. Kept; not in the log, so that it begins anew with a database that is filled from the log.';
COMMENT ON COLUMN ops.payout_waited.reason IS 'A stable code such as float, gas, appPerHour, treasuryPaused.';
COMMENT ON COLUMN ops.payout_waited.first_at IS 'When it was first told to wait for this.';
COMMENT ON COLUMN ops.payout_waited.last_at IS 'When it was last told so.';
COMMENT ON COLUMN ops.payout_waited.waited IS 'For how long, until it was last told so, or to wait for something else. From then until it was signed is not in it.';
COMMENT ON COLUMN ops.payout_waited.times IS 'How often it began to wait for this.';
