/**
 * What the head pass has read of accounts, so that the final pass need not ask for it again: a node whose final block has the hash that the
 * confirmed one had shows the same transactions in it.
 */
import { boundedMap } from '../../../lib/boundedMap.ts';
import type { TransferLog } from '../../ports.ts';
import type { SolanaNode } from '../rpc.ts';
import type { Held, ReadTo } from './accountHistory.ts';

/** What a node has shown of an account's incoming money, oldest first. */
type Recalled = readonly TransferLog[];

export interface Recall {
  /** @param logs all that changed the account between what it was read to before and now, oldest first */
  keep(node: SolanaNode, account: string, logs: Recalled): void;
  /**
   * What of it explains a balance, all in blocks that are final by now; undefined where it does not, so that the history has to be read.
   * @param hashAt the final block's hash; undefined where the node shows none
   */
  explaining(
    node: SolanaNode,
    held: Held,
    from: ReadTo,
    hashAt: (slot: bigint) => Promise<string | undefined>,
  ): Promise<Recalled | undefined>;
}

const accountsMax = 20_000;
/** Payins of one account that are remembered; a deposit that gets more is read. */
const logsMax = 16;

export function createRecall(): Recall {
  const known = boundedMap<Recalled>(accountsMax);
  const keyOf = ({ name }: SolanaNode, account: string) => `${name} ${account}`;
  return {
    keep(node, account, logs) {
      const key = keyOf(node, account);
      const again = new Set(logs.map(({ txHash }) => txHash));
      const before = (known.get(key) ?? []).filter(({ txHash }) => !again.has(txHash));
      known.set(key, [...before, ...logs].slice(-logsMax));
    },

    async explaining(node, { account, amount, slot }, from, hashAt) {
      const all = (known.get(keyOf(node, account)) ?? []).filter(({ blockNumber }) => blockNumber <= slot);
      const logs = all.slice(all.findIndex(({ txHash }) => txHash === from.signature) + 1);
      const before = from.signature === null ? 0n : from.amount;
      if (logs.length === 0 || logs.reduce((sum, log) => sum + log.amount, before) !== amount) return undefined;
      const hashes = await Promise.all(logs.map(({ blockNumber }) => hashAt(blockNumber)));
      return logs.every(({ blockHash }, at) => blockHash === hashes[at]) ? logs : undefined;
    },
  };
}
