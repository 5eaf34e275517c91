/**
 * Back ends that remember events for different times behind one address: 24 hours (17,280 ledgers) at some providers, a week at others
 * (stellar-rpc#313, history-retention-window).
 */
import { RpcError } from '../../rpcError.ts';
import { fieldsOf } from '../call.ts';
import { onCalls, type Quirk } from '../quirk.ts';

export interface ShortMemorySettings {
  /** Number of ledgers that the forgetful back end keeps. */
  readonly ledgers: number;
}

export const shortMemory: Quirk<ShortMemorySettings> = {
  families: ['stellar'],
  says: 'a back end with a shorter history than the others',
  begin: ({ ledgers }) =>
    onCalls(async ({ method, params }, next) => {
      const answer = fieldsOf(await next(method, params));
      if (typeof answer['oldestLedger'] !== 'number') return answer;
      const latest = Number(answer['latestLedger']);
      const oldest = Math.max(answer['oldestLedger'], latest - ledgers + 1);
      const start = fieldsOf(params)['startLedger'];
      if (method === 'getEvents' && typeof start === 'number' && start < oldest) {
        throw new RpcError(-32600, `startLedger must be within the ledger range: ${oldest} - ${latest}`);
      }
      return { ...answer, oldestLedger: oldest };
    }),
};
