/** Pending transactions of one node, accepted and refused as in geth (core/txpool). */
import { RpcError } from '../../../../sandbox/rpcError.ts';
import { type Block, coinKey, nonceKey, valueAt } from './blocks.ts';
import type { Transaction } from './transactions.ts';

export interface Pool {
  /** @throws RpcError */
  add(transaction: Transaction, tip: Block): void;
  get(hash: string): Transaction | undefined;
  all(): readonly Transaction[];
  /** Transactions of an account by nonce, from the first free one on. */
  ready(account: string, tip: Block): readonly Transaction[];
  accounts(): readonly string[];
  drop(hash: string): void;
  /** Removes transactions whose nonce is mined. */
  settle(tip: Block): void;
}

const refused = (message: string): RpcError => new RpcError(-32_000, message);
const gasLeast = 21_000n;
/** A replacement has to offer a tenth more. */
const outbids = (offer: bigint, held: bigint): boolean => offer * 10n >= held * 11n;

export function createPool(): Pool {
  const byHash = new Map<string, Transaction>();
  const slotOf = ({ from, nonce }: Pick<Transaction, 'from' | 'nonce'>) => `${from} ${nonce}`;
  const bySlot = new Map<string, Transaction>();

  function remove(transaction: Transaction): void {
    byHash.delete(transaction.hash);
    if (bySlot.get(slotOf(transaction)) === transaction) bySlot.delete(slotOf(transaction));
  }

  return {
    add(transaction, tip) {
      const { hash, from, nonce, value, gas, maxFee_wei, maxTip_wei } = transaction;
      if (byHash.has(hash)) throw refused('already known');
      if (gas < gasLeast) throw refused(`intrinsic gas too low: gas ${gas}, minimum needed ${gasLeast}`);
      if (maxTip_wei > maxFee_wei) throw refused('max priority fee per gas higher than max fee per gas');
      const next = valueAt(tip, nonceKey(from));
      if (BigInt(nonce) < next) throw refused(`nonce too low: next nonce ${next}, tx nonce ${nonce}`);
      const [held, cost] = [valueAt(tip, coinKey(from)), value + gas * maxFee_wei];
      if (held < cost)
        throw refused(
          `insufficient funds for gas * price + value: balance ${held}, tx cost ${cost}, overshot ${cost - held}`,
        );
      const other = bySlot.get(slotOf(transaction));
      if (other && !(outbids(maxFee_wei, other.maxFee_wei) && outbids(maxTip_wei, other.maxTip_wei)))
        throw refused('replacement transaction underpriced');
      if (other) remove(other);
      byHash.set(hash, transaction);
      bySlot.set(slotOf(transaction), transaction);
    },
    get: (hash) => byHash.get(hash),
    all: () => [...byHash.values()],
    ready(account, tip) {
      const found: Transaction[] = [];
      for (let nonce = Number(valueAt(tip, nonceKey(account))); ; nonce += 1) {
        const next = bySlot.get(slotOf({ from: account, nonce }));
        if (!next) return found;
        found.push(next);
      }
    },
    accounts: () => [...new Set([...byHash.values()].map(({ from }) => from))],
    drop(hash) {
      const found = byHash.get(hash);
      if (found) remove(found);
    },
    settle(tip) {
      for (const each of byHash.values()) if (BigInt(each.nonce) < valueAt(tip, nonceKey(each.from))) remove(each);
    },
  };
}
