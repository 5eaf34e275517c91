/**
 * An operator records an unknown transaction; then the account resumes. Each is one append to the treasury's stream: an interrupted run is
 * repeated, and recorded ones are not recorded again.
 */

import type { AccountHistory, AccountTransaction, BalanceChange } from '../../../commands/accountHistory.ts';
import type { Handle } from '../../../commands/handle.ts';
import type { AddressSpelling, Clock } from '../../../commands/ports.ts';
import {
  loadFrom,
  type Outgoing,
  type PayoutRail,
  type Sent,
  type TransferOwners,
} from '../../../commands/transferPorts.ts';
import { type ChainId, chainOf, tokenAt } from '../../../domain/chains.ts';
import { assert, isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { coinAddress, coinOf, formatAmount } from '../../../domain/money.ts';
import type { Instant } from '../../../domain/time.ts';
import type { AssetRef, PurposeKind, TransferKey } from '../../../domain/transfer/shapes.ts';
import { adoptTransaction } from '../../../domain/treasury/adopting.ts';
import { treasury, treasuryInstance } from '../../../domain/treasury/state.ts';
import type { OperatorBy } from './operations.ts';
import type { UnknownTransaction } from './unknownTransactions.ts';

export interface AdoptDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly rail: Pick<PayoutRail, 'chainId' | 'fate'>;
  readonly history: Pick<AccountHistory, 'finality' | 'withNonce'>;
  readonly owners: TransferOwners;
  readonly addresses: AddressSpelling;
  /** Unfinished transfers of an asset and amount, in whole tokens. @throws Unavailable */
  /** Chain time up to which final payins are read on all chains; null if one has not been read yet. */
  readonly payinsReadTo: () => Promise<Instant | null>;
  readonly openTransfers: (asset: string, amount: string) => Promise<readonly TransferKey[]>;
}

export interface Adopting {
  readonly reason: string;
  /** The receiver is not one of ours, although receiver, token and amount are equal. */
  readonly notAPayout?: boolean;
}

/** An adoptable transaction: some node returns it. */
export type AdoptableTransaction = UnknownTransaction & { readonly transaction: AccountTransaction };

/**
 * @returns true if it was recorded now. Refused while nodes may still undo it, and while it seems to have paid something that is still owed
 */
export async function adopt(
  deps: AdoptDeps,
  stranger: AdoptableTransaction,
  { reason, notAPayout = false }: Adopting,
  by: OperatorBy,
  signal: AbortSignal,
): Promise<boolean | Refusal> {
  const { account, nonce, transaction } = stranger;
  const open = await unlessFinal(deps, stranger, signal);
  if (open) return open;
  const early = notAPayout ? undefined : await unlessPayinsAreRead(deps, transaction);
  if (early) return early;
  const [paid] = notAPayout ? [] : await paidBy(deps, transaction);
  if (paid) return seemsPaid(transaction, paid);
  const { txHash: hash, ...rest } = transaction;
  const { handle, clock, rail } = deps;
  const strange = { ...rest, hash, nonce };
  const handled = await handle(
    treasury,
    treasuryInstance(rail.chainId, account),
    (state) => adoptTransaction(state, strange, { reason, now: clock.now() }),
    { ...by, appId: null },
  );
  return isRefusal(handled) ? handled : handled.appended > 0;
}

/** An old copy of the log learns of paid payments only by reading the chains again: a payment of this transaction may not be owed yet. */
async function unlessPayinsAreRead(
  { payinsReadTo }: AdoptDeps,
  { txHash, time, succeeded, changes }: AccountTransaction,
): Promise<Refusal | undefined> {
  if (!succeeded || !changes.some(({ amount }) => amount < 0n)) return undefined;
  const readTo = await payinsReadTo();
  if (readTo !== null && readTo > time) return undefined;
  return refuse(
    'unavailable',
    `${txHash} of ${time} may have paid for what came before it, and payins are read to ${readTo ?? 'nowhere'} only: wait until the service has read them, or he may be paid again; --not-a-payout if it was for something else`,
  );
}

/** Unfinished transfer to a receiver that got exactly this from the transaction, and could be paid again. */
export async function paidBy(
  { owners, rail, addresses, openTransfers }: Pick<AdoptDeps, 'owners' | 'rail' | 'addresses' | 'openTransfers'>,
  { changes, succeeded }: AccountTransaction,
): Promise<readonly Outgoing[]> {
  const gone = succeeded ? changes.filter(({ amount }) => amount < 0n) : [];
  const found = await Promise.all(
    gone.map(async ({ asset, amount, counterparty }) => {
      const token = changedAsset(rail.chainId, asset);
      if (!token || counterparty === null) return [];
      const keys = await openTransfers(token.address, formatAmount(-amount, token.decimals));
      const owed = await Promise.all(keys.map((key) => loadFrom(owners, key)));
      const receiver = addresses.canonical(chainOf(rail.chainId), counterparty) ?? counterparty;
      return owed.filter((each) => each?.leg.order.receiver === receiver && each.mayOutbid && each.step.do !== 'hold');
    }),
  );
  return found.flat().filter((each) => each !== undefined);
}

const holding: Readonly<Partial<Record<PurposeKind, string>>> = {
  payout: 'npm run payouts -- hold',
  refund: 'npm run refunds -- call-off',
  withdrawal: 'npm run treasury -- call-off',
};

const seemsPaid = ({ txHash }: AccountTransaction, { purpose, leg: { order } }: Outgoing): Refusal =>
  refuse(
    'conflict',
    `${txHash} sent ${order.receiver} what ${purpose.kind} ${purpose.reference} owes him: put that on hold first (${holding[purpose.kind]}), or he is paid again; --not-a-payout if it was for something else`,
  );

export function changedAsset(chainId: ChainId, asset: string): AssetRef | undefined {
  return asset === coinAddress ? coinOf(chainId) : tokenAt(chainOf(chainId), asset);
}

/** For transactions with a nonce, the required number of nodes must agree: the attempts that they disprove could have paid. */
async function unlessFinal(
  { rail, history }: AdoptDeps,
  { account, nonce, transaction }: AdoptableTransaction,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  const { txHash, blockNumber } = transaction;
  const wait = refuse('unavailable', `${txHash} in block ${blockNumber} is not final for enough nodes yet: try again`);
  if (nonce === null || !history.withNonce)
    return (await history.finality(transaction, signal)) === 'final' ? undefined : wait;
  const fate = await rail.fate([asSent(rail.chainId, account, nonce, transaction)], signal);
  if (fate.kind === 'dead' && fate.proof.reason !== 'reverted')
    return refuse('conflict', `nodes do not agree that ${txHash} used nonce ${nonce}: ${fate.proof.detail}`);
  return fate.kind === 'final' || fate.kind === 'short' || fate.kind === 'dead' ? undefined : wait;
}

/** In the form of a fate query: like a cancel, a transfer of nothing, because its effects are known. */
function asSent(chainId: ChainId, account: string, nonce: bigint, { txHash, time }: AccountTransaction): Sent {
  const [token] = chainOf(chainId).tokens;
  assert(token !== undefined, 'every chain has a token');
  const numbered = { attempt: 1, account, nonce: nonce.toString(), validUntil: null };
  return { ...numbered, hash: txHash, bytes: '', token, receiver: account, amount: '0', signedAt: time };
}

/** Its effects in one line: receivers and amounts. */
export function describe(
  chainId: ChainId,
  { changes, succeeded }: Pick<AccountTransaction, 'changes' | 'succeeded'>,
): string {
  if (!succeeded) return 'failed: nothing moved';
  const told = changes.map((change) => textOf(chainId, change));
  return told.join(', ') || 'moved nothing';
}

function textOf(chainId: ChainId, { asset, amount, counterparty }: BalanceChange): string {
  const token = changedAsset(chainId, asset);
  const sum = amount < 0n ? -amount : amount;
  const text = token ? `${formatAmount(sum, token.decimals)} ${token.symbol}` : `${sum} of ${asset}`;
  return `${text} ${amount < 0n ? 'to' : 'from'} ${counterparty ?? 'several or nobody'}`;
}
