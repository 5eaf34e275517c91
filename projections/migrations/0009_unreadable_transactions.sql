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
COMMENT ON COLUMN ops.unreadable_transactions.addresses IS 'Our deposits that the transaction may have paid; their payments do not expire during the retries. Empty if unknown.';
COMMENT ON COLUMN ops.unreadable_transactions.evidence IS 'The node''s answer and the fault in it.';

CREATE TABLE ops.unread_blocks (
  chain_id     integer     PRIMARY KEY,
  from_block   numeric(20) NOT NULL,
  to_block     numeric(20) NOT NULL,
  transactions bigint      NOT NULL,
  noted_at     timestamptz NOT NULL
);
COMMENT ON TABLE ops.unread_blocks IS 'Blocks with more unreadable transactions than the table can hold. npm run rescan reads them again and removes the row.';
COMMENT ON COLUMN ops.unread_blocks.transactions IS 'Number of omitted transactions; one that was read twice counts twice.';
