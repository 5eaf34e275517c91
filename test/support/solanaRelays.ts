/** Transactions that payers' programs on Solana sign for a fee payer. Written from x402 (scheme_exact_svm), without the service's code. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ComputeBudgetProgram,
  type Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from 'solana-web3-v1';
import { chainOf, findToken, type Token } from '../../domain/chains.ts';
import { usdc } from '../../sandbox/solana/usdc.ts';
import { transferInstructions } from '../../sandbox/solana/wallet.ts';
import type { PayerTransactionOrder } from '../../src/chains/ports.ts';

export interface PaidByProgram {
  readonly payer: Keypair;
  readonly feePayer: string;
  readonly to: PublicKey;
  readonly amount: bigint;
  readonly blockhash: string;
  /** Text that makes equal payments different. */
  readonly memo?: string;
  readonly units?: number;
  readonly price_microLamports?: number;
  /** Changes what is signed. */
  readonly edit?: (instructions: TransactionInstruction[]) => TransactionInstruction[];
  /** Key that signs. Default: the payer's. */
  readonly signer?: Keypair;
}

const memoProgram = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

export const memoOf = (text: string): TransactionInstruction =>
  new TransactionInstruction({ programId: memoProgram, keys: [], data: Buffer.from(text) });

/** The transaction in base64, with the payer's signature and an empty one of the fee payer. */
export async function programTransaction(paid: PaidByProgram): Promise<string> {
  const { payer, feePayer, to, amount, blockhash, memo = 'tea', edit = (each) => each } = paid;
  const [, transfer] = await transferInstructions({ from: payer.publicKey, to, amount, ...usdc });
  if (!transfer) throw new Error('a wallet makes a transfer');
  const instructions = [
    ComputeBudgetProgram.setComputeUnitLimit({ units: paid.units ?? 20_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: paid.price_microLamports ?? 1 }),
    transfer,
    memoOf(memo),
  ];
  const message = new TransactionMessage({
    payerKey: new PublicKey(feePayer),
    recentBlockhash: blockhash,
    instructions: edit(instructions),
  }).compileToV0Message();
  const transaction = new VersionedTransaction(message);
  if (!paid.signer) transaction.sign([payer]);
  else {
    const signed = new VersionedTransaction(message);
    const at = message.staticAccountKeys.findIndex((key) => key.equals(payer.publicKey));
    // Another key's signature at the payer's place.
    signed.message.staticAccountKeys[at] = paid.signer.publicKey;
    signed.sign([paid.signer]);
    signed.message.staticAccountKeys[at] = payer.publicKey;
    transaction.signatures[at] = signed.signatures[at] ?? new Uint8Array(64);
  }
  return Buffer.from(transaction.serialize()).toString('base64');
}

/** The order of a relay that sends a transaction. */
export function payerTransactionOrder(
  transaction: string,
  { payer, to, amount }: Pick<PaidByProgram, 'payer' | 'to' | 'amount'>,
  salt: string,
): PayerTransactionOrder {
  const wire = Buffer.from(transaction, 'base64');
  const message = wire.subarray(129);
  return {
    chainId: 501,
    token: findToken(chainOf(501), 'USDC') as Token,
    receiver: to.toBase58(),
    receiverMemo: null,
    amount,
    form: {
      kind: 'payerTransaction',
      deposit: { address: to.toBase58(), salt },
      payer: payer.publicKey.toBase58(),
      nonce: `0x${createHash('sha256').update(message).digest('hex')}`,
      signature: `0x${wire.subarray(65).toString('hex')}`,
      costMax: '3000000',
    },
  };
}

/** The parts of an answer that say what a program does next. */
interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
  readonly response?: any;
}

const reasonOf = ({ response }: Answered): string => response?.errorReason ?? '';
const isPending = (answer: Answered): boolean => reasonOf(answer) === 'settlement_pending' || answer.status === 503;
const isExpired = (answer: Answered): boolean => /^expired$|_valid_before$/.test(reasonOf(answer));

/**
 * Hands a transaction in until it is settled, as programs do: the same one again while it is pending, and a new one if no block accepts it any
 * more. On a slow machine a blockhash may be over before its transaction is sent.
 */
export async function untilSettled<A extends Answered>(
  sign: () => Promise<string>,
  hand: (transaction: string) => Promise<readonly A[]>,
): Promise<readonly A[]> {
  for (;;) {
    const transaction = await sign();
    let answers = await hand(transaction);
    while (answers.some(isPending)) {
      await sleep(200);
      answers = await hand(transaction);
    }
    if (!answers.every(isExpired)) return answers;
  }
}
