-- Where deposits are keys' own accounts, whoever answers requests has no keys: it takes addresses that were made before.

CREATE TABLE ops.deposit_owners (
  address text PRIMARY KEY,
  scheme  text NOT NULL,
  salt    text NOT NULL
);
COMMENT ON TABLE ops.deposit_owners IS 'Addresses for future deposits, each used once. An instance with the seed of their keys fills the table.';
COMMENT ON COLUMN ops.deposit_owners.scheme IS 'Derivation of the key.';
COMMENT ON COLUMN ops.deposit_owners.salt IS 'Salt of the derivation, in addition to the seed. The payment''s first event contains it.';
