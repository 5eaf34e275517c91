/** True state of the ledgers. */
import type { Chain } from '../../../../domain/chains.ts';
import type { TrueTransfer, Truth } from '../../kernel/ports.ts';
import { balanceKey, type Ledgers } from './ledgers.ts';
import { read } from './transactions.ts';

export interface StellarTruth extends Truth {
  changed(): void;
  /** A node is sent bytes by the service. */
  receive(params: unknown, passphrase: string): void;
}

export function createTruth({ chain, ledgers }: { readonly chain: Chain; readonly ledgers: Ledgers }): StellarTruth {
  const tokens = new Set(chain.tokens.map(({ address }) => address));
  const received = new Set<string>();
  let transfers: TrueTransfer[] = [];
  let told = 0;
  let hashes: readonly string[] = [];
  let version = 0;

  return {
    changed() {
      version += 1;
    },
    receive(params, passphrase) {
      try {
        received.add(read(String((params as { transaction?: unknown }).transaction), passphrase).hash);
      } catch {
        // Unreadable bytes are no transaction.
      }
      hashes = [...received];
      version += 1;
    },
    version: () => version,
    head: () => BigInt(ledgers.head().sequence),
    final: () => BigInt(ledgers.head().sequence),
    transfers() {
      const fresh = ledgers.busy().slice(told);
      if (fresh.length === 0) return transfers;
      told += fresh.length;
      const found = fresh.flatMap(({ sequence, landed }) =>
        landed.flatMap(({ record, moved }) =>
          moved.flatMap(({ asset, from, to, memo, amount }, index) =>
            tokens.has(asset)
              ? { txHash: record.hash, index, tokenAddress: asset, from, to, memo, amount, block: BigInt(sequence) }
              : [],
          ),
        ),
      );
      transfers = [...transfers, ...found];
      return transfers;
    },
    balance: (address, tokenAddress) =>
      ledgers.valueAt(ledgers.head().sequence, balanceKey(tokenAddress, address)) ?? 0n,
    received: () => hashes,
  };
}
