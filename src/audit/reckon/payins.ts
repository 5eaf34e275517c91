/** What came for one payment, by its own events: each transfer, and whether it is still there. */
import type { ChainId } from '../../../domain/chains.ts';
import { transferId } from '../../../domain/payment/shapes.ts';
import type { InflowClaim, Out } from '../claims.ts';
import type { Entry } from '../entry.ts';
import { findingAt } from '../findings.ts';

/** A chain and a token, as a key. */
export const assetKey = (chainId: number, asset: string): string => `${chainId} ${asset}`;

interface Payin {
  readonly entry: Entry;
  phase: InflowClaim['phase'];
}

export interface Payins {
  /** A transfer that was seen, or seen to be final: never back from there. */
  see(entry: Entry): void;
  lose(entry: Entry): void;
  /** The transfer of that id; null where none is confirmed. */
  confirmed(id: string): Entry['data'] | null;
  /** What is confirmed, by asset. */
  received(): ReadonlyMap<string, bigint>;
  /** Transfers that are there: by chain, the log position of the last one, and whether all are final. */
  seen(): ReadonlyMap<ChainId, { readonly position: string; readonly confirmed: boolean }>;
  end(): void;
}

export function createPayins(out: Out): Payins {
  const payins = new Map<string, Payin>();
  return {
    see(entry) {
      const id = transferId(entry.data.transfer);
      const isConfirmed = entry.type === 'PayinConfirmed' || payins.get(id)?.phase === 'confirmed';
      payins.set(id, { entry, phase: isConfirmed ? 'confirmed' : 'detected' });
    },
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
      for (const [id, payin] of payins) out.claim(claimOf(id, payin));
    },
  };
}

function claimOf(id: string, { entry, phase }: Payin): InflowClaim {
  const { chainId, txHash, to, token, amount, blockNumber } = entry.data.transfer;
  return {
    side: 'log',
    kind: 'payin',
    where: { stream: entry.stream, revision: entry.revision, id: entry.id },
    position: entry.position,
    chainId,
    txHash,
    transferId: id,
    to,
    asset: token.address,
    amount,
    block: blockNumber,
    phase,
  };
}
