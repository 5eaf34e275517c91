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
COMMENT ON TABLE ops.payout_waited IS 'Past waits of payouts before their signature. Not in the log: a database that is rebuilt from the log begins without them.';
COMMENT ON COLUMN ops.payout_waited.reason IS 'A stable code such as float, gas, appPerHour, treasuryPaused.';
COMMENT ON COLUMN ops.payout_waited.first_at IS 'Start of the first wait for this reason.';
COMMENT ON COLUMN ops.payout_waited.last_at IS 'Time of the last attempt with this reason.';
COMMENT ON COLUMN ops.payout_waited.waited IS 'Total time until the last attempt with this reason, or until another reason. The time from then to the signature is not included.';
COMMENT ON COLUMN ops.payout_waited.times IS 'Number of waits for this reason.';
