/**
 * Lets the policy decide: reads the floats, plans its moves, and orders each planned move in a stream of its own.
 *
 * Crash after the plan and before the order: the next round finds the planned move and orders it under the same id. Crash anywhere else:
 * nothing was decided, and the next round reads the floats again.
 */
import { currentState, type Handle } from '../../../commands/handle.ts';
import { type Clock, type ReceiverChecks, Unavailable } from '../../../commands/ports.ts';
import type { ChainId } from '../../../domain/chains.ts';
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
import {
  decideMoves,
  type FloatView,
  type Move,
  type PolicySettings,
  type Shortage,
} from '../../../domain/rebalance/policy.ts';
import { type FloatSymbol, protocolOf } from '../../../domain/rebalance/protocols.ts';
import { callOffRebalance, orderRebalance, rebalance, rebalanceStanding } from '../../../domain/rebalance/rebalance.ts';
import { day_ms, epochMs } from '../../../domain/time.ts';
import { arrivalObstacle } from '../../chains/money/arrivalObstacle.ts';
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
