/** Rebalances that wait for an attestation or for their mint, and the policy that orders them. */
import { currentState } from '../../../commands/handle.ts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { isCctp } from '../../../domain/rebalance/events.ts';
import { arrivingFrom } from '../../../domain/rebalance/inTransit.ts';
import { type FloatSymbol, floatSymbols, protocolOf } from '../../../domain/rebalance/protocols.ts';
import { rebalance, rebalanceStanding } from '../../../domain/rebalance/rebalance.ts';
import { epochMs, hour_ms, minute_ms } from '../../../domain/time.ts';
import { reportsSet } from '../../../projections/sets.ts';
import { rebalancesArrived, rebalancesInTransit } from '../../../queries/floats.ts';
import { readFloats } from '../../../queries/floatViews.ts';
import { createAttestations } from '../../chains/attestations.ts';
import type { Core } from '../../core.ts';
import { boundedTimes } from '../../lib/cache.ts';
import { checkpointOf, projectedWaiter } from '../../readmodels/projections.ts';
import type { RoleWorker } from '../run.ts';
import { arrivalsWorker, attend } from './attend.ts';
import { cctpFees, usdt0Fees } from './fees.ts';
import { followPolicy, type PolicyDeps, policyWorker } from './followPolicy.ts';

/** Each takes one call of the attestation service, which allows 35 a second. */
const idle_ms = 5_000;
const policyIdle_ms = minute_ms;
const arrivalsIdle_ms = 30_000;
/** After the time that its route takes. */
const lateAfter_ms = hour_ms;
const tellAgain_ms = 10 * minute_ms;

export const rebalanceWorkers = (core: Core): readonly RoleWorker[] => [...openRebalances(core), ...policyOf(core)];

/** Runs also while the policy is off: limits alone raise alarms. */
function policyOf(core: Core): readonly RoleWorker[] {
  const { config, clock, telemetry } = core;
  const symbols = floatSymbols.filter((symbol) => config.floatPolicy[symbol].floats.size > 0);
  if (symbols.length === 0) return [];
  const depsOf = policyDepsOf(core);
  const worker = policyWorker({
    follow: (symbol, signal) => followPolicy(depsOf(symbol), signal),
    ...{ symbols, clock, alarm: telemetry.alarm },
    tell(token, followed) {
      if (followed.kind === 'waits') telemetry.logger.info({ token }, `the policy of floats waits: ${followed.why}`);
      else if (followed.ordered.length > 0)
        telemetry.logger.info({ token, rebalances: followed.ordered }, 'the policy of floats ordered moves');
    },
  });
  return [{ worker, idle_ms: policyIdle_ms }];
}

/** Dependencies of a token's policy in this process. */
function policyDepsOf(core: Core): (symbol: FloatSymbol) => PolicyDeps {
  const {
    config,
    clock,
    chains,
    database,
    notifications,
    clockWatch,
    caughtUp,
    receiverChecks,
    workHandle: handle,
  } = core;
  const reported = projectedWaiter(database, notifications, reportsSet.name);
  const rebalanceOf = (id: string) => currentState(handle, rebalance, id);
  const balancesFollow = async () => reported(await checkpointOf(database));
  const { attestationsUrl: url } = config;
  const accountOn = (chainId: ChainId) => chains.get(chainId)?.rail.account;
  const oftOn = config.usdt0 ? (chainId: ChainId) => chains.get(chainId)?.oftMessages : null;
  const coinOn = (chainId: ChainId) => config.chains.find((each) => each.chainId === chainId)?.coin;
  const feesOf = {
    USDC: cctpFees(url === null ? null : createAttestations({ url, clock })),
    USDT: usdt0Fees({ oftOn, accountOn, coinOn }),
  };
  return (symbol) => ({
    ...{ handle, clock, caughtUp, symbol, receiverChecks },
    settings: config.floatPolicy[symbol],
    fees: feesOf[symbol],
    views: async () =>
      (await readFloats({ sql: database, rebalanceOf, balancesFollow, symbols: [symbol] }, clock.now())).views,
    endOf(chainId) {
      const [account, token] = [accountOn(chainId), protocolOf[symbol].tokenOn(chainId)];
      return account === undefined || !token ? undefined : { chainId, account, token };
    },
    clockTrouble: () => clockWatch.trouble(),
  });
}

/** Off without CCTP_ATTESTATIONS_URL and USDT0_REBALANCES. */
function openRebalances(core: Core): readonly RoleWorker[] {
  const { config, workHandle: handle, clock, chains, database } = core;
  const { attestationsUrl: url } = config;
  if (url === null && !config.usdt0) return [];
  const attestations = url === null ? null : createAttestations({ url, clock });
  const oftOn = (chainId: ChainId) => chains.get(chainId)?.oftMessages;
  const mintsOn = (chainId: ChainId) => chains.get(chainId)?.mints;
  const tellLate = createLateNews(core);
  const worker = {
    name: 'rebalances',
    concurrency: 2,
    due: async (max: number) => (await rebalancesInTransit(database, max)).map((id) => ({ id })),
    keyOf: ({ id }: { readonly id: string }) => id,
    async act({ id }: { readonly id: string }, signal: AbortSignal) {
      await tellLate(id);
      await attend({ handle, clock, attestations, mintsOn, oftOn }, id, signal);
    },
  };
  return [
    { worker, idle_ms },
    { worker: arrivalsOf(core), idle_ms: arrivalsIdle_ms },
  ];
}

const arrivalsOf = ({ workHandle: handle, clock, chains, database, telemetry }: Core) =>
  arrivalsWorker({
    ...{ handle, clock },
    railOn: (chainId) => chains.get(chainId)?.rail,
    arrivedSince: (since, max) => rebalancesArrived(database, since, max),
    alarm: ({ id, ...facts }) =>
      telemetry.alarm(
        'rebalanceOrphaned',
        { ...facts, rebalance: id },
        'the arrival of a rebalance was reorganised out of its chain: its money is in transit again',
      ),
  });

/** Raises an alarm for money that is in transit for an hour longer than its route takes, again every 10 minutes. */
export function createLateNews({
  workHandle: handle,
  clock,
  telemetry,
}: Pick<Core, 'workHandle' | 'clock'> & { readonly telemetry: Pick<Core['telemetry'], 'alarm'> }): (
  id: string,
) => Promise<void> {
  const toldAt = boundedTimes();
  return async (id) => {
    const state = await currentState(handle, rebalance, id);
    const arriving = state && arrivingFrom(state);
    const now_ms = epochMs(clock.now());
    if (!arriving || now_ms < epochMs(arriving.expectedAt) + lateAfter_ms) return;
    if (now_ms < (toldAt.get(id) ?? Number.NEGATIVE_INFINITY) + tellAgain_ms) return;
    toldAt.set(id, now_ms);
    const { chainId, amount, expectedAt } = arriving;
    const page = isCctp(state.ordered) ? 'floats' : 'usdt0';
    const message = `rebalance-${id} is ${rebalanceStanding(state)}: ${amount} units were expected on ${chainOf(chainId).name} at ${expectedAt}; see docs/operate/${page}.md`;
    telemetry.alarm('rebalanceLate', { chainId, rebalance: id }, message);
  };
}
