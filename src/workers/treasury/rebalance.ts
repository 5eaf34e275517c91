/** The other end of a rebalance: its money has come to our account on another chain. */

import type { AccountHistory } from '../../../commands/accountHistory.ts';
import { currentState, type Handle, type Handled } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import { chainOf } from '../../../domain/chains.ts';
import { type Refusal, refuse } from '../../../domain/decider.ts';
import { day_ms, type Instant } from '../../../domain/time.ts';
import { type OperationState, operation, rebalanceArrived } from '../../../domain/treasury/operation.ts';
import { type OperatorBy, operatorName } from './operator.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly historyOf: (chainId: AccountHistory['chainId']) => AccountHistory | undefined;
}

/** Bridges and exchanges take days at most. */
const lookedBack_ms = 14 * day_ms;
const pagesMax = 50;
const pageSize = 100;

/** @param hash of the transaction that topped up the account, which its nodes must show. @throws ChainUnavailable, HistoryTooLong */
export async function recordArrival(
  deps: Deps,
  { id, hash }: { readonly id: string; readonly hash: string },
  by: OperatorBy,
  signal: AbortSignal,
): Promise<Handled<OperationState> | Refusal> {
  const { handle, clock } = deps;
  const ordered = (await currentState(handle, operation, id))?.ordered;
  const expects = ordered?.expects;
  const amount = expects ? await broughtBy(deps, { ...expects, since: ordered.orderedAt }, hash, signal) : 0n;
  if (expects && amount <= 0n) {
    const message = `${hash} did not bring ${expects.token.symbol} to ${expects.account} on ${chainOf(expects.chainId).name} since it was ordered, as its nodes show it`;
    return refuse('invalidRequest', message);
  }
  const seen = { hash, amount, by: operatorName(by), now: clock.now() };
  return handle(operation, id, (state) => rebalanceArrived(state, seen), { ...by, appId: null });
}

type Expected = NonNullable<NonNullable<OperationState>['ordered']['expects']> & { readonly since: Instant };

/** In smallest units; nought where the account's history does not have it, or it came before the money was sent for. */
async function broughtBy(
  { historyOf }: Deps,
  { chainId, account, token, since }: Expected,
  hash: string,
  signal: AbortSignal,
): Promise<bigint> {
  const history = historyOf(chainId);
  if (!history) return 0n;
  const { blockNumber: to } = await history.standing(account, signal);
  const blocks = BigInt(Math.ceil(lookedBack_ms / chainOf(chainId).block_ms));
  const range = { account, from: to > blocks ? to - blocks : 0n, to, order: 'newestFirst', max: pageSize } as const;
  let after: string | null = null;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page = await history.transactions({ ...range, after }, signal);
    const found = page.transactions.find(({ txHash }) => txHash === hash);
    const came = found?.changes.filter(({ asset }) => asset === token.address) ?? [];
    if (found)
      return found.succeeded && found.time >= since ? came.reduce((sum, change) => sum + change.amount, 0n) : 0n;
    after = page.next;
    if (after === null) return 0n;
  }
  return 0n;
}
