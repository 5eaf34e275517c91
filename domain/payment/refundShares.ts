/** Whose the money is that can go back, and to where its sender has proven that it may go without an operator's word. */
import type { ChainId } from '../chains.ts';
import { smaller } from '../money.ts';
import { sumOf } from './counting.ts';
import { type Refundable, refundable, takenBy } from './refund.ts';
import { isSameAsset } from './sources.ts';
import type { Payment, Refund } from './state.ts';

export interface Receiver {
  readonly address: string;
  readonly memo: string | null;
}

/** An account that has paid by signed messages before: it is somebody's own, and no exchange's. */
export interface KnownSigner {
  readonly account: string;
  /** A contract has signed for itself on these chains alone. */
  readonly chainIds: readonly ChainId[];
}

/** So much of what can go back is one sender's. */
export interface Share {
  readonly receiver: Receiver;
  readonly proof: NonNullable<Refund['request']['proof']>;
  readonly amount: bigint;
}

/**
 * The shares of those who have proven an address, the largest first. A sender's share is what he sent himself: whoever adds a cent of his
 * own to a stranger's payment gets no more than that cent.
 */
export function provenShares(p: Payment, entry: Refundable, signers: readonly KnownSigner[]): readonly Share[] {
  const senders = new Set(p.payins.map(({ transfer }) => transfer.from));
  const shares = [...senders].flatMap((sender) => {
    const proven = provenBy(p, entry, sender, signers);
    const amount = proven ? ownPart(p, entry, sender) : 0n;
    return proven && amount > 0n ? [{ ...proven, amount }] : [];
  });
  return shares.toSorted((a, b) => (b.amount > a.amount ? 1 : -1));
}

/** One sender's part of what can go back in one token. */
export interface OwnMoney {
  readonly sender: string;
  readonly chainId: ChainId;
  readonly tokenAddress: string;
  readonly amount: bigint;
  /** Where he has proven that it goes; null where he has not. */
  readonly receiver: Receiver | null;
  /** A transfer of his on that chain. */
  readonly transferId: string;
}

/** Whose money can go back, and to where. */
export const ownersOf = (p: Payment, signers: readonly KnownSigner[] = []): readonly OwnMoney[] =>
  refundable(p).flatMap((entry) =>
    [...new Set(p.payins.map(({ transfer }) => transfer.from))].flatMap((sender) => {
      const amount = ownPart(p, entry, sender);
      const from = p.payins.find(({ transfer }) => transfer.from === sender && transfer.chainId === entry.chainId);
      if (!from || amount <= 0n) return [];
      const receiver = provenBy(p, entry, sender, signers)?.receiver ?? null;
      const { chainId, token } = entry;
      return [{ sender, chainId, tokenAddress: token.address, amount, receiver, transferId: from.id }];
    }),
  );

/**
 * What he signed for goes before the account that he has paid from. It holds on the chain that he signed for: elsewhere the same address may
 * be another's, where it is a contract's. The account of his own key is his on every chain that he paid on.
 */
function provenBy(
  p: Payment,
  { chainId }: Pick<Refundable, 'chainId'>,
  sender: string,
  signers: readonly KnownSigner[],
): Omit<Share, 'amount'> | undefined {
  const own = p.refundAddresses.filter(({ proof }) => proof?.sender === sender);
  const set =
    own.findLast(({ proof }) => p.payins.some((payin) => isOn(payin, chainId) && payin.id === proof?.transferId)) ??
    own.findLast(({ proof, address }) => proof?.by === 'key' && address === sender);
  if (set) return { receiver: { address: set.address, memo: set.memo }, proof: { sender, by: 'signature' } };
  const signer = signers.find(({ account, chainIds }) => account === sender && chainIds.includes(chainId));
  return signer && { receiver: { address: sender, memo: null }, proof: { sender, by: 'credit' } };
}

const isOn = ({ transfer }: Payment['payins'][number], chainId: ChainId): boolean => transfer.chainId === chainId;

/** What the sender has sent of the entry's money, less what went back to him. */
const ownPart = (p: Payment, entry: Refundable, sender: string): bigint =>
  sentBy(p, entry, sender) - backTo(p, entry, sender);

function sentBy(p: Payment, entry: Refundable, sender: string): bigint {
  const own = p.payins.filter(
    ({ transfer, phase }) => transfer.from === sender && phase === 'confirmed' && isSameAsset(transfer, entry),
  );
  const paidOut = p.funded !== null && p.closed?.kind !== 'bounced';
  const counted = own.filter(({ standing }) => standing === 'counted');
  const excess = paidOut ? smaller(p.funded?.excess ?? 0n, sumOf(counted)) : 0n;
  const held = p.closed?.kind === 'bounced' ? own : own.filter(({ standing }) => standing !== 'counted');
  return excess + sumOf(held);
}

/**
 * An operator may have sent it to any address. What he sent to a sender is that sender's, up to what he has sent; of all else nothing tells
 * whose it was: nobody gets as much again by himself, for it could be another's.
 */
function backTo(p: Payment, entry: Refundable, sender: string): bigint {
  const back = p.refunds.filter(({ order }) => isSameAsset(order, entry));
  const proven = back.filter(({ request }) => request.proof?.sender === sender);
  const unproven = Map.groupBy(
    back.filter(({ request }) => !request.proof),
    ({ order }) => order.receiver,
  );
  const his = [...unproven].map(([receiver, refunds]) => {
    const taken = takenByAll(refunds);
    return receiver === sender ? taken : taken - smaller(taken, sentBy(p, entry, receiver));
  });
  return his.reduce((sum, amount) => sum + amount, takenByAll(proven));
}

const takenByAll = (refunds: readonly Refund[]): bigint => refunds.reduce((sum, refund) => sum + takenBy(refund), 0n);
