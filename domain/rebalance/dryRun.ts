/** Replays recorded movements with the policy. Pure: nothing is ordered, and no clock is read. */
import type { ChainId } from '../chains.ts';
import { larger, smaller } from '../money.ts';
import { day_ms, epochMs, hour_ms, type Instant, instant, minute_ms } from '../time.ts';
import {
  decideMoves,
  type FloatView,
  type Move,
  type PastMove,
  type PolicyQuestion,
  type PolicySettings,
} from './policy.ts';
import { type FloatSymbol, protocolOf } from './protocols.ts';

/** A recorded movement of the policy's token on one chain, in smallest units of 6 decimals; negative for what left. */
export interface FloatFlow {
  readonly at: Instant;
  readonly chainId: ChainId;
  readonly amount: bigint;
  /** True for a payout or refund: it is refused if the float lacks its money. Other movements happen in any case. */
  readonly isDemand: boolean;
}

export interface DryRun {
  readonly symbol: FloatSymbol;
  readonly flows: readonly FloatFlow[];
  /** Float of each chain at the beginning. */
  readonly opening: ReadonlyMap<ChainId, bigint>;
  readonly from: Instant;
  readonly to: Instant;
  readonly settings: PolicySettings;
  readonly feeOf: PolicyQuestion['feeOf'];
}

export interface DryMove extends Pick<Move, 'from' | 'to' | 'amount' | 'way' | 'approvals' | 'reason'> {
  readonly at: Instant;
  readonly arrivesAt: Instant;
  readonly fee: bigint;
}

export interface Course {
  /** By chain, the float at the end of each hour. */
  readonly hourly: ReadonlyMap<ChainId, readonly bigint[]>;
  /** By chain, how many hours had at least one refused payment. */
  readonly refusedHours: ReadonlyMap<ChainId, number>;
  readonly refusedPayments: number;
  readonly refusedAmount: bigint;
}

export interface DryRunResult {
  readonly without: Course;
  readonly with: Course & {
    readonly moves: readonly DryMove[];
    readonly fees: bigint;
    /** Still in transit at the end. */
    readonly inTransit: bigint;
  };
}

/** The policy decides this often. */
export const decision_ms = 10 * minute_ms;
const week_ms = 7 * day_ms;
/** One run holds at most this much: a year of decisions. */
export const daysMax = 366;

export function dryRun(run: DryRun): DryRunResult {
  const without = replayed(run, null);
  const { moves, fees, inTransit, ...course } = replayed(run, run.settings);
  const { moves: _, fees: __, inTransit: ___, ...plain } = without;
  return { without: plain, with: { ...course, moves, fees, inTransit } };
}

type Replayed = DryRunResult['with'];

/** @param settings null for no policy */
function replayed(
  { symbol, flows, opening, from, to, settings: own, feeOf }: DryRun,
  settings: PolicySettings | null,
): Replayed {
  const world = createWorld(symbol, opening, own);
  const ordered = flows.toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
  let next = 0;
  const first_ms = epochMs(from);
  for (let now_ms = first_ms; now_ms < epochMs(to); now_ms += decision_ms) {
    const now = instant(now_ms);
    world.land(now);
    if (settings)
      world.move(
        decideMoves(settings, { symbol, now, views: world.views(now), past: world.past, feeOf }).moves,
        now,
        feeOf,
      );
    const until = instant(now_ms + decision_ms);
    for (let flow = ordered[next]; flow && flow.at < until; flow = ordered[next]) {
      next += 1;
      if (flow.at < from) continue;
      world.land(flow.at);
      world.flow(flow);
    }
    if ((now_ms + decision_ms - first_ms) % hour_ms === 0) world.sample();
  }
  return world.result();
}

function createWorld(symbol: FloatSymbol, opening: DryRun['opening'], { floats: limits }: PolicySettings) {
  const chains = [...new Set([...opening.keys(), ...limits.keys()])];
  const floats = new Map<ChainId, bigint>(chains.map((chainId) => [chainId, opening.get(chainId) ?? 0n]));
  const hourly = new Map<ChainId, bigint[]>(chains.map((chainId) => [chainId, []]));
  const refusedIn = new Map<ChainId, Set<number>>(chains.map((chainId) => [chainId, new Set()]));
  /** Payments of each chain within the last week, the oldest first. */
  const paid = new Map<ChainId, { readonly at_ms: number; readonly amount: bigint }[]>(chains.map((id) => [id, []]));
  const underWay: DryMove[] = [];
  const moves: DryMove[] = [];
  const past: PastMove[] = [];
  let [fees, refusedPayments, refusedAmount] = [0n, 0, 0n];
  const add = (chainId: ChainId, amount: bigint) => floats.set(chainId, (floats.get(chainId) ?? 0n) + amount);

  function outflow(chainId: ChainId, since_ms: number): bigint {
    return (paid.get(chainId) ?? []).reduce((sum, { at_ms, amount }) => (at_ms > since_ms ? sum + amount : sum), 0n);
  }

  return {
    past,

    land(now: Instant): void {
      for (const arrived of underWay.filter(({ arrivesAt }) => arrivesAt <= now)) {
        underWay.splice(underWay.indexOf(arrived), 1);
        add(arrived.to, arrived.amount - arrived.fee);
        fees += arrived.fee;
      }
    },

    views(now: Instant): readonly FloatView[] {
      const now_ms = epochMs(now);
      return chains.map((chainId) => {
        const recent = (paid.get(chainId) ?? []).filter(({ at_ms }) => at_ms > now_ms - week_ms);
        paid.set(chainId, recent);
        const inTransit = underWay.reduce(
          (sum, each) => (each.to === chainId ? sum + each.amount - each.fee : sum),
          0n,
        );
        const [outflow_day, outflow_week] = [outflow(chainId, now_ms - day_ms), outflow(chainId, now_ms - week_ms)];
        return { chainId, float: floats.get(chainId) ?? 0n, reserved: 0n, inTransit, outflow_day, outflow_week };
      });
    },

    move(decided: readonly Move[], now: Instant, feeOf: PolicyQuestion['feeOf']): void {
      for (const { from, to, amount, way, approvals, reason } of decided) {
        const arrivesAt = instant(epochMs(now) + (protocolOf[symbol].time_ms(from, way) ?? 0));
        const fee = way === 'message' ? 0n : feeOfBurn(amount, feeOf(from, to, way) ?? 0);
        const move = { from, to, amount, way, approvals, reason, at: now, arrivesAt, fee };
        add(from, -amount);
        underWay.push(move);
        moves.push(move);
        past.push({ to, amount, orderedAt: now });
      }
    },

    flow({ at, chainId, amount, isDemand }: FloatFlow): void {
      const at_ms = epochMs(at);
      if (isDemand && amount < 0n) {
        paid.get(chainId)?.push({ at_ms, amount: -amount });
        if ((floats.get(chainId) ?? 0n) + amount < 0n) {
          refusedPayments += 1;
          refusedAmount -= amount;
          refusedIn.get(chainId)?.add(Math.floor(at_ms / hour_ms));
          return;
        }
      }
      add(chainId, amount);
    },

    sample(): void {
      for (const chainId of chains) hourly.get(chainId)?.push(floats.get(chainId) ?? 0n);
    },

    result(): Replayed {
      const refusedHours = new Map(chains.map((chainId) => [chainId, refusedIn.get(chainId)?.size ?? 0]));
      const inTransit = underWay.reduce((sum, { amount }) => sum + amount, 0n);
      return { hourly, refusedHours, refusedPayments, refusedAmount, moves, fees, inTransit };
    },
  };
}

/** @param fee_bps in hundredths of a percent */
const feeOfBurn = (amount: bigint, fee_bps: number): bigint =>
  (amount * BigInt(Math.ceil(fee_bps * 100)) + 999_999n) / 1_000_000n;

const bars = [...'▁▂▃▄▅▆▇█'];

/** One character per column, each the lowest value of its hours: a float that was empty for an hour shows. */
export function sparkline(values: readonly bigint[], columns: number): string {
  const size = Math.max(1, Math.ceil(values.length / columns));
  const most = values.reduce(larger, 1n);
  const lows = Array.from({ length: Math.ceil(values.length / size) }, (_, at) =>
    values.slice(at * size, (at + 1) * size).reduce(smaller),
  );
  return lows.map((low) => (low <= 0n ? '·' : (bars[Number((low * 7n) / most)] ?? '█'))).join('');
}
