/**
 * Classes of Solana's library that the service uses: addresses, instructions and messages. Only this file names the package, so that another
 * version with the same classes replaces it by one line (docs/explain/decisions/0024-solana-library.md).
 */
export {
  type AccountMeta,
  type Blockhash,
  ComputeBudgetInstruction,
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedMessage,
} from '@solana/web3.js';
