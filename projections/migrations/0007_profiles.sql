-- What apps show of themselves: beside the event log, which holds digests alone, so that it can be removed.

CREATE TABLE ops.profiles (
  digest  text        PRIMARY KEY,
  app_id  text        NOT NULL,
  content json        NOT NULL,
  kept_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX profiles_by_app ON ops.profiles (app_id);
COMMENT ON TABLE ops.profiles IS 'Profiles that apps have or had: names, contacts, colours, links. Erasing a person removes them.';
COMMENT ON COLUMN ops.profiles.digest IS 'SHA-256 of the content as text, as the event ProfileSet names it.';
COMMENT ON COLUMN ops.profiles.content IS 'The text of the digest, with a random salt: JSON, never rewritten.';

CREATE TABLE ops.logos (
  digest  text        NOT NULL,
  app_id  text        NOT NULL,
  type    text        NOT NULL CHECK (type IN ('image/png', 'image/webp')),
  bytes   bytea       NOT NULL CHECK (length(bytes) <= 102400),
  kept_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (digest, app_id)
);
COMMENT ON TABLE ops.logos IS 'Logos that apps have or had, decoded and encoded again by the service.';
COMMENT ON COLUMN ops.logos.digest IS 'SHA-256 of the bytes.';

CREATE TABLE ops.key_uses (
  key_id text        PRIMARY KEY,
  hour   timestamptz NOT NULL
);
COMMENT ON TABLE ops.key_uses IS 'Last use of API keys, to the hour. Written in batches: a crash can lose the last minute.';
