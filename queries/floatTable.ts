/** Each chain's float for people: what it holds, what is reserved and in transit, how long it lasts, and its course. */
import type { Clock } from '../commands/ports.ts';
import { type ChainId, chainOf } from '../domain/chains.ts';
import { larger } from '../domain/money.ts';
import type { FloatFlow } from '../domain/rebalance/dryRun.ts';
import { inPolicyDecimals, tokensOf } from '../domain/rebalance/floatUnits.ts';
import { arrivingFrom } from '../domain/rebalance/inTransit.ts';
import { demandPerDay } from '../domain/rebalance/policy.ts';
import { type FloatSymbol, floatSymbols } from '../domain/rebalance/protocols.ts';
import { day_ms, hour_ms, type Instant, plus } from '../domain/time.ts';
import { floatsBefore, flowsBetween } from './floats.ts';
import { type FloatDeps, type OpenRebalance, readFloats, type TokenFloat } from './floatViews.ts';

/** In the decimals of the policy. */
export interface FloatLine {
  readonly chainId: ChainId;
  readonly chain: string;
  readonly symbol: FloatSymbol;
  readonly held: bigint;
  readonly reserved: bigint;
  readonly inTransit: bigint;
  /** When the last of the burned money is expected; null for none. */
  readonly expectedAt: Instant | null;
  readonly outflow_day: bigint;
  readonly outflow_week: bigint;
  /** Null without outflow. */
  readonly lastsFor_hours: number | null;
  /** The last 7 days, an hour each. */
  readonly hourly: readonly bigint[];
}

export interface FloatTable {
  readonly lines: readonly FloatLine[];
  readonly views: readonly TokenFloat[];
  /** Rebalances that are not over. */
  readonly open: readonly OpenRebalance[];
}

/** @throws Unavailable */
export async function readFloatTable({
  sql,
  rebalanceOf,
  clock,
}: Pick<FloatDeps, 'sql' | 'rebalanceOf'> & { readonly clock: Pick<Clock, 'now'> }): Promise<FloatTable> {
  const now = clock.now();
  const week = plus(now, -7 * day_ms);
  const courses = await Promise.all(
    floatSymbols.map(async (symbol) => {
      const tokens = tokensOf(symbol);
      const [opening, flows] = await Promise.all([
        floatsBefore(sql, tokens, week),
        flowsBetween(sql, tokens, { from: week, to: plus(now, 1) }),
      ]);
      return { symbol, opening, flows };
    }),
  );
  const { views, open } = await readFloats({ sql, rebalanceOf }, now);
  const lines = views.map((view): FloatLine => {
    const { symbol, chainId, float: held, reserved, inTransit, outflow_day, outflow_week } = view;
    const perDay = demandPerDay(view);
    const course = courses.find((each) => each.symbol === symbol);
    const from = course?.opening.find((each) => each.chainId === chainId)?.held ?? 0n;
    return {
      ...{ symbol, chainId, chain: chainOf(chainId).name, held, reserved, inTransit, outflow_day, outflow_week },
      expectedAt: lastExpected({ symbol, chainId }, open),
      lastsFor_hours: perDay === 0n ? null : Number((larger(held - reserved, 0n) * 24n) / perDay),
      hourly: hourlyOf(course?.flows ?? [], { symbol, chainId, from, week }),
    };
  });
  return { lines, views, open };
}

type Float = Pick<TokenFloat, 'symbol' | 'chainId'>;

function lastExpected({ symbol, chainId }: Float, open: readonly OpenRebalance[]): Instant | null {
  const arriving = open.flatMap(({ state }) => arrivingFrom(state) ?? []);
  const token = tokensOf(symbol).find((each) => each.chainId === chainId);
  const own = arriving.filter((each) => each.chainId === chainId && each.token === token?.address);
  return (
    own
      .map(({ expectedAt }) => expectedAt)
      .toSorted()
      .at(-1) ?? null
  );
}

/** The course has no moves between our accounts, so it shows how payments alone move the float. */
function hourlyOf(
  flows: readonly FloatFlow[],
  { symbol, chainId, from, week }: Float & { readonly from: bigint; readonly week: Instant },
): readonly bigint[] {
  const own = flows.filter((flow) => flow.chainId === chainId);
  let [at, float] = [0, from];
  return Array.from({ length: 7 * 24 }, (_, hour) => {
    const until = plus(week, (hour + 1) * hour_ms);
    for (let flow = own[at]; flow && flow.at < until; flow = own[at]) {
      float += flow.amount;
      at += 1;
    }
    return inPolicyDecimals(chainId, symbol, float);
  });
}
