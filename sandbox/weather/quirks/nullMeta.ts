/**
 * A Solana transaction without its `meta`: github.com/solana-labs/solana/issues/25979 ("Missing meta values for transactions in long term
 * storage", 5,000 transactions), github.com/rpcpool/yellowstone-faithful/issues/258; the documentation of getTransaction allows null.
 */
import { fieldsOf, listOf } from '../call.ts';
import { firstAsks, onCalls, type Quirk } from '../quirk.ts';

export interface NullMetaSettings {
  /** Number of answers without it per transaction. Default: all. */
  readonly asks?: number;
  /** Affected transactions. Default: all. */
  readonly signatures?: readonly string[];
}

export const nullMeta: Quirk<NullMetaSettings> = {
  families: ['solana'],
  says: 'transactions without `meta`',
  begin({ asks, signatures }) {
    const isMissing = firstAsks(asks);
    return onCalls(async ({ method, params }, next) => {
      const answer = await next(method, params);
      const signature = String(listOf(params)[0]);
      const meant = method === 'getTransaction' && answer !== null && (signatures?.includes(signature) ?? true);
      return meant && isMissing(signature) ? { ...fieldsOf(answer), meta: null } : answer;
    });
  },
};
