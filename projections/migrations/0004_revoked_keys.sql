-- Revoked keys, told to every instance past the read models: those may stand still.

CREATE TABLE ops.revoked_keys (
  number     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key_id     text        NOT NULL UNIQUE,
  app_id     text        NOT NULL,
  revoked_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE ops.revoked_keys IS 'API keys that every instance refuses, regardless of read models. Written before the event log; rows are permanent.';
COMMENT ON COLUMN ops.revoked_keys.number IS 'Ascending in the order of visibility: an instance reads the rows above its last known number.';

CREATE TABLE ops.api_instances (
  instance text        PRIMARY KEY,
  name     text        NOT NULL,
  known    bigint      NOT NULL,
  heard_at timestamptz NOT NULL
);
COMMENT ON TABLE ops.api_instances IS 'Instances that answer requests with keys. An instance removes its row when it stops.';
COMMENT ON COLUMN ops.api_instances.name IS 'Host, port and process, for people.';
COMMENT ON COLUMN ops.api_instances.known IS 'Number of the last revoked key that the instance refuses.';
COMMENT ON COLUMN ops.api_instances.heard_at IS 'Time of its last report.';
