-- Where nothing is signed before an operator has compared the treasury with its chain.

CREATE TABLE ops.payouts_to_pause (
  chain_id integer     PRIMARY KEY,
  noted_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE ops.payouts_to_pause IS 'Chains whose payouts must be paused after a restore of the log, before anything is signed. A row is removed when the pause is in the log.';
