/**
 * A transaction that landed and that the index of its accounts does not list, for a while or for ever:
 * github.com/solana-labs/solana/issues/21843 ("Silently disappearing transaction in getSignaturesForAddress", api.mainnet-beta.solana.com).
 */
import { fieldsOf, listOf } from '../call.ts';
import { firstAsks, onCalls, type Quirk } from '../quirk.ts';

export interface HistoryGapSettings {
  /** Number of lists that omit a signature before it appears. Default: all. */
  readonly asks?: number;
  /** Affected signatures. Default: all. */
  readonly signatures?: readonly string[];
}

export const historyGap: Quirk<HistoryGapSettings> = {
  families: ['solana'],
  says: 'a history without some transactions',
  begin({ asks, signatures }) {
    const isMissing = firstAsks(asks);
    return onCalls(async ({ method, params }, next) => {
      const answer = await next(method, params);
      if (method !== 'getSignaturesForAddress') return answer;
      return listOf(answer).filter((entry) => {
        const signature = String(fieldsOf(entry)['signature']);
        return !((signatures?.includes(signature) ?? true) && isMissing(signature));
      });
    });
  },
};
