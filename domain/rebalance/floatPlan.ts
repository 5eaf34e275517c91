/**
 * Moves of one token that the policy has decided, for all chains together. Streams `floatPlan-usdc`, `floatPlan-usdt`. It is the memory of the policy: the daily cap, the
 * cool-down and one move per destination are decided here at exact revisions, so two instances cannot order more than one may.
 *
 * A move is planned here first, then ordered in its own stream under an id that follows from its number. Crash in between: the plan has
 * the whole order, and the next round orders the same move under the same id.
 */
import Type, { type Static } from 'typebox';
import type { ChainId } from '../chains.ts';
import type { Decider, Decision } from '../decider.ts';
import { closed, Id, oneOf, Time } from '../schema.ts';
import { day_ms, epochMs, type Instant, isAfter, plus } from '../time.ts';
import { cctpRoute, fromMessageUnits, inMessageUnits, isCctpChain } from './cctp.ts';
import { type RebalanceOrdered, rebalanceEventSchemas } from './events.ts';
import { decideMoves, type Move, type PastMove, type PolicyQuestion, type PolicySettings } from './policy.ts';
import type { FloatSymbol } from './protocols.ts';
import { isUsdt0Chain, usdt0Route } from './usdt0.ts';

/** 2: orders of moves by USDT0. */
export const floatPlanSchemaVersion = 2;

/** Instance of a token's plan. It also begins the ids of its moves. */
export const floatPlanOf = (symbol: FloatSymbol): string => symbol.toLowerCase();

/** Author of the policy's orders. */
export const policyName = 'worker:floats';

/** Maximum moves within 24 hours, whatever the settings are. */
export const plannedPerDayMax = 48;
/** Longest cool-down that the state remembers. */
export const coolDownMax_ms = 7 * day_ms;
/** Two events per move: the last 2,000 moves, which are those of 41 days at least. */
const window = 4_000;

const MoveNumber = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });

export const floatPlanEventSchemas = {
  MovePlanned: Type.Object(
    {
      /** Sequence number of the policy's moves. */
      number: MoveNumber,
      rebalance: Id,
      order: rebalanceEventSchemas.RebalanceOrdered,
    },
    closed,
  ),
  /** The move needs nothing any more: its money has arrived, or it was called off before its burn. */
  PlannedMoveEnded: Type.Object(
    { number: MoveNumber, rebalance: Id, outcome: oneOf(['done', 'calledOff'] as const), endedAt: Time },
    closed,
  ),
} as const;

type Schemas = typeof floatPlanEventSchemas;
export type FloatPlanEvent = {
  [T in keyof Schemas]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[keyof Schemas];

export interface PlannedMove {
  readonly number: number;
  readonly rebalance: string;
  readonly order: RebalanceOrdered;
  readonly outcome: 'open' | 'done' | 'calledOff';
  /** Null while it is open. */
  readonly endedAt: Instant | null;
}

export interface FloatPlanState {
  /** Number of the last planned move; 0 before the first. */
  readonly last: number;
  /** Open moves, and those of the last 7 days before the last one; oldest first. */
  readonly moves: readonly PlannedMove[];
}

export const floatPlan: Decider<FloatPlanState, FloatPlanEvent> = {
  category: 'floatPlan',
  window,
  initial: { last: 0, moves: [] },
  evolve({ last, moves }, event) {
    if (event.type === 'PlannedMoveEnded') {
      const { number, outcome, endedAt } = event.data;
      return { last, moves: moves.map((each) => (each.number === number ? { ...each, outcome, endedAt } : each)) };
    }
    const { number, rebalance, order } = event.data;
    const since = plus(order.orderedAt, -coolDownMax_ms);
    const kept = moves.filter((each) => each.outcome === 'open' || isAfter(each.order.orderedAt, since));
    return { last: number, moves: [...kept, { number, rebalance, order, outcome: 'open', endedAt: null }] };
  },
};

export const openMoves = ({ moves }: FloatPlanState): readonly PlannedMove[] =>
  moves.filter(({ outcome }) => outcome === 'open');

/** Moves as the policy counts them. A cancelled one moved nothing, and its destination cools down from the cancellation on. */
export const pastMoves = ({ moves }: FloatPlanState): readonly PastMove[] =>
  moves.map(({ order, outcome, endedAt }) => {
    const to = order.to.chainId;
    return outcome === 'calledOff'
      ? { to, amount: 0n, orderedAt: endedAt ?? order.orderedAt }
      : {
          to,
          amount: inMessageUnits(BigInt(order.amount), order.from.token),
          orderedAt: order.orderedAt,
          isOpen: outcome === 'open',
        };
  });

export interface Planning {
  readonly settings: PolicySettings;
  readonly question: Omit<PolicyQuestion, 'past'>;
  /** Last number of the plan when the floats were read. */
  readonly seen: number;
  /** Treasury's account and token on a chain; undefined if the chain is not configured. */
  readonly endOf: (chainId: ChainId) => RebalanceOrdered['from'] | undefined;
  /** Coin that a message of USDT0 may cost, in wei. Default: unknown, so no message is planned. */
  readonly messageFeeOf?: (from: ChainId, to: ChainId) => bigint | undefined;
}

/** Plans the policy's moves of now. Returns `[]` if another move was planned after the floats were read: they are read again. */
export function planMoves(
  state: FloatPlanState,
  { settings, question, seen, endOf, messageFeeOf }: Planning,
): Decision<FloatPlanEvent> {
  if (state.last !== seen) return [];
  const { moves } = decideMoves(settings, { ...question, past: pastMoves(state) });
  const since_ms = epochMs(question.now) - day_ms;
  const lately = state.moves.filter(({ order }) => epochMs(order.orderedAt) > since_ms).length;
  return moves.slice(0, Math.max(0, plannedPerDayMax - lately)).flatMap((move, at): FloatPlanEvent[] => {
    const [from, to] = [endOf(move.from), endOf(move.to)];
    const number = state.last + 1 + at;
    const route = from && to && routeOf(move, from, messageFeeOf?.(move.from, move.to));
    if (!route) return [];
    const rebalance = `${floatPlanOf(question.symbol)}-${number}`;
    return [
      { type: 'MovePlanned', data: { number, rebalance, order: orderOf(move, { from, to, route }, question.now) } },
    ];
  });
}

/** Undefined if a message's fee is unknown. */
function routeOf(
  { from, to, way, feeMax }: Move,
  { token }: RebalanceOrdered['from'],
  messageFee: bigint | undefined,
): RebalanceOrdered['route'] | undefined {
  if (way !== 'message')
    return isCctpChain(from) && isCctpChain(to)
      ? cctpRoute({ chainId: from, token }, to, { finality: way, feeMax })
      : undefined;
  return isUsdt0Chain(from) && isUsdt0Chain(to) && messageFee !== undefined
    ? usdt0Route(from, to, messageFee)
    : undefined;
}

function orderOf(
  { amount, approvals, reason, inputs }: Move,
  terms: Pick<RebalanceOrdered, 'from' | 'to' | 'route'>,
  now: Instant,
): RebalanceOrdered {
  return {
    ...terms,
    amount: fromMessageUnits(amount, terms.from.token).toString(),
    // Both are millionths: the policy counts in the decimals of the protocol's messages.
    value_microUsd: amount.toString(),
    approvals,
    policy: inputs,
    reason,
    by: policyName,
    orderedAt: now,
  };
}

/** Records that a planned move is over. Returns `[]` if that is known. */
export function endMove(
  { moves }: FloatPlanState,
  number: number,
  outcome: 'done' | 'calledOff',
  now: Instant,
): Decision<FloatPlanEvent> {
  const move = moves.find((each) => each.number === number);
  if (move?.outcome !== 'open') return [];
  return [{ type: 'PlannedMoveEnded', data: { number, rebalance: move.rebalance, outcome, endedAt: now } }];
}
