/** The treasury's floats at one moment, in the decimals of the policy. */
import type { ChainId } from '../domain/chains.ts';
import { inPolicyDecimals, tokensOf } from '../domain/rebalance/floatUnits.ts';
import { type Arriving, arrivingFrom } from '../domain/rebalance/inTransit.ts';
import type { FloatView } from '../domain/rebalance/policy.ts';
import { type FloatSymbol, floatSymbols } from '../domain/rebalance/protocols.ts';
import { type Rebalance, rebalanceStanding } from '../domain/rebalance/rebalance.ts';
import { day_ms, type Instant, plus } from '../domain/time.ts';
import { pendingAttempts } from '../domain/transfer/leg.ts';
import type { Sql } from '../projections/sql.ts';
import { type FloatToken, floatsBefore, openRebalances, outflows, rebalancesInTransit } from './floats.ts';
import { type Obligation, openObligations, openPromises } from './payouts.ts';

/** Rebalances that are read at most: each is a stream. */
const rebalancesMax = 200;

export interface OpenRebalance {
  readonly id: string;
  readonly state: Rebalance;
}

export interface TokenFloat extends FloatView {
  readonly symbol: FloatSymbol;
}

export interface Floats {
  /** One per token and chain whose books are open. */
  readonly views: readonly TokenFloat[];
  readonly open: readonly OpenRebalance[];
}

/** Reads a rebalance from its stream; null if it does not exist. @throws Unavailable */
export type ReadRebalance = (id: string) => Promise<Rebalance | null>;

export interface FloatDeps {
  readonly sql: Sql;
  readonly rebalanceOf: ReadRebalance;
  /** Waits until balances contain everything that obligations contain. Default: does not wait. @throws Unavailable */
  readonly balancesFollow?: () => Promise<void>;
  /** Default: all tokens. */
  readonly symbols?: readonly FloatSymbol[];
}

/**
 * Reads the floats. The amounts come from several reads, so money can move in between. Obligations are read before balances, and balances
 * last: a transfer in between lowers a source's free money or raises a destination's, so the policy moves too little and never too much.
 * @throws Unavailable
 */
export async function readFloats(
  { sql, rebalanceOf, balancesFollow, symbols = floatSymbols }: FloatDeps,
  now: Instant,
): Promise<Floats> {
  const since = { day: plus(now, -day_ms), week: plus(now, -7 * day_ms) };
  const [out, owed, promised] = await Promise.all([
    Promise.all(symbols.map((symbol) => outflows(sql, tokensOf(symbol), since))),
    openObligations(sql),
    openPromises(sql),
  ]);
  const open = await openOnes({ sql, rebalanceOf });
  await balancesFollow?.();
  const views = await Promise.all(
    symbols.map(async (symbol, at) => {
      const tokens = tokensOf(symbol);
      const held = await floatsBefore(sql, tokens, plus(now, day_ms));
      return held.map(({ chainId, held: units }): TokenFloat => {
        const own = out[at]?.find((each) => each.chainId === chainId);
        const token = tokens.find((each) => each.chainId === chainId);
        const inUnits = (amount: bigint) => inPolicyDecimals(chainId, symbol, amount);
        return {
          ...{ symbol, chainId },
          float: inUnits(units),
          reserved: inUnits(sumOf(owed, token) + sumOf(promised, token)),
          inTransit: open.reduce((sum, { state }) => sum + arrivingAt(chainId, symbol, state), 0n),
          outflow_day: inUnits(own?.day ?? 0n),
          outflow_week: inUnits(own?.week ?? 0n),
        };
      });
    }),
  );
  return { views: views.flat(), open };
}

async function openOnes({ sql, rebalanceOf }: FloatDeps): Promise<readonly OpenRebalance[]> {
  const ids = await openRebalances(sql, rebalancesMax);
  const states = await Promise.all(ids.map(async (id) => ({ id, state: await rebalanceOf(id) })));
  return states.flatMap(({ id, state }) =>
    state && !['done', 'calledOff'].includes(rebalanceStanding(state)) ? [{ id, state }] : [],
  );
}

const sumOf = (all: readonly Obligation[], token: FloatToken | undefined): bigint =>
  all.reduce(
    (sum, each) => (each.chainId === token?.chainId && each.tokenAddress === token.address ? sum + each.amount : sum),
    0n,
  );

/** Minimum amount that an open rebalance brings to the chain, also before its burn. A lost burn brings nothing. */
export function arrivingAt(chainId: ChainId, symbol: FloatSymbol, state: Rebalance): bigint {
  const { ordered, burn } = state;
  if (ordered.to.chainId !== chainId || ordered.to.token.symbol !== symbol) return 0n;
  const arriving = arrivingFrom(state)?.amount;
  if (arriving !== undefined) return inPolicyDecimals(chainId, symbol, arriving);
  const isAhead = !burn.settled && rebalanceStanding(state) !== 'burnLost' && rebalanceStanding(state) !== 'short';
  const { from, amount, route } = ordered;
  return isAhead ? inPolicyDecimals(from.chainId, symbol, BigInt(amount) - BigInt(route.feeMax)) : 0n;
}

/**
 * Returns burned money that is on its way to the treasury's accounts. A signed mint does not count: its money may already be in the
 * balance of its account.
 * @throws Unavailable
 */
export async function arrivingMoney({ sql, rebalanceOf }: FloatDeps): Promise<readonly Arriving[]> {
  const ids = await rebalancesInTransit(sql, rebalancesMax);
  const states = await Promise.all(ids.map(rebalanceOf));
  return states.flatMap((state) => {
    const isMinting = state?.mint && pendingAttempts(state.mint).length > 0;
    return state && !isMinting ? (arrivingFrom(state) ?? []) : [];
  });
}
