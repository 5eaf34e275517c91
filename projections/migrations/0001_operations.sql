-- What the workers and the projections themselves must remember: outside the read models, never rebuilt.

CREATE TABLE ops.projections (
  set_name   text        NOT NULL,
  generation integer     NOT NULL,
  version    integer     NOT NULL,
  status     text        NOT NULL CHECK (status IN ('building', 'active', 'retired')),
  position   bigint,
  events     bigint      NOT NULL DEFAULT 0,
  stopped    text,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (set_name, generation)
);
CREATE UNIQUE INDEX one_active_generation ON ops.projections (set_name) WHERE status = 'active';

COMMENT ON TABLE ops.projections IS 'One row per generation of a projection set: its checkpoint. It changes in the same transaction as its rows.';
COMMENT ON COLUMN ops.projections.version IS 'Version of the tables and projections that filled it. If the code has another version, a rebuild is needed.';
COMMENT ON COLUMN ops.projections.status IS 'building (next to the live generation), active (used by the public views), or retired.';
COMMENT ON COLUMN ops.projections.position IS 'Position in the event log up to which all events are in the rows; null before the first event.';
COMMENT ON COLUMN ops.projections.events IS 'Number of handled events of the log.';
COMMENT ON COLUMN ops.projections.stopped IS 'Why the set stopped: the event that could not be handled. Null while it runs.';

CREATE TABLE ops.chain_cursors (
  chain_id     integer     NOT NULL,
  pass         text        NOT NULL,
  block_number numeric(20) NOT NULL,
  block_hash   text        NOT NULL,
  chain_time   timestamptz NOT NULL,
  PRIMARY KEY (chain_id, pass)
);
COMMENT ON TABLE ops.chain_cursors IS 'The last block that each pass of payin detection has completely read.';
COMMENT ON COLUMN ops.chain_cursors.chain_time IS 'Time of that block, by the chain''s clock.';

CREATE TABLE ops.work_failures (
  worker          text        NOT NULL,
  key             text        NOT NULL,
  attempts        integer     NOT NULL,
  last_error      text        NOT NULL,
  failed_at       timestamptz NOT NULL,
  next_attempt_at timestamptz NOT NULL,
  parked_at       timestamptz,
  PRIMARY KEY (worker, key)
);
COMMENT ON TABLE ops.work_failures IS 'Work that failed and waits for its next attempt, or is parked until an operator retries it. Success removes the row.';
COMMENT ON COLUMN ops.work_failures.key IS 'The blocked item: a payment, a delivery, or a pass of a chain.';
COMMENT ON COLUMN ops.work_failures.attempts IS 'Failures of the item; outages of a chain or a store do not count.';
COMMENT ON COLUMN ops.work_failures.parked_at IS 'Set after too many attempts: not tried again until it is unparked.';
