/**
 * Transactions of version 1 (SIMD-0385, mainnet since 15 September 2026) in nearly every block: a request for at most version 0 is refused
 * with −32015 (chainstack docs, "Solana transaction v1"; agave rpc-client-api, custom_error.rs, UnsupportedTransactionVersion).
 */
import { RpcError } from '../../rpcError.ts';
import { type Call, fieldsOf, optionsOf } from '../call.ts';
import { onCalls, type Quirk } from '../quirk.ts';

const message =
  'Transaction version (1) is not supported by the requesting client. Please try the request again with the following configuration ' +
  'parameter: "maxSupportedTransactionVersion": 1';

export const v1Transactions: Quirk<object> = {
  families: ['solana'],
  says: 'transactions of version 1',
  begin: () =>
    onCalls(async (call, next) => {
      const { method, params } = call;
      if (method === 'getBlock' && showsTransactions(call)) requireVersion1(call);
      const answer = await next(method, params);
      if (method !== 'getTransaction' || answer === null) return answer;
      requireVersion1(call);
      return { ...fieldsOf(answer), version: 1 };
    }),
};

const showsTransactions = (call: Call): boolean =>
  !['none', 'signatures'].includes(String(optionsOf(call)['transactionDetails'] ?? 'full'));

function requireVersion1(call: Call): void {
  if (Number(optionsOf(call)['maxSupportedTransactionVersion'] ?? -1) < 1) throw new RpcError(-32015, message);
}
