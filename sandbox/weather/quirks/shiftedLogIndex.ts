/**
 * A receipt that counts its logs otherwise than `eth_getLogs` does, on Polygon's Erigon nodes: from 0 in each transaction, or from another
 * place (github.com/erigontech/erigon/issues/16491, 17249 and pull request 14551).
 */
import { fieldsOf, hex, listOf, quantityOf } from '../call.ts';
import { onCalls, type Quirk } from '../quirk.ts';

export interface ShiftedLogIndexSettings {
  readonly by: number;
}

export const shiftedLogIndex: Quirk<ShiftedLogIndexSettings> = {
  families: ['evm'],
  says: 'other log indexes in the receipt than in `eth_getLogs`',
  begin: ({ by }) =>
    onCalls(async ({ method, params }, next) => {
      const answer = await next(method, params);
      if (method !== 'eth_getTransactionReceipt' || answer === null) return answer;
      const logs = listOf(fieldsOf(answer)['logs']).map((each) => {
        const log = fieldsOf(each);
        return { ...log, logIndex: hex((quantityOf(log['logIndex']) ?? 0n) + BigInt(by)) };
      });
      return { ...fieldsOf(answer), logs };
    }),
};
