-- Requests of callers, counted per window. Unlogged: after a crash of Postgres everybody begins anew.

CREATE UNLOGGED TABLE ops.rate_limits (
  key    text    PRIMARY KEY,
  points integer NOT NULL DEFAULT 0,
  expire bigint
);
CREATE INDEX rate_limits_expire ON ops.rate_limits (expire);
COMMENT ON TABLE ops.rate_limits IS 'Requests counted per caller and window, for limits that all instances share. Removed an hour after the window''s end.';
COMMENT ON COLUMN ops.rate_limits.key IS 'The limit''s name and its subject: an address, the /64 of an IPv6 address, a key or an app.';
COMMENT ON COLUMN ops.rate_limits.points IS 'Requests in the window.';
COMMENT ON COLUMN ops.rate_limits.expire IS 'The window''s end, in milliseconds since 1970.';
