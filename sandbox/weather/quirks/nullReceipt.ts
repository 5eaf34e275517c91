/**
 * A transaction whose log is there and whose receipt is not: for a while, where transactions are indexed behind the blocks
 * (go-ethereum, "transaction indexing is in progress"), or for ever, as for bor's state sync on Erigon
 * (github.com/erigontech/erigon/issues/6574 and 8866).
 */
import { listOf } from '../call.ts';
import { firstAsks, onCalls, type Quirk } from '../quirk.ts';

export interface NullReceiptSettings {
  /** Number of answers without the receipt. Default: all. */
  readonly asks?: number;
  /** Affected transactions. Default: all. */
  readonly hashes?: readonly string[];
}

export const nullReceipt: Quirk<NullReceiptSettings> = {
  families: ['evm'],
  says: 'a log without its receipt',
  begin({ asks, hashes }) {
    const isMissing = firstAsks(asks);
    return onCalls(async ({ method, params }, next) => {
      const hash = String(listOf(params)[0]);
      const meant = method === 'eth_getTransactionReceipt' && (hashes?.includes(hash) ?? true);
      return meant && isMissing(hash) ? null : next(method, params);
    });
  },
};
