-- The newest API requests of each app, for its developers.

CREATE TABLE ops.api_requests (
  entry_id    text        PRIMARY KEY,
  app_id      text        NOT NULL,
  at          timestamptz NOT NULL,
  caller      text        NOT NULL,
  method      text        NOT NULL,
  route       text        NOT NULL,
  status      integer     NOT NULL,
  error       text,
  request_id  text        NOT NULL,
  duration_ms integer     NOT NULL
);
CREATE INDEX api_requests_newest ON ops.api_requests (app_id, at DESC, entry_id DESC);
COMMENT ON TABLE ops.api_requests IS 'The newest 1,000 API requests of each app with an accepted key or session. No body, query, header or address. Not in the log.';
COMMENT ON COLUMN ops.api_requests.at IS 'Start of the request.';
COMMENT ON COLUMN ops.api_requests.caller IS 'key:<id> or developer:<id>.';
COMMENT ON COLUMN ops.api_requests.route IS 'Pattern of the path, without ids.';
COMMENT ON COLUMN ops.api_requests.error IS 'Error code of the answer; null for a success.';
