-- Transactions that cannot be read as nodes show them: what is known of each, beside the note that has it tried again.

CREATE TABLE ops.unreadable_transactions (
  worker       text        NOT NULL,
  key          text        NOT NULL,
  block_number numeric(20) NOT NULL,
  addresses    text[]      NOT NULL,
  evidence     text        NOT NULL,
  seen_at      timestamptz NOT NULL,
  PRIMARY KEY (worker, key),
  FOREIGN KEY (worker, key) REFERENCES ops.work_failures ON DELETE CASCADE
);
COMMENT ON TABLE ops.unreadable_transactions IS 'Transactions that may have paid us and cannot be read. A row goes when its transaction was read, or an operator has dismissed it.';
COMMENT ON COLUMN ops.unreadable_transactions.worker IS 'payins:<chainId>:unreadable';
COMMENT ON COLUMN ops.unreadable_transactions.key IS 'Hash of the transaction.';
COMMENT ON COLUMN ops.unreadable_transactions.addresses IS 'Deposits of ours that it may have paid; the end of their payments waits while it is tried. Empty where nothing tells.';
COMMENT ON COLUMN ops.unreadable_transactions.evidence IS 'What the node showed, and what was wrong with it.';

CREATE TABLE ops.unread_blocks (
  chain_id     integer     PRIMARY KEY,
  from_block   numeric(20) NOT NULL,
  to_block     numeric(20) NOT NULL,
  transactions bigint      NOT NULL,
  noted_at     timestamptz NOT NULL
);
COMMENT ON TABLE ops.unread_blocks IS 'Where there was no room to keep every transaction that cannot be read: these blocks are to be read again (npm run rescan), which takes the row away.';
COMMENT ON COLUMN ops.unread_blocks.transactions IS 'How many were left out; one that was seen twice counts twice.';
