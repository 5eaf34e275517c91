-- Where nothing is signed before an operator has compared the treasury with its chain.

CREATE TABLE ops.payouts_to_pause (
  chain_id integer     PRIMARY KEY,
  noted_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE ops.payouts_to_pause IS 'The event log was restored from a backup and does not know what was paid since: payouts of these chains are paused, in the log, before anything is signed there. A row goes when that is done.';
