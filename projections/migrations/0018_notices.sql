-- Notifications of members: what was collected for their mails, and what they have seen. Not in the log.

CREATE TABLE ops.notice_mails (
  developer_id text        NOT NULL REFERENCES ops.people ON DELETE CASCADE,
  app_id       text        NOT NULL,
  kind         text        NOT NULL,
  count        integer     NOT NULL,
  since        timestamptz NOT NULL,
  line         text,
  PRIMARY KEY (developer_id, app_id, kind)
);
COMMENT ON TABLE ops.notice_mails IS 'Notifications that wait for the next mail to a member, one row per app and kind: a flood only raises the count.';
COMMENT ON COLUMN ops.notice_mails.since IS 'Time of the first of them.';
COMMENT ON COLUMN ops.notice_mails.line IS 'Text of a summary; null for other kinds.';

CREATE TABLE ops.notice_mailboxes (
  developer_id text        PRIMARY KEY REFERENCES ops.people ON DELETE CASCADE,
  mailed_at    timestamptz NOT NULL,
  day          date        NOT NULL,
  mails        integer     NOT NULL
);
COMMENT ON TABLE ops.notice_mailboxes IS 'Mails with notifications to each person, for the minimum interval and the daily maximum.';
COMMENT ON COLUMN ops.notice_mailboxes.day IS 'UTC day that `mails` counts.';

CREATE TABLE ops.notice_firsts (
  app_id text        PRIMARY KEY,
  at     timestamptz NOT NULL
);
COMMENT ON TABLE ops.notice_firsts IS 'Hour of each app''s first payment that was paid out, once it was noticed.';

CREATE TABLE ops.notice_summaries (
  app_id text        NOT NULL,
  kind   text        NOT NULL,
  from_  timestamptz NOT NULL,
  line   text        NOT NULL,
  at     timestamptz NOT NULL,
  PRIMARY KEY (app_id, kind, from_)
);
COMMENT ON TABLE ops.notice_summaries IS 'Daily and weekly summaries of apps with a member who chose them, for 60 days.';
COMMENT ON COLUMN ops.notice_summaries.kind IS 'dailySummary or weeklySummary.';
COMMENT ON COLUMN ops.notice_summaries.from_ IS 'Beginning of the day or week, in UTC.';

CREATE TABLE ops.notice_readers (
  app_id       text        NOT NULL,
  developer_id text        NOT NULL REFERENCES ops.people ON DELETE CASCADE,
  seen_at      timestamptz NOT NULL,
  PRIMARY KEY (app_id, developer_id)
);
COMMENT ON TABLE ops.notice_readers IS 'Time up to which a member has marked the notifications of an app as read.';

ALTER TABLE ops.mails ADD COLUMN app_ids text[];
COMMENT ON COLUMN ops.mails.app_ids IS 'Apps that the mail is about: it is not sent to a person who has left one of their teams. Null for mail of other kinds.';
