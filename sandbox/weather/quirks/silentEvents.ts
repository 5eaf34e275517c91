/**
 * A node without events of classic payments: EMIT_CLASSIC_EVENTS is off in its captive core, at once or after an upgrade of one back end
 * (CAP-67; go-stellar-sdk PR 5723, "EmitUnifiedEvents").
 */
import { fieldsOf, listOf } from '../call.ts';
import { onCalls, type Quirk } from '../quirk.ts';

export const silentEvents: Quirk<object> = {
  families: ['stellar'],
  says: 'no events for classic payments',
  begin: () =>
    onCalls(async ({ method, params }, next) => {
      const answer = await next(method, params);
      if (method === 'getEvents') return { ...fieldsOf(answer), events: [] };
      if (method !== 'getTransactions') return answer;
      const transactions = listOf(fieldsOf(answer)['transactions']).map((each) => ({ ...fieldsOf(each), events: {} }));
      return { ...fieldsOf(answer), transactions };
    }),
};
