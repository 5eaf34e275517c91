/** Pays as new wallets on Solana do, with a transaction of version 1: into the receiver's token account, which is created as needed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, PublicKey, TransactionExpiredBlockheightExceededError } from 'solana-web3-v1';
import { signedAsVersionOne } from './solana/versionOne.ts';
import { keypairOf, transferInstructions } from './solana/wallet.ts';

export interface SolanaOrder {
  /** The mint. */
  readonly token: string;
  readonly decimals: number;
  /** In smallest units. */
  readonly amount: bigint;
  /** The wallet that owns the token account. */
  readonly receiverAddress: string;
  /** Keys of a Solana Pay URL (`solana:<receiver>?…&reference=<key>`) go into the transfer; null for none. */
  readonly walletLink: string | null;
}

const triesMax = 2;
const look_ms = 200;
/** Two minutes: a blockhash lives for less. */
const looksMax = 600;

/**
 * Sends a new transaction if the first one can no longer land: a node that is killed forgets those that wait.
 * @returns the transaction's signature once it is confirmed @throws Error when it fails or does not land in time
 */
export async function payOnSolana(rpcUrl: string, secretKey: string, order: SolanaOrder): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await payOnce(rpcUrl, secretKey, order);
    } catch (error) {
      if (!(error instanceof TransactionExpiredBlockheightExceededError)) throw error;
      // It may have landed in the last block that accepts it.
      if (await hasLanded(rpcUrl, error.signature)) return error.signature;
      if (tries === triesMax) throw error;
    }
  }
}

async function hasLanded(rpcUrl: string, signature: string): Promise<boolean> {
  const connection = new Connection(rpcUrl, 'confirmed');
  const { value } = await connection.getSignatureStatus(signature, { searchTransactionHistory: true });
  if (value?.err) throw new Error(`the transfer ${signature} failed: ${JSON.stringify(value.err)}`);
  return value !== null;
}

async function payOnce(rpcUrl: string, secretKey: string, order: SolanaOrder): Promise<string> {
  const payer = keypairOf(secretKey);
  const connection = new Connection(rpcUrl, 'confirmed');
  const { blockhash: recentBlockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
  const instructions = await transferInstructions({
    from: payer.publicKey,
    to: new PublicKey(order.receiverAddress),
    mint: order.token,
    decimals: order.decimals,
    amount: order.amount,
    references: referencesOf(order.walletLink),
  });
  const signature = await connection.sendRawTransaction(await signedAsVersionOne(payer, instructions, recentBlockhash));
  await confirmed(connection, signature, lastValidBlockHeight);
  return signature;
}

/**
 * Asks the node again and again: a busy or restarted node loses notifications, and `confirmTransaction` then waits until the blockhash has
 * expired. @throws TransactionExpiredBlockheightExceededError, Error when the transfer fails
 */
async function confirmed(connection: Connection, signature: string, lastValidBlockHeight: number): Promise<void> {
  for (let looks = 0; looks < looksMax; looks += 1) {
    const { value } = await connection.getSignatureStatus(signature);
    if (value?.err) throw new Error(`the transfer ${signature} failed: ${JSON.stringify(value.err)}`);
    if (value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized') return;
    if (value === null && (await connection.getBlockHeight()) > lastValidBlockHeight) break;
    await sleep(look_ms);
  }
  throw new TransactionExpiredBlockheightExceededError(signature);
}

function referencesOf(link: string | null): PublicKey[] {
  if (!link?.startsWith('solana:')) return [];
  return new URL(link).searchParams.getAll('reference').map((key) => new PublicKey(key));
}
