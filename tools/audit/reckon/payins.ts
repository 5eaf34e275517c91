/** Payins of one payment, from its own events: each transfer, and whether it is still on its chain. */
import type { ChainId } from '../../../domain/chains.ts';
import { transferId } from '../../../domain/payment/shapes.ts';
import type { InflowClaim, Out } from '../claims.ts';
import type { AuditEntry } from '../entry.ts';
import { findingAt } from '../findings.ts';

/** A chain and a token as a key. */
export const assetKey = (chainId: number, asset: string): string => `${chainId} ${asset}`;

interface Payin {
  readonly entry: AuditEntry;
  phase: InflowClaim['phase'];
}

export interface Payins {
  /** A detected transfer, or a final one, which never changes back. */
  see(entry: AuditEntry): void;
  lose(entry: AuditEntry): void;
  /** Number of recorded transfers, in any phase. */
  count(): number;
  /** Confirmed amount of an asset from a sender. */
  sentBy(sender: string, key: string): bigint;
  /** Confirmed amount of an asset that left its chain again. */
  gone(key: string): bigint;
  /** Transfer with that id; null if it is not confirmed. */
  confirmed(id: string): AuditEntry['data'] | null;
  /** Confirmed amounts by asset. */
  received(): ReadonlyMap<string, bigint>;
  /** Existing transfers by chain: log position of the last one, and whether all are final. */
  seen(): ReadonlyMap<ChainId, { readonly position: string; readonly confirmed: boolean }>;
  end(): void;
}

/** @param isOwn true if a transfer is at one of the payment's deposits, all of which are known at the end */
export function createPayins(out: Out, isOwn: (transfer: AuditEntry['data']) => boolean): Payins {
  const payins = new Map<string, Payin>();
  const sumOf = (key: string, isMeant: (payin: Payin) => boolean): bigint =>
    [...payins.values()].reduce((sum, payin) => {
      const { chainId, token, amount } = payin.entry.data.transfer;
      return assetKey(chainId, token.address) === key && isMeant(payin) ? sum + BigInt(amount) : sum;
    }, 0n);
  return {
    see(entry) {
      const id = transferId(entry.data.transfer);
      if (entry.type === 'PayinConfirmed' && payins.get(id)?.phase === 'confirmed')
        out.find(findingAt('illegalEvent', entry, `${id} was confirmed before`));
      const isConfirmed = entry.type === 'PayinConfirmed' || payins.get(id)?.phase === 'confirmed';
      payins.set(id, { entry, phase: isConfirmed ? 'confirmed' : 'detected' });
    },
    count: () => payins.size,
    sentBy: (sender, key) =>
      sumOf(key, ({ entry, phase }) => phase === 'confirmed' && entry.data.transfer.from === sender),
    gone: (key) => sumOf(key, ({ phase }) => phase === 'gone'),
    lose(entry) {
      const payin = payins.get(entry.data.transferId);
      if (payin) payin.phase = 'gone';
      else out.find(findingAt('illegalEvent', entry, `${entry.data.transferId} was never seen`));
    },
    confirmed(id) {
      const payin = payins.get(id);
      return payin?.phase === 'confirmed' ? payin.entry.data.transfer : null;
    },
    received() {
      const sums = new Map<string, bigint>();
      for (const { entry, phase } of payins.values()) {
        const { chainId, token, amount } = entry.data.transfer;
        const key = assetKey(chainId, token.address);
        if (phase === 'confirmed') sums.set(key, (sums.get(key) ?? 0n) + BigInt(amount));
      }
      return sums;
    },
    seen() {
      const seen = new Map<ChainId, { readonly position: string; readonly confirmed: boolean }>();
      for (const { entry, phase } of payins.values()) {
        const { chainId } = entry.data.transfer;
        const confirmed = phase === 'confirmed' && (seen.get(chainId)?.confirmed ?? true);
        if (phase !== 'gone') seen.set(chainId, { position: entry.position, confirmed });
      }
      return seen;
    },
    end() {
      for (const [id, payin] of payins) out.claim(claimOf(id, payin, isOwn(payin.entry.data.transfer)));
    },
  };
}

function claimOf(id: string, { entry, phase }: Payin, atOwnDeposit: boolean): InflowClaim {
  const { chainId, txHash, from, to, memo = null, token, amount, blockNumber } = entry.data.transfer;
  return {
    side: 'log',
    kind: 'payin',
    where: { stream: entry.stream, revision: entry.revision, id: entry.id },
    position: entry.position,
    at: entry.at,
    chainId,
    txHash,
    transferId: id,
    from,
    to,
    memo,
    atOwnDeposit,
    asset: token.address,
    amount,
    block: blockNumber,
    phase,
  };
}
