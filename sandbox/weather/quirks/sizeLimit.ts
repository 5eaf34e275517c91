/**
 * Maximum keys, or entries of a page, per call, with a refusal beyond: `getMultipleAccounts` 5 on free plans
 * (quicknode.com/docs/solana/getMultipleAccounts) and 100 everywhere (agave, "Too many inputs provided; max 100"), `getEvents`
 * (developers.stellar.org/docs/data/apis/rpc/admin-guide/configuring, MAX_EVENTS_LIMIT), logs ("query returned more than 10000 results",
 * Infura).
 */
import { RpcError } from '../../rpcError.ts';
import { type Call, fieldsOf, listOf, optionsOf } from '../call.ts';
import { everywhere, onCalls, type Quirk } from '../quirk.ts';

export interface SizeLimitSettings {
  readonly most: number;
}

export const sizeLimit: Quirk<SizeLimitSettings> = {
  families: everywhere,
  says: 'a maximum number of keys or entries per call',
  begin: ({ most }) =>
    onCalls(async (call, next) => {
      const { method, params } = call;
      if (askedFor(call) > most) throw new RpcError(-32602, `${method} is limited to ${most} on this plan`);
      const answer = await next(method, params);
      if (method === 'eth_getLogs' && listOf(answer).length > most) {
        throw new RpcError(-32005, `query returned more than ${most} results`);
      }
      return answer;
    }),
};

function askedFor(call: Call): number {
  const { method, params } = call;
  switch (method) {
    case 'getMultipleAccounts':
    case 'getSignatureStatuses':
      return listOf(listOf(params)[0]).length;
    case 'getSignaturesForAddress':
      return Number(optionsOf(call)['limit'] ?? 0);
    case 'getLedgerEntries':
      return listOf(fieldsOf(params)['keys']).length;
    case 'getEvents':
    case 'getTransactions':
      return Number(fieldsOf(fieldsOf(params)['pagination'])['limit'] ?? 0);
    default:
      return 0;
  }
}
