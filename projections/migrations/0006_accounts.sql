-- People who own apps. What is personal is in these tables alone: removing a person's row removes everything else that is theirs.

CREATE TABLE ops.people (
  developer_id text        PRIMARY KEY,
  email        text        NOT NULL UNIQUE,
  mentioned_at timestamptz NOT NULL,
  invited_at   timestamptz,
  proved_at    timestamptz
);
COMMENT ON TABLE ops.people IS 'People by their e-mail address. The event log has only their developer_id.';
COMMENT ON COLUMN ops.people.developer_id IS 'Random; made when the address was first named.';
COMMENT ON COLUMN ops.people.email IS 'In lower case, its domain as DNS spells it.';
COMMENT ON COLUMN ops.people.mentioned_at IS 'When a registration last named it. One that was never proved is removed a day later.';
COMMENT ON COLUMN ops.people.invited_at IS 'When the operator invited the person; null: never.';
COMMENT ON COLUMN ops.people.proved_at IS 'When the person first proved to read mail sent there; null: never.';

CREATE TABLE ops.registrations (
  app_id             text        PRIMARY KEY,
  registration_id    text        NOT NULL UNIQUE,
  developer_id       text        NOT NULL REFERENCES ops.people ON DELETE CASCADE,
  display_name       text        NOT NULL,
  settlement         json,
  webhook_url        text,
  secret_ciphertext  text        NOT NULL,
  secret_fingerprint text        NOT NULL,
  requested_at       timestamptz NOT NULL,
  expires_at         timestamptz NOT NULL
);
CREATE INDEX registrations_developer ON ops.registrations (developer_id);
COMMENT ON TABLE ops.registrations IS 'Apps that wait for the proof of their owner''s e-mail address. They are not in the event log yet.';
COMMENT ON COLUMN ops.registrations.registration_id IS 'Random: a code proves this registration and no later one of the same app.';
COMMENT ON COLUMN ops.registrations.settlement IS 'The wallet, as the event will hold it; null for none.';
COMMENT ON COLUMN ops.registrations.secret_ciphertext IS 'The webhook secret, sealed under the master key.';
COMMENT ON COLUMN ops.registrations.expires_at IS 'From then on the app''s id is free again.';

CREATE TABLE ops.challenges (
  digest          text        PRIMARY KEY,
  developer_id    text        REFERENCES ops.people ON DELETE CASCADE,
  registration_id text        REFERENCES ops.registrations (registration_id) ON DELETE CASCADE,
  salt            text        NOT NULL,
  code_hash       text        NOT NULL,
  tries           integer     NOT NULL DEFAULT 0,
  expires_at      timestamptz NOT NULL
);
CREATE INDEX challenges_developer ON ops.challenges (developer_id);
CREATE INDEX challenges_registration ON ops.challenges (registration_id);
CREATE INDEX challenges_expiry ON ops.challenges (expires_at);
COMMENT ON TABLE ops.challenges IS 'Mailed codes that are still valid, each for its requester. A used code is removed.';
COMMENT ON COLUMN ops.challenges.digest IS 'SHA-256 of the secret of the requesting browser.';
COMMENT ON COLUMN ops.challenges.developer_id IS 'Person who signs in; null if no code was mailed, and then no code is correct.';
COMMENT ON COLUMN ops.challenges.registration_id IS 'The registration that the code also confirms; null for sign-in only.';
COMMENT ON COLUMN ops.challenges.salt IS 'Salt of the scrypt hash of the code.';
COMMENT ON COLUMN ops.challenges.tries IS 'Number of entered codes, the correct one included.';

CREATE TABLE ops.sessions (
  session_id   text        PRIMARY KEY,
  developer_id text        NOT NULL REFERENCES ops.people ON DELETE CASCADE,
  started_at   timestamptz NOT NULL,
  seen_at      timestamptz NOT NULL,
  expires_at   timestamptz NOT NULL,
  address      text        NOT NULL,
  user_agent   text
);
CREATE INDEX sessions_developer ON ops.sessions (developer_id);
COMMENT ON TABLE ops.sessions IS 'Sessions of people. Every request with a token reads this table: a removed row ends the session everywhere.';
COMMENT ON COLUMN ops.sessions.seen_at IS 'Its last request, to the minute.';
COMMENT ON COLUMN ops.sessions.address IS 'Address at sign-in: an IPv4 address or the /64 of an IPv6 address.';
COMMENT ON COLUMN ops.sessions.user_agent IS 'The browser''s User-Agent header.';

CREATE TABLE ops.signing_keys (
  kid        text        PRIMARY KEY,
  sealed     text        NOT NULL,
  created_at timestamptz NOT NULL
);
COMMENT ON TABLE ops.signing_keys IS 'Keys that sign the tokens of sessions; the newest signs. One is kept until the last session of its time is over.';
COMMENT ON COLUMN ops.signing_keys.kid IS 'The name that a token''s header gives.';
COMMENT ON COLUMN ops.signing_keys.sealed IS 'The private key as a JWK, sealed under the master key.';

CREATE TABLE ops.mails (
  mail_id      text        PRIMARY KEY,
  developer_id text        REFERENCES ops.people ON DELETE CASCADE,
  sealed       text        NOT NULL,
  created_at   timestamptz NOT NULL,
  expires_at   timestamptz NOT NULL
);
CREATE INDEX mails_order ON ops.mails (created_at);
CREATE INDEX mails_developer ON ops.mails (developer_id);
COMMENT ON TABLE ops.mails IS 'Mail that waits to be sent. A sent one is removed.';
COMMENT ON COLUMN ops.mails.developer_id IS 'Receiver of the mail; null for a mail without a receiver, so that requests with and without an account cost the same.';
COMMENT ON COLUMN ops.mails.sealed IS 'Address, subject and text, sealed under the master key: a code may be in it.';
COMMENT ON COLUMN ops.mails.expires_at IS 'Not sent any more from then on.';

CREATE TABLE ops.followers (
  name     text   PRIMARY KEY,
  position bigint NOT NULL
);
COMMENT ON TABLE ops.followers IS 'Positions of the workers that notify people of events.';
COMMENT ON COLUMN ops.followers.position IS 'Position in the event log up to which all events are handled.';
