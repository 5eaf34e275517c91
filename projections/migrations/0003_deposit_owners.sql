-- Where deposits are keys' own accounts, whoever answers requests has no keys: it takes addresses that were made before.

CREATE TABLE ops.deposit_owners (
  address text PRIMARY KEY,
  scheme  text NOT NULL,
  salt    text NOT NULL
);
COMMENT ON TABLE ops.deposit_owners IS 'Addresses for deposits to come, each taken once. Filled by an instance that has the seed of their keys.';
COMMENT ON COLUMN ops.deposit_owners.scheme IS 'Which derivation made the key.';
COMMENT ON COLUMN ops.deposit_owners.salt IS 'What the key is derived with, beside the seed. The payment''s first event keeps it.';
