/** True state of the chain. */
import type { Chain } from '../../../../domain/chains.ts';
import { tokenAccountOf } from '../../../../src/chains/solana/tokenProgram.ts';
import type { TrueTransfer, Truth } from '../../kernel/ports.ts';
import { read } from './execution.ts';
import { final_slots } from './node.ts';
import type { Landed, Slots } from './slots.ts';

export interface SolanaTruth extends Truth {
  changed(): void;
  /** A node is sent bytes by the service. */
  receive(params: unknown): void;
}

export function createTruth({ chain, slots }: { readonly chain: Chain; readonly slots: Slots }): SolanaTruth {
  const tokens = new Set(chain.tokens.map(({ address }) => address));
  const received = new Set<string>();
  let told: { readonly of: readonly Landed[]; readonly transfers: readonly TrueTransfer[] } = { of: [], transfers: [] };
  let hashes: readonly string[] = [];
  let version = 0;

  /** Each account that got something, by its place in the transaction. */
  function transfersIn({ signature, slot, err, tokensBefore, tokensAfter }: Landed): readonly TrueTransfer[] {
    // The treasury's initial balance is no transfer.
    if (err !== null || slot === 0) return [];
    const before = new Map(tokensBefore.map(({ accountIndex, amount }) => [accountIndex, amount]));
    const grown = tokensAfter.map((each) => ({ ...each, by: each.amount - (before.get(each.accountIndex) ?? 0n) }));
    const after = new Map(tokensAfter.map(({ accountIndex, amount }) => [accountIndex, amount]));
    // A sweep closes the account that it empties.
    const from = tokensBefore.find(({ accountIndex, amount }) => (after.get(accountIndex) ?? 0n) < amount)?.owner ?? '';
    return grown.flatMap(({ by, mint, owner, accountIndex }) =>
      by > 0n && tokens.has(mint)
        ? {
            txHash: signature,
            index: accountIndex,
            tokenAddress: mint,
            from,
            to: owner,
            memo: null,
            amount: by,
            block: BigInt(slot),
          }
        : [],
    );
  }

  return {
    changed() {
      version += 1;
    },
    receive(params) {
      try {
        received.add(read(String((params as readonly unknown[])[0])).signature);
      } catch {
        // Unreadable bytes are no transaction.
      }
      hashes = [...received];
      version += 1;
    },
    version: () => version,
    head: () => BigInt(slots.head()),
    final: () => BigInt(Math.max(0, slots.head() - final_slots)),
    transfers() {
      const landed = slots.landed();
      if (told.of !== landed) told = { of: landed, transfers: landed.flatMap(transfersIn) };
      return told.transfers;
    },
    balance: (address, mint) => slots.accountAt(slots.head(), tokenAccountOf(address, mint))?.amount ?? 0n,
    received: () => hashes,
  };
}
