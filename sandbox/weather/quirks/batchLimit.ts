/**
 * Maximum calls per request, or no batches at all: go-ethereum's --rpc.batch-request-limit ("batch too large", default 1,000;
 * geth.ethereum.org/docs/fundamentals/command-line-options), lower limits on providers' plans and public nodes.
 */
import { jsonHeaders } from '../call.ts';
import { everywhere, type Quirk } from '../quirk.ts';

export interface BatchLimitSettings {
  /** 1 refuses batches. */
  readonly calls: number;
}

export const batchLimit: Quirk<BatchLimitSettings> = {
  families: everywhere,
  says: 'a maximum number of calls per request, or no batches',
  begin: ({ calls: most }) => {
    const error = { code: -32600, message: `batch too large: up to ${most} requests are allowed` };
    const body = JSON.stringify({ jsonrpc: '2.0', id: null, error });
    return (calls) => (calls.length <= most ? {} : { http: async () => ({ status: 200, headers: jsonHeaders, body }) });
  },
};
