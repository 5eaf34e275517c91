-- Which network each chain was when it was first read.

CREATE TABLE ops.chain_identities (
  chain_id integer     PRIMARY KEY,
  identity text        NOT NULL,
  noted_at timestamptz NOT NULL
);
COMMENT ON TABLE ops.chain_identities IS 'Identity of the network of a chain, from the first answers of its nodes. A node with another identity belongs to another network, even with the same chain id.';
COMMENT ON COLUMN ops.chain_identities.identity IS 'Hash of the genesis block (EVM, Solana), or the network passphrase (Stellar).';
