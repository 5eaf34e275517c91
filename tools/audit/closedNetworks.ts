/**
 * Networks that were reset, according to the books: nodes of the new network cannot return transactions of the old one. An event belongs to
 * the old network if it is in the log before the closing, because the new network repeats block numbers.
 */
import type { ChainId } from '../../domain/chains.ts';
import type { Claim, NetworkClosing, UnsettledMoney } from './claims.ts';

/** The last network of a chain that was closed. */
export interface ClosedNetwork {
  readonly chainId: ChainId;
  readonly reason: string;
  /** Null if it was not stored. */
  readonly network: string | null;
  readonly closedAt: string;
  /** Number of recorded transactions of closed networks that no node was queried for. */
  readonly unseen: number;
  /** Unsettled money: at most 100 of `unsettledCount`. */
  readonly unsettled: readonly UnsettledMoney[];
  readonly unsettledCount: number;
}

const unsettledMax = 100;

export interface ClosedNetworks {
  close(closing: NetworkClosing): void;
  isClosed(claim: Claim): boolean;
  /** Counts a claim that is not compared with the chain. */
  skip(claim: Claim): void;
  /** Keeps the unsettled money of the closed network. Streams of books precede those of payments and operations. */
  unsettled(of: UnsettledMoney): void;
  report(): readonly ClosedNetwork[];
}

interface Kept {
  last: NetworkClosing;
  unseen: number;
  unsettledCount: number;
  readonly unsettled: UnsettledMoney[];
}

export function createClosedNetworks(): ClosedNetworks {
  const byChain = new Map<ChainId, Kept>();
  const byAddress = new Map<string, bigint>();

  /** Deposits have no books: the chain's last closing counts for them. */
  const closedAt = (chainId: ChainId, address: string): bigint | undefined => {
    const kept = byChain.get(chainId);
    return kept && (byAddress.get(`${chainId} ${address}`) ?? BigInt(kept.last.position));
  };
  const isBefore = (position: string, closing: bigint | undefined): boolean =>
    closing !== undefined && BigInt(position) < closing;

  return {
    close(closing) {
      const { chainId, account, payinAddresses, position } = closing;
      for (const address of [account, ...payinAddresses]) byAddress.set(`${chainId} ${address}`, BigInt(position));
      const kept = byChain.get(chainId);
      if (!kept) byChain.set(chainId, { last: closing, unseen: 0, unsettledCount: 0, unsettled: [] });
      else if (BigInt(kept.last.position) < BigInt(position)) kept.last = closing;
    },
    isClosed: (claim) => isBefore(claim.position, closedAt(claim.chainId, 'to' in claim ? claim.to : claim.account)),
    skip({ chainId }) {
      const kept = byChain.get(chainId);
      if (kept) kept.unseen += 1;
    },
    unsettled(of) {
      const kept = byChain.get(of.chainId);
      if (!kept || !isBefore(of.position, BigInt(kept.last.position))) return;
      kept.unsettledCount += 1;
      if (kept.unsettled.length < unsettledMax) kept.unsettled.push(of);
    },
    report: () =>
      [...byChain].map(
        ([
          chainId,
          {
            last: { reason, network, closedAt: at },
            ...kept
          },
        ]) => ({
          ...{ chainId, reason, network, closedAt: at },
          ...{ unseen: kept.unseen, unsettled: kept.unsettled, unsettledCount: kept.unsettledCount },
        }),
      ),
  };
}
