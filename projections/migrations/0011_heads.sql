-- The tree that heads are the roots of. Made from the log, and made again when it is empty or not what was signed.

CREATE TABLE ops.head_leaves (
  bucket   integer NOT NULL,
  key      bytea   NOT NULL,
  revision bigint  NOT NULL,
  link     bytea   NOT NULL,
  PRIMARY KEY (bucket, key)
);
COMMENT ON TABLE ops.head_leaves IS 'The newest event of each stream that the newest head covers.';
COMMENT ON COLUMN ops.head_leaves.bucket IS 'The first 16 bits of the key.';
COMMENT ON COLUMN ops.head_leaves.key IS 'SHA-256 of the stream''s name.';
COMMENT ON COLUMN ops.head_leaves.revision IS 'Revision of the stream''s newest event.';
COMMENT ON COLUMN ops.head_leaves.link IS 'The hash of that event, which its successor names.';

CREATE TABLE ops.head_buckets (
  bucket integer PRIMARY KEY,
  alone  boolean NOT NULL,
  hash   bytea   NOT NULL
);
COMMENT ON TABLE ops.head_buckets IS 'The hash over the leaves of each bucket.';
COMMENT ON COLUMN ops.head_buckets.alone IS 'Whether it has one leaf, whose hash it then is.';

CREATE TABLE ops.head_progress (
  one      boolean PRIMARY KEY DEFAULT true CHECK (one),
  position bigint  NOT NULL,
  until    text    NOT NULL,
  streams  bigint  NOT NULL,
  events   bigint  NOT NULL
);
COMMENT ON TABLE ops.head_progress IS 'Progress of the leaves in the event log; one row.';
COMMENT ON COLUMN ops.head_progress.position IS 'Place in the event log of the newest event.';
COMMENT ON COLUMN ops.head_progress.until IS 'When that event was written.';
