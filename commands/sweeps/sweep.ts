/**
 * Sweeps of a chain are ordered as operations in the log; the engine signs and sends them, here nobody has a key. A run is a few
 * transactions, and the next one begins when all of them are over.
 */
import { unitsText } from '../../domain/money.ts';
import type { Operation } from '../../domain/treasury/operation.ts';
import type { OperationOrdered } from '../../domain/treasury/operationEvents.ts';
import type { Clock, CrashPoint } from '../ports.ts';
import { begin, lookAfter, type NameOf, type NumberedDeps, nameIn, newestRun, openParts } from './numbered.ts';
import { type PlanDeps, type PlanNews, planAll } from './plans.ts';
import type { DepositSweep, SweepPart } from './ports.ts';
import type { SweepLimits } from './worth.ts';

export interface SweepDeps extends NumberedDeps, PlanDeps {
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly crash: CrashPoint;
}

/** What happens on the way, for whoever watches. */
export type SweepNews =
  | Exclude<PlanNews, { kind: 'planned' }>
  | { readonly kind: 'ordered'; readonly id: string; readonly part: SweepPart }
  | { readonly kind: 'ended'; readonly id: string; readonly operation: Operation }
  /** Somebody else sweeps this chain at the same time. */
  | { readonly kind: 'elsewhere' };

const look_ms = 1_000;

const namesOf =
  ({ chainId, account }: DepositSweep): NameOf =>
  (run, part) =>
    `sweep-${chainId}-${account}-${run}-${part}`;

/**
 * Takes all that is worth it, and waits for each transaction's end. What was begun before, here or elsewhere, is waited for first.
 *
 * Crash at any place: what is ordered is done by the engine, and the next sweep waits for it; what is not ordered is found again.
 * @throws PayoutBlocked when nothing can be swept now, ChainUnavailable, Unavailable; what the signal aborts with
 */
export async function* sweepAll(deps: SweepDeps, limits: SweepLimits, signal: AbortSignal): AsyncGenerator<SweepNews> {
  const nameOf = namesOf(deps.sweep);
  let run = await newestRun(deps, nameOf);
  yield* untilOver(deps, await openParts(deps, nameOf, run), signal);
  for await (const news of planAll(deps, limits, signal)) {
    if (news.kind !== 'planned') yield news;
    else {
      run += 1;
      const ids: string[] = [];
      for (const [at, part] of news.parts.entries()) {
        const id = nameOf(run, at + 1);
        if (await begin(deps, id, orderFor(deps, part))) return yield { kind: 'elsewhere' };
        await deps.crash('sweep.ordered');
        ids.push(id);
        yield { kind: 'ordered', id, part };
      }
      yield* untilOver(deps, ids, signal);
    }
  }
}

async function* untilOver(deps: SweepDeps, ids: readonly string[], signal: AbortSignal): AsyncGenerator<SweepNews> {
  const open = new Set(ids);
  while (open.size > 0) {
    for (const id of open) {
      const known = await lookAfter(deps, id);
      if (known && !known.over) continue;
      open.delete(id);
      if (known) yield { kind: 'ended', id, operation: known.operation };
    }
    signal.throwIfAborted();
    if (open.size > 0) await deps.clock.sleep(look_ms, signal);
  }
}

function orderFor({ sweep, by, clock }: SweepDeps, { token, deposits }: SweepPart): OperationOrdered {
  const { chainId, account } = sweep;
  return {
    kind: 'sweep',
    chainId,
    account,
    token: { symbol: token.symbol, address: token.address, decimals: token.decimals },
    form: { kind: 'flush', deposits: deposits.map(({ address, salt }) => ({ address, salt })) },
    receiver: account,
    receiverMemo: null,
    amount: unitsText(deposits.reduce((sum, { amount }) => sum + amount, 0n)),
    value_microUsd: '0',
    approvals: 0,
    reason: `${deposits.length} deposits of payments that are over`,
    by: nameIn(by),
    orderedAt: clock.now(),
  };
}
