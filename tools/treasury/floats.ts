/** `npm run treasury -- floats`: each chain's float for payouts, and how long it lasts. */
import type { Command } from 'commander';
import { currentState } from '../../commands/handle.ts';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { larger } from '../../domain/money.ts';
import { isCctpChain } from '../../domain/rebalance/cctp.ts';
import { type Flow, sparkline } from '../../domain/rebalance/dryRun.ts';
import { inPolicyDecimals, sparkColumns, tokens, usd } from '../../domain/rebalance/floatUnits.ts';
import { type Arriving, arrivingFrom } from '../../domain/rebalance/inTransit.ts';
import { rebalance } from '../../domain/rebalance/rebalance.ts';
import { day_ms, hour_ms, type Instant, plus } from '../../domain/time.ts';
import { floatsBefore, flowsBetween, outflows, rebalancesInTransit } from '../../queries/floats.ts';
import { openObligations } from '../../queries/payouts.ts';
import type { Core } from '../../src/core.ts';
import { withCore } from '../connections.ts';
import { type ListFormat, printList } from './show.ts';

const inTransitMax = 200;

interface FloatLine {
  readonly chainId: ChainId;
  readonly chain: string;
  readonly held: bigint;
  readonly reserved: bigint;
  readonly inTransit: bigint;
  /** When the last of it is expected; null for none. */
  readonly expectedAt: Instant | null;
  readonly outflow_day: bigint;
  readonly outflow_week: bigint;
  /** Null without outflow. */
  readonly lastsFor_hours: number | null;
  /** The last 7 days, an hour each. */
  readonly hourly: readonly bigint[];
}

async function linesOf({ database, handle, clock }: Core): Promise<readonly FloatLine[]> {
  const now = clock.now();
  const [day, week] = [plus(now, -day_ms), plus(now, -7 * day_ms)];
  const [held, opening, out, flows, owed, ids] = await Promise.all([
    floatsBefore(database, tokens, plus(now, 1)),
    floatsBefore(database, tokens, week),
    outflows(database, tokens, { day, week }),
    flowsBetween(database, tokens, { from: week, to: plus(now, 1) }),
    openObligations(database),
    rebalancesInTransit(database, inTransitMax),
  ]);
  const states = await Promise.all(ids.map((id) => currentState(handle, rebalance, id)));
  const arriving = states.flatMap((state) => (state && arrivingFrom(state)) ?? []);
  return held.map(({ chainId, held: units }): FloatLine => {
    const own = out.find((each) => each.chainId === chainId);
    const reserved = owed
      .filter((each) => tokens.some((token) => token.chainId === chainId && token.address === each.tokenAddress))
      .reduce((sum, each) => (each.chainId === chainId ? sum + each.amount : sum), 0n);
    const [outflow_day, outflow_week] = [
      inPolicyDecimals(chainId, own?.day ?? 0n),
      inPolicyDecimals(chainId, own?.week ?? 0n),
    ];
    const perDay = larger(outflow_day, outflow_week / 7n);
    const float = inPolicyDecimals(chainId, units);
    const free = larger(float - inPolicyDecimals(chainId, reserved), 0n);
    const from = opening.find((each) => each.chainId === chainId)?.held ?? 0n;
    return {
      chainId,
      chain: chainOf(chainId).name,
      held: float,
      reserved: inPolicyDecimals(chainId, reserved),
      ...transitTo(chainId, arriving),
      outflow_day,
      outflow_week,
      lastsFor_hours: perDay === 0n ? null : Number((free * 24n) / perDay),
      hourly: hourlyOf(flows, { chainId, from, week }),
    };
  });
}

function transitTo(chainId: ChainId, arriving: readonly Arriving[]): Pick<FloatLine, 'inTransit' | 'expectedAt'> {
  const own = arriving.filter((each) => each.chainId === chainId);
  const expected = own.map(({ expectedAt }) => expectedAt).toSorted();
  const inTransit = own.reduce((sum, { amount }) => sum + inPolicyDecimals(chainId, amount), 0n);
  return { inTransit, expectedAt: expected.at(-1) ?? null };
}

/** The line has no moves between our accounts, so it shows how payments alone move the float. */
function hourlyOf(
  flows: readonly Flow[],
  { chainId, from, week }: { readonly chainId: ChainId; readonly from: bigint; readonly week: Instant },
): readonly bigint[] {
  const own = flows.filter((flow) => flow.chainId === chainId);
  let [at, float] = [0, from];
  return Array.from({ length: 7 * 24 }, (_, hour) => {
    const until = plus(week, (hour + 1) * hour_ms);
    for (let flow = own[at]; flow && flow.at < until; flow = own[at]) {
      float += flow.amount;
      at += 1;
    }
    return inPolicyDecimals(chainId, float);
  });
}

async function listFloats(core: Core, how: ListFormat): Promise<void> {
  const found = await linesOf(core);
  const rows = found.map(({ chain, hourly, lastsFor_hours, expectedAt, ...line }) => [
    chain,
    {
      held: usd(line.held),
      reserved: usd(line.reserved),
      'in transit': expectedAt === null ? '' : `${usd(line.inTransit)} by ${expectedAt}`,
      'out 24 h': usd(line.outflow_day),
      'out 7 d': usd(line.outflow_week),
      lasts: lastsFor_hours === null ? '' : `${lastsFor_hours} h`,
      route: isCctpChain(line.chainId) ? 'CCTP' : 'by hand',
      '7 days': sparkline(hourly, sparkColumns),
    },
  ]);
  printList(
    how,
    found,
    Object.fromEntries(rows),
    'No account of the treasury has open books: npm run treasury -- books.',
  );
}

/** Adds `floats`. */
export function addFloatVerbs(program: Command): void {
  program
    .command('floats')
    .description('List what each chain holds for payouts, what is reserved and in transit, and how long it lasts.')
    .option('--json', 'Print JSON')
    .action((how: ListFormat) => withCore((core) => listFloats(core, how)));
}
