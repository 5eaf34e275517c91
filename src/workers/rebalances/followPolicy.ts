/**
 * Lets the policy decide: reads the floats, plans its moves, and orders each planned move in a stream of its own.
 *
 * Crash after the plan and before the order: the next round finds the planned move and orders it under the same id. Crash anywhere else:
 * nothing was decided, and the next round reads the floats again.
 */
import { currentState, type Handle } from '../../../commands/handle.ts';
import { type Clock, type ReceiverChecks, Unavailable } from '../../../commands/ports.ts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { fromMessageUnits } from '../../../domain/rebalance/cctp.ts';
import type { RebalanceOrdered } from '../../../domain/rebalance/events.ts';
import {
  endMove,
  floatPlan,
  floatPlanOf,
  openMoves,
  type PlannedMove,
  pastMoves,
  planMoves,
  policyName,
} from '../../../domain/rebalance/floatPlan.ts';
import { usd } from '../../../domain/rebalance/floatUnits.ts';
import {
  decideMoves,
  type FloatView,
  type Move,
  type PolicySettings,
  type Shortage,
} from '../../../domain/rebalance/policy.ts';
import { type FloatSymbol, protocolOf } from '../../../domain/rebalance/protocols.ts';
import { callOffRebalance, orderRebalance, rebalance, rebalanceStanding } from '../../../domain/rebalance/rebalance.ts';
import { day_ms, epochMs, type Instant, instant, minute_ms, plus } from '../../../domain/time.ts';
import { arrivalObstacle } from '../../chains/money/receiverCheck.ts';
import { boundedTimes } from '../../lib/cache.ts';
import type { Telemetry } from '../../process/telemetry.ts';
import type { Worker } from '../engine.ts';
import type { ReadFees } from './fees.ts';

export interface PolicyDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly symbol: FloatSymbol;
  readonly settings: PolicySettings;
  readonly fees: ReadFees;
  /** Waits until the read models contain what the log contains now. @throws Unavailable */
  readonly caughtUp: () => Promise<unknown>;
  readonly views: () => Promise<readonly FloatView[]>;
  readonly endOf: (chainId: ChainId) => RebalanceOrdered['from'] | undefined;
  /** Default: each account can receive. Before the burn the service checks it again. */
  readonly receiverChecks?: ReceiverChecks;
  /** Reason not to trust the clock, which dates the daily cap and the cool-down; undefined while it is right. */
  readonly clockTrouble: () => string | undefined;
}

/** `waits`: nothing was decided, and why. */
export type Followed =
  | { readonly kind: 'decided'; readonly ordered: readonly string[]; readonly shortages: readonly Shortage[] }
  | { readonly kind: 'waits'; readonly why: string };

const facts = { cause: policyName, appId: null } as const;
/** A proposal's numbers are old then: a new one replaces it. */
export const proposalLife_ms = day_ms;

/** @throws Unavailable */
export async function followPolicy(deps: PolicyDeps, signal: AbortSignal): Promise<Followed> {
  const { handle, clock, settings, symbol } = deps;
  const plan = floatPlanOf(symbol);
  // Planned moves are ordered whatever the mode is now: an operator cancels them one by one.
  for (const move of openMoves(await currentState(handle, floatPlan, plan))) await tend(deps, move);
  const trouble = deps.clockTrouble();
  if (trouble !== undefined) return { kind: 'waits', why: trouble };
  const seen = await currentState(handle, floatPlan, plan);
  await deps.caughtUp();
  const now = clock.now();
  const views = await deps.views();
  const seenFloats = { symbol, now, views };
  // Without a decision to make, no fee is queried.
  const past = pastMoves(seen);
  const wished = decideMoves(watching(settings), { ...seenFloats, past, feeOf: () => 0 });
  if (settings.mode === 'off') return { kind: 'decided', ordered: [], shortages: wished.shortages };
  if (wished.moves.length === 0) return { kind: 'decided', ordered: [], shortages: wished.shortages };
  const question = { ...seenFloats, closed: await closedChains(deps, wished.moves) };
  const sources = protocolOf[symbol].chainIds.filter((chainId) => settings.floats.has(chainId));
  const routes = wished.moves.flatMap(({ to }) => sources.filter((from) => from !== to).map((from) => ({ from, to })));
  const { feeOf, ...fees } = await deps.fees(routes, signal);
  const { shortages } = decideMoves(settings, { ...question, past, feeOf });
  const planning = { ...fees, settings, question: { ...question, feeOf }, seen: seen.last, endOf: deps.endOf };
  const planned = await handle(floatPlan, plan, (state) => planMoves(state, planning), facts);
  if (isRefusal(planned)) return { kind: 'waits', why: planned.message };
  const fresh = planned.appended > 0 ? openMoves(planned.state).filter(({ number }) => number > seen.last) : [];
  for (const move of fresh) await tend(deps, move);
  return { kind: 'decided', ordered: fresh.map((move) => move.rebalance), shortages };
}

/** Chains of these moves whose account cannot receive, or that do not answer: behind a burn its money would wait. */
async function closedChains(
  { endOf, receiverChecks = {} }: PolicyDeps,
  moves: readonly Move[],
): Promise<ReadonlySet<ChainId>> {
  const closed = new Set<ChainId>();
  for (const move of moves) {
    const [from, to] = [endOf(move.from), endOf(move.to)];
    if (!from || !to) continue;
    const amount = fromMessageUnits(move.amount, from.token).toString();
    const obstacle = await arrivalObstacle(receiverChecks, { from, to, amount }).catch((error: unknown) => {
      if (error instanceof Unavailable) return error;
      throw error;
    });
    if (obstacle !== undefined) closed.add(move.to);
  }
  return closed;
}

/** While the policy is off, it still states which floats are too low. */
const watching = (settings: PolicySettings): PolicySettings =>
  settings.mode === 'off' ? { ...settings, mode: 'propose' } : settings;

/** Orders a planned move, and records its end. Each append can be repeated: an equal order is the same move. */
async function tend(
  { handle, clock, symbol }: PolicyDeps,
  { number, rebalance: id, order }: PlannedMove,
): Promise<void> {
  const ordered = await handle(rebalance, id, (state) => orderRebalance(state, order), facts);
  // The route's contracts have changed since it was planned, so it can never be ordered.
  if (isRefusal(ordered)) return end('calledOff');
  const { state } = ordered;
  const standing = state && rebalanceStanding(state);
  if (standing === 'done' || standing === 'calledOff') return end(standing);
  if (standing !== 'waitsForApproval') return;
  const now = clock.now();
  if (epochMs(now) < epochMs(order.orderedAt) + proposalLife_ms) return;
  const asked = { reason: 'nobody approved it within a day', by: policyName, now };
  await handle(rebalance, id, (current) => callOffProposal(current, asked), facts);

  async function end(outcome: 'done' | 'calledOff'): Promise<void> {
    const decide = (plan: Parameters<typeof endMove>[0]) => endMove(plan, number, outcome, clock.now());
    await handle(floatPlan, floatPlanOf(symbol), decide, facts);
  }
}

/** An approval may arrive in the same moment: then the move continues. */
const callOffProposal: typeof callOffRebalance = (state, asked) =>
  state && rebalanceStanding(state) === 'waitsForApproval' ? callOffRebalance(state, asked) : [];

const every_ms = minute_ms;
/** An alarm that persists is repeated at this interval. */
const againAfter_ms = 10 * minute_ms;

export interface PolicyWorkerDeps {
  /** Tokens with limits. */
  readonly symbols: readonly FloatSymbol[];
  readonly follow: (symbol: FloatSymbol, signal: AbortSignal) => Promise<Followed>;
  readonly clock: Pick<Clock, 'now'>;
  readonly alarm: Telemetry['alarm'];
  readonly tell: (symbol: FloatSymbol, followed: Followed) => void;
}

/** Runs the policy of each token every minute, and raises alarms for floats that no move can fill. */
export function policyWorker({ symbols, follow, clock, alarm, tell }: PolicyWorkerDeps): Worker<FloatSymbol> {
  /** A clock that was set back does not delay a round by more than the interval. */
  const lastRound_ms = new Map<FloatSymbol, number>();
  const alarmedAt = boundedTimes();
  const isDue = (symbol: FloatSymbol, now: Instant): boolean => {
    const last_ms = lastRound_ms.get(symbol);
    const passed_ms = last_ms === undefined ? every_ms : epochMs(now) - last_ms;
    return passed_ms >= every_ms || passed_ms < 0;
  };

  function raise(symbol: FloatSymbol, shortage: Shortage): void {
    const { chainId, why } = shortage;
    const now = clock.now();
    const key = `${symbol} ${chainId}`;
    const last_ms = alarmedAt.get(key);
    if (last_ms !== undefined && Math.abs(epochMs(now) - last_ms) < againAfter_ms) return;
    alarmedAt.set(key, epochMs(now));
    const facts = { chainId, token: symbol, why };
    alarm(isManual(shortage) ? 'floatByHand' : 'floatLow', facts, shortageText(symbol, shortage, now));
  }

  return {
    name: 'floats',
    concurrency: 1,
    due: async (max, now) => symbols.filter((symbol) => isDue(symbol, now)).slice(0, max),
    nextDue: () => (lastRound_ms.size === 0 ? null : instant(Math.min(...lastRound_ms.values()) + every_ms)),
    keyOf: (symbol) => symbol.toLowerCase(),
    async act(symbol, signal) {
      const followed = await follow(symbol, signal);
      lastRound_ms.set(symbol, epochMs(clock.now()));
      tell(symbol, followed);
      if (followed.kind !== 'decided') return;
      for (const shortage of followed.shortages) if (!passing.has(shortage.why)) raise(symbol, shortage);
    },
  };
}

/** These end without an operator. */
const passing: ReadonlySet<Shortage['why']> = new Set(['coolDown', 'underWay', 'tooSmall']);
const isManual = ({ why }: Shortage): boolean => why === 'noRoute';

const noFee: Readonly<Record<FloatSymbol, string>> = {
  USDC: 'the attestation service states no fee, so nothing is burned',
  USDT: 'no message fee within the limit is known, so nothing is sent',
};

const reasons: Readonly<Record<Exclude<Shortage['why'], 'noFee'>, string>> = {
  noRoute: 'the protocol does not serve the chain, so move the money by hand',
  noSource: 'no other float can give money, so add money to the treasury',
  dailyCap: 'the daily cap is used up (FLOAT_DAILY_CAP_USD)',
  coolDown: 'the cool-down of the chain is not over',
  underWay: 'a move to the chain is under way',
  closed: 'the treasury’s account there cannot receive it, or the chain does not answer: run npm run check-chain',
  tooSmall: 'the missing amount is below the smallest move',
};

/** Says how much is missing on which chain, and until when. */
export function shortageText(
  symbol: FloatSymbol,
  { chainId, missing, emptyIn_ms, why }: Shortage,
  now: Instant,
): string {
  const until =
    emptyIn_ms === null
      ? 'nothing leaves it at present'
      : `it is empty at ${plus(now, emptyIn_ms)} at the present outflow`;
  const reason = why === 'noFee' ? noFee[symbol] : reasons[why];
  return `${chainOf(chainId).name} needs ${usd(missing)} ${symbol}; ${until}; ${reason}; see docs/operate/floats.md`;
}
