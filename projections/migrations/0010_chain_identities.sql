-- Which network each chain was when it was first read.

CREATE TABLE ops.chain_identities (
  chain_id integer     PRIMARY KEY,
  identity text        NOT NULL,
  noted_at timestamptz NOT NULL
);
COMMENT ON TABLE ops.chain_identities IS 'What tells the network of a chain from all others, as its nodes first said. A node that says something else belongs to another network, whatever its chain id.';
COMMENT ON COLUMN ops.chain_identities.identity IS 'Hash of the genesis block (EVM, Solana), or the network passphrase (Stellar).';
