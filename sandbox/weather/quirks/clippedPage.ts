/**
 * A page is silently shorter than requested: gateways with their own maximum before `getSignaturesForAddress` (up to 1,000) and `getEvents`
 * (up to 10,000, default 100: developers.stellar.org/docs/data/apis/rpc/admin-guide/configuring, DEFAULT_EVENTS_LIMIT), and before
 * `eth_getLogs`.
 */
import { fieldsOf, listOf } from '../call.ts';
import { everywhere, onCalls, type Quirk } from '../quirk.ts';

export interface ClippedPageSettings {
  readonly most: number;
}

export const clippedPage: Quirk<ClippedPageSettings> = {
  families: everywhere,
  says: 'pages clipped without notice',
  begin: ({ most }) =>
    onCalls(async ({ method, params }, next) => {
      if (method === 'getEvents') {
        const asked = fieldsOf(params);
        const pagination = fieldsOf(asked['pagination']);
        const limit = Math.min(Number(pagination['limit'] ?? most), most);
        return next(method, { ...asked, pagination: { ...pagination, limit } });
      }
      const answer = await next(method, params);
      if (method !== 'eth_getLogs' && method !== 'getSignaturesForAddress') return answer;
      return listOf(answer).slice(0, most);
    }),
};
