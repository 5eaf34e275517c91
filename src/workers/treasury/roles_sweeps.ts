/** Sweeps as this process can order them: no key is needed for that. */
import { currentState } from '../../../commands/handle.ts';
import type { PaidDeposit } from '../../../commands/sweeps/ports.ts';
import type { SweepDeps } from '../../../commands/sweeps/sweep.ts';
import type { ChainId } from '../../../domain/chains.ts';
import type { Cause } from '../../../domain/decider.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { terminalStatuses } from '../../../domain/payment/view.ts';
import { hour_ms, minute_ms, plus } from '../../../domain/time.ts';
import { paidDeposits } from '../../../queries/deposits.ts';
import type { Core } from '../../core.ts';
import { createFailures } from '../../postgres/failures.ts';
import { unexplainedName } from '../payins/unexplained.ts';
import type { RoleWorker } from '../run.ts';
import { sweepsWorker } from './sweeps.ts';

/** Whose deposits are asked about: those that money came to lately, by command all. */
const lately_ms = 30 * 24 * hour_ms;

/** Undefined for a chain that needs none, or is not served. @param lately leaves out what came longer ago */
export function sweepDepsFor(
  { chains, config, workHandle: handle, clock, crash, database }: Core,
  chainId: ChainId,
  by: Cause,
  { lately = false } = {},
): SweepDeps | undefined {
  const sweep = chains.get(chainId)?.openSweep?.((paymentId) => currentState(handle, paymentDecider, paymentId));
  const coin = config.chains.find((setting) => setting.chainId === chainId)?.coin;
  if (!sweep || !coin) return undefined;
  const statuses = terminalStatuses;
  const since = () => (lately ? { since: plus(clock.now(), -lately_ms) } : {});
  const paid = (after: PaidDeposit | null, max: number) =>
    paidDeposits(database, chainId, { statuses, after: after?.paymentId ?? '', max, ...since() });
  const failures = createFailures(database);
  const readUnrecorded = (address: string) =>
    failures.note(unexplainedName(chainId), address, 'a sweep found money that is not recorded', clock.now());
  return { handle, clock, crash, by, sweep, coin, paid, readUnrecorded };
}

/** None where the configuration does not ask for it. */
export function sweepWorkers(core: Core): readonly RoleWorker[] {
  const { config, telemetry } = core;
  const { every_min, least_microUsd } = config.sweeps;
  if (every_min === null) return [];
  const swept = config.chains.flatMap(({ chainId, sweepGasPriceMax: gasPriceMax = null }) => {
    const deps = sweepDepsFor(core, chainId, 'worker:sweeps', { lately: true });
    return deps ? [[chainId, { deps, limits: { least_microUsd, gasPriceMax, evenAtALoss: false } }] as const] : [];
  });
  const worker = sweepsWorker({
    chains: new Map(swept),
    every_ms: every_min * minute_ms,
    tell: (chainId, summary) => telemetry.logger.info({ chainId, ...summary }, 'deposits were swept'),
    waits: (chainId, why) => telemetry.logger.info({ chainId }, `sweeps wait: ${why}`),
  });
  return swept.length > 0 ? [{ worker, idle_ms: minute_ms }] : [];
}
