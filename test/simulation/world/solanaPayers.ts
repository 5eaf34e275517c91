/** Payers on Solana whose programs sign a transaction for the relay account as the fee payer, and sign again when its blockhash is over. */
import { chainOf } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import type { Payment } from '../../../domain/payment/state.ts';
import { memoProgram, wireOf } from '../../../src/chains/solana/payouts/transaction.ts';
import { type SolanaKey, solanaKey } from '../../../src/chains/solana/signer/keys.ts';
import { tokenAccountOf, tokenProgram, transferLayout } from '../../../src/chains/solana/tokenProgram.ts';
import {
  type Blockhash,
  ComputeBudgetProgram,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
} from '../../../src/chains/solana/web3.ts';
import { relayWallet } from '../chains/solana/chain.ts';
import type { Random, SimulatedChain } from '../kernel/ports.ts';
import { theRun } from '../kernel/run.ts';
import { askUntilAnswered } from './ask.ts';
import type { Order } from './customers.ts';
import type { SignedOrder } from './relayChecks.ts';
import type { Instance } from './service.ts';

const signedWithin_ms = 8_000;
/** A payer hands the same transaction in again while it is pending. */
const again_ms = 5_000;
const handedMost = 120;
const signaturesMost = 5;
const units = 20_000;

/** Outcomes after which a program signs again: no block has accepted its transaction, or can. */
const expired: ReadonlySet<string> = new Set(['expired', 'invalid_exact_evm_payload_authorization_valid_before']);
/** Outcomes after which it hands the same transaction in again: its money is not confirmed, or nodes or the signer are away. */
const passing: ReadonlySet<string> = new Set([
  'pending',
  'invalid_exact_evm_insufficient_balance',
  'invalid_network',
  'gas_limit',
  'unavailable',
]);

/** @returns null for an order that is not paid so; as `signs` of customers otherwise */
export function signsOnSolana(
  random: Random,
  instances: readonly Instance[],
  { source, other }: Order,
  payment: Payment,
  ended: () => void,
): SignedOrder | null {
  const { agenda, note } = theRun();
  const token = chainOf(source.chainId).tokens[0];
  const deposit = payment.deposits.solana;
  const amount = BigInt(payment.sources[0]?.amount ?? 0);
  if (source.family !== 'solana' || !token || !deposit || other !== null || amount === 0n) return null;
  const { paymentId } = payment.terms;
  const payer = solanaKey(random.bytes(32));
  const [wait_ms, memo] = [500 + random.below(signedWithin_ms), Buffer.from(random.bytes(8)).toString('hex')];
  const paid = { payer, mint: token.address, decimals: token.decimals, to: deposit.address, amount };
  let [signatures, handed] = [0, 0];

  function sign(): void {
    const blockhash = finalBlockhash(source);
    if (blockhash === null) return void agenda.after(again_ms, sign);
    signatures += 1;
    const transaction = transactionOf({ ...paid, memo: `${memo} ${signatures}`, blockhash });
    note(`the payer of ${paymentId} signs transaction ${signatures}`);
    hand(transaction);
  }

  function hand(transaction: string): void {
    handed += 1;
    askUntilAnswered(
      instances,
      `transaction of ${paymentId}`,
      (api) => api.relaySent(paymentId, source.chainId, transaction),
      (answer) => {
        const outcome = outcomeOf(answer);
        note(`transaction of ${paymentId}: ${outcome}`);
        if (expired.has(outcome) && signatures < signaturesMost) sign();
        else if (passing.has(outcome) && handed < handedMost) agenda.after(again_ms, () => hand(transaction));
        else ended();
        return true;
      },
    );
  }

  source.pay({ address: payer.address, memo: null, tokenAddress: token.address, amount });
  agenda.after(wait_ms, sign);
  return { paymentId, source, payer: payer.address, deposit: deposit.address, amount };
}

type Answer = Awaited<ReturnType<NonNullable<ReturnType<Instance['api']>>['api']['relaySent']>>;

function outcomeOf(answer: Answer): string {
  if (isRefusal(answer)) return answer.fault;
  return answer.result.kind === 'failed' ? answer.result.reason : answer.result.kind;
}

/** Null while no node answers. */
function finalBlockhash({ nodes }: SimulatedChain): string | null {
  for (const node of nodes) {
    try {
      const answer = node.ask('getLatestBlockhash', [{ commitment: 'finalized' }]);
      return (answer as { readonly value: { readonly blockhash: string } }).value.blockhash;
    } catch {
      // The next node may answer.
    }
  }
  return null;
}

interface Paid {
  readonly payer: SolanaKey;
  readonly mint: string;
  readonly decimals: number;
  readonly to: string;
  readonly amount: bigint;
  readonly memo: string;
  readonly blockhash: string;
}

/** As x402 describes it (scheme_exact_svm), with an empty signature of the fee payer. */
function transactionOf({ payer, mint, decimals, to, amount, memo, blockhash }: Paid): string {
  const owner = new PublicKey(payer.address);
  const data = Buffer.alloc(transferLayout.bytes);
  data[0] = transferLayout.tag;
  data.writeBigUInt64LE(amount, transferLayout.amount);
  data[transferLayout.decimals] = decimals;
  const account = (key: string, isWritable: boolean) => ({ pubkey: new PublicKey(key), isSigner: false, isWritable });
  const transfer = new TransactionInstruction({
    programId: new PublicKey(tokenProgram),
    keys: [
      account(tokenAccountOf(payer.address, mint), true),
      account(mint, false),
      account(tokenAccountOf(to, mint), true),
      { pubkey: owner, isSigner: true, isWritable: false },
    ],
    data,
  });
  const message = new TransactionMessage({
    payerKey: new PublicKey(relayWallet.address),
    recentBlockhash: blockhash as Blockhash,
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
      transfer,
      new TransactionInstruction({ programId: memoProgram, keys: [], data: Buffer.from(memo) }),
    ],
  })
    .compileToV0Message()
    .serialize();
  return wireOf(message, [new Uint8Array(64), payer.sign(message)]);
}
