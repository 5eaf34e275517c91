/**
 * Fields that older or other nodes leave out: `owner` and `programId` of Solana's token balances (added by github.com/solana-labs/solana
 * pull requests 22074 and 24513, and missing of transactions that were stored before), `blockTimestamp` of EVM logs (newer nodes alone have it),
 * `oldestLedger` and the close times of getEvents before stellar-rpc 23.
 */
import { fieldsOf, listOf } from '../call.ts';
import { everywhere, onCalls, type Quirk } from '../quirk.ts';

export interface MissingFieldsSettings {
  readonly fields: readonly string[];
}

const balanceLists = ['preTokenBalances', 'postTokenBalances'];

export const missingFields: Quirk<MissingFieldsSettings> = {
  families: everywhere,
  says: 'missing fields',
  begin: ({ fields }) => {
    const without = (value: unknown) => omit(value, fields);
    return onCalls(async ({ method, params }, next) => {
      const answer = await next(method, params);
      if (answer === null) return answer;
      switch (method) {
        case 'eth_getLogs':
          return listOf(answer).map(without);
        case 'eth_getTransactionReceipt':
        case 'getEvents':
          return without(answer);
        case 'getTransaction': {
          const { meta, ...transaction } = fieldsOf(answer);
          if (!meta) return answer;
          const balances = balanceLists.map((name) => [name, listOf(fieldsOf(meta)[name]).map(without)]);
          return { ...transaction, meta: { ...fieldsOf(meta), ...Object.fromEntries(balances) } };
        }
        default:
          return answer;
      }
    });
  },
};

const omit = (value: unknown, names: readonly string[]) =>
  Object.fromEntries(Object.entries(fieldsOf(value)).filter(([name]) => !names.includes(name)));
