/**
 * Decides which money moves between the treasury's floats. A pure function of settings, floats, demand and time: the worker and the dry run
 * decide alike, and equal inputs give equal moves.
 */
import type { ChainId } from '../chains.ts';
import { larger, smaller } from '../money.ts';
import { day_ms, epochMs, type Instant } from '../time.ts';
import { fast, feeLimit } from './cctp.ts';
import type { PolicyInputs } from './events.ts';
import { type FloatSymbol, hasRoute, type MoveWay, protocolOf, slowestTime_ms } from './protocols.ts';

/** Limits of one chain's float, in smallest units. */
export interface FloatLimits {
  /** Below it, money moves in, fast if needed. */
  readonly minimum: bigint;
  /** Moves refill a float to its target, and take no source below its own. */
  readonly target: bigint;
  /** Above it, money moves to the float that is furthest below its target. */
  readonly maximum: bigint;
}

export const policyModes = ['off', 'propose', 'automatic'] as const;
export type PolicyMode = (typeof policyModes)[number];

/** All amounts are in smallest units of a token with 6 decimals. */
export interface PolicySettings {
  readonly mode: PolicyMode;
  readonly floats: ReadonlyMap<ChainId, FloatLimits>;
  /** Maximum that moves within 24 hours, over all chains. */
  readonly dailyCap: bigint;
  /** Minimum time between two moves to one chain. */
  readonly coolDown_ms: number;
  /** A smaller move is not worth its gas. */
  readonly smallestMove: bigint;
  /** Maximum of one move: the signer refuses larger transfers. */
  readonly largestMove: bigint;
  /** In mode `automatic`, a larger move needs the approval of an operator. */
  readonly automaticBelow: bigint;
  /** Maximum fee of a fast move, in hundredths of a percent. A route that costs more is not used. */
  readonly fastFeeMax_bps: number;
}

/** One chain's float at one moment. */
export interface FloatView {
  readonly chainId: ChainId;
  /** Balance of the account at a final block. */
  readonly float: bigint;
  /** Part of the float that open payments, refunds and withdrawals need. */
  readonly reserved: bigint;
  /** Sum of the moves in transit to it. */
  readonly inTransit: bigint;
  readonly outflow_day: bigint;
  readonly outflow_week: bigint;
}

/** A move that was ordered before. A cancelled one has the amount 0. */
export interface PastMove {
  readonly to: ChainId;
  readonly amount: bigint;
  readonly orderedAt: Instant;
  /** True until its money has arrived: its destination gets no other move. */
  readonly isOpen?: boolean;
}

export interface PolicyQuestion {
  /** Token of the floats. Each token has its own limits, cap and cool-down. */
  readonly symbol: FloatSymbol;
  readonly now: Instant;
  readonly views: readonly FloatView[];
  readonly past: readonly PastMove[];
  /**
   * Fee of a route; undefined if it is unknown. Of CCTP in hundredths of a percent of the amount; of USDT0 the message fee in millionths of a
   * dollar, which only compares routes.
   */
  feeOf(from: ChainId, to: ChainId, way: MoveWay): number | undefined;
  /** Chains on which the treasury's account cannot receive the token now. Default: none. */
  readonly closed?: ReadonlySet<ChainId>;
}

export interface Move {
  readonly from: ChainId;
  readonly to: ChainId;
  readonly amount: bigint;
  readonly way: MoveWay;
  /** In the token. */
  readonly feeMax: bigint;
  /** Operators who must approve it. */
  readonly approvals: 0 | 1;
  readonly reason: string;
  readonly inputs: PolicyInputs;
}

/** A float that is too low and that no move can fill. */
export interface Shortage {
  readonly chainId: ChainId;
  /** Amount that is missing to the target. */
  readonly missing: bigint;
  /** When the float is used up at the present outflow; null without outflow. */
  readonly emptyIn_ms: number | null;
  readonly why: 'noRoute' | 'noSource' | 'dailyCap' | 'coolDown' | 'underWay' | 'tooSmall' | 'noFee' | 'closed';
}

export interface PolicyAnswer {
  readonly moves: readonly Move[];
  readonly shortages: readonly Shortage[];
}

const nothing: PolicyAnswer = { moves: [], shortages: [] };

/** Equal settings have equal versions: a move names the settings that it was decided with. */
export function policyVersion({ floats, mode, ...rest }: PolicySettings): string {
  const limits = [...floats].toSorted(([a], [b]) => a - b).map(([id, f]) => [id, f.minimum, f.target, f.maximum]);
  const text = [mode, ...Object.values(rest), ...limits.flat()].join(' ');
  // FNV-1a, 32 bits: a name for people, nothing is trusted because of it.
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return sum.toString(16).padStart(8, '0');
}

/** Each chain counts its own money: what leaves by a move decided now is not there for the next. */
interface Account extends FloatView, FloatLimits {
  leaving: bigint;
}

/** Amount that nothing else needs. */
const free = ({ float, reserved, leaving }: Account): bigint => float - reserved - leaving;
const projected = (account: Account): bigint => free(account) + account.inTransit;

/** Expected outflow per day: the busier of the last day and the average day of the last week. */
export const demandPerDay = ({ outflow_day, outflow_week }: Pick<FloatView, 'outflow_day' | 'outflow_week'>): bigint =>
  larger(outflow_day, outflow_week / 7n);

const during = (account: Account, time_ms: number): bigint =>
  (demandPerDay(account) * BigInt(time_ms)) / BigInt(day_ms);

function emptyIn(account: Account): number | null {
  const demand = demandPerDay(account);
  return demand === 0n ? null : Number((larger(free(account), 0n) * BigInt(day_ms)) / demand);
}

/**
 * Returns the moves to order now, at most one to each chain, and the floats that stay too low. The most urgent float is filled first.
 * A source keeps its reserved money and its target; only a float below its minimum may take sources down to their own minimum.
 */
export function decideMoves(settings: PolicySettings, question: PolicyQuestion): PolicyAnswer {
  if (settings.mode === 'off') return nothing;
  const accounts = question.views.flatMap((view): Account[] => {
    const limits = settings.floats.get(view.chainId);
    return limits ? [{ ...view, ...limits, leaving: 0n }] : [];
  });
  const moves: Move[] = [];
  const shortages: Shortage[] = [];
  let left = settings.dailyCap - movedToday(question);
  for (const account of needy(accounts, question.symbol)) {
    const outcome = fill(settings, question, { accounts, account, left });
    if (typeof outcome === 'string') {
      if (isLow(account, question.symbol)) shortages.push(shortageOf(account, outcome));
      continue;
    }
    const source = accounts.find(({ chainId }) => chainId === outcome.from);
    if (source) source.leaving += outcome.amount;
    left -= outcome.amount;
    moves.push(outcome);
  }
  return { moves, shortages };
}

const shortageOf = (account: Account, why: Shortage['why']): Shortage => ({
  chainId: account.chainId,
  missing: larger(account.target - projected(account), 0n),
  emptyIn_ms: emptyIn(account),
  why,
});

function movedToday({ past, now }: PolicyQuestion): bigint {
  const since = epochMs(now) - day_ms;
  return past.reduce((sum, { orderedAt, amount }) => (epochMs(orderedAt) > since ? sum + amount : sum), 0n);
}

/** It is below its minimum, or will be before a usual move from the slowest source arrives. */
function isLow(account: Account, symbol: FloatSymbol): boolean {
  const time_ms = hasRoute(symbol, account.chainId) ? slowestTime_ms(symbol) : 0;
  return projected(account) - during(account, time_ms) < account.minimum;
}

/** Low floats, the emptiest first; then floats below their target, which only take what others have above their maximum. */
function needy(accounts: readonly Account[], symbol: FloatSymbol): readonly Account[] {
  const lack = (account: Account) => account.target - projected(account);
  const share = (account: Account) => Number((lack(account) * 10_000n) / larger(account.target, 1n));
  return accounts
    .filter((account) => lack(account) > 0n)
    .toSorted(
      (a, b) => Number(isLow(b, symbol)) - Number(isLow(a, symbol)) || share(b) - share(a) || a.chainId - b.chainId,
    );
}

interface Filling {
  readonly accounts: readonly Account[];
  readonly account: Account;
  /** Rest of the daily cap. */
  readonly left: bigint;
}

function fill(settings: PolicySettings, question: PolicyQuestion, filling: Filling): Move | Shortage['why'] {
  const { accounts, account, left } = filling;
  const to = account.chainId;
  const { now, past, symbol, closed } = question;
  if (!hasRoute(symbol, to)) return 'noRoute';
  if (closed?.has(to)) return 'closed';
  if (past.some((each) => each.to === to && each.isOpen)) return 'underWay';
  const isCooling = past.some(
    (each) => each.to === to && epochMs(each.orderedAt) + settings.coolDown_ms > epochMs(now),
  );
  if (isCooling) return 'coolDown';
  const lack = account.target - projected(account);
  const low = isLow(account, symbol);
  const offers = accounts.flatMap((source) => offersOf(settings, question, { source, to, low }));
  if (offers.length === 0)
    return accounts.some((each) => spare(each, low) > 0n && each !== account) ? 'noFee' : 'noSource';
  const best = cheapest(offers, account, { lack, low });
  const wanted = smaller(smaller(lack, best.most), settings.largestMove);
  const amount = smaller(wanted, larger(left, 0n));
  if (amount < settings.smallestMove) return wanted >= settings.smallestMove ? 'dailyCap' : 'tooSmall';
  const { source, way, fee } = best;
  const feeMax = way === 'message' ? 0n : smaller(feeFor(amount, fee), feeLimit(amount));
  const isLarge = settings.mode === 'propose' || amount >= settings.automaticBelow;
  return {
    from: best.from,
    to,
    amount,
    way,
    feeMax,
    approvals: isLarge ? 1 : 0,
    reason: low ? 'the float is below its minimum, or will be' : 'another float is above its maximum',
    inputs: inputsOf(settings, source, account),
  };
}

/** Circle may change its fee between the decision and the burn: a tenth more is allowed. A limit of 0 suits a route without fees. */
const feeFor = (amount: bigint, fee_bps: number): bigint => {
  const millionths = BigInt(Math.ceil(fee_bps * 110));
  return (amount * millionths + 999_999n) / 1_000_000n;
};

const inputsOf = (settings: PolicySettings, source: Account, to: Account): PolicyInputs => ({
  version: policyVersion(settings),
  sourceFloat: (source.float - source.leaving).toString(),
  sourceReserved: source.reserved.toString(),
  destinationFloat: to.float.toString(),
  destinationReserved: to.reserved.toString(),
  destinationInTransit: to.inTransit.toString(),
  destinationOutflow_day: to.outflow_day.toString(),
  destinationOutflow_week: to.outflow_week.toString(),
});

/** Amount that a source can give. A low float gets everything above the source's minimum and demand of a day; other floats get the amount above its maximum. */
function spare(source: Account, forLow: boolean): bigint {
  const above = (kept: bigint) => larger(free(source) - kept, 0n);
  if (forLow) return larger(above(source.target), above(source.minimum + demandPerDay(source)));
  return free(source) > source.maximum ? above(source.target) : 0n;
}

interface Offer {
  readonly source: Account;
  readonly from: ChainId;
  readonly way: MoveWay;
  readonly fee: number;
  readonly time_ms: number;
  readonly most: bigint;
}

function offersOf(
  settings: PolicySettings,
  { symbol, feeOf }: PolicyQuestion,
  { source, to, low }: { readonly source: Account; readonly to: ChainId; readonly low: boolean },
): readonly Offer[] {
  const { chainId: from } = source;
  const most = spare(source, low);
  if (from === to || most < settings.smallestMove) return [];
  const { ways, time_ms: timeOf } = protocolOf[symbol];
  return ways.flatMap((way) => {
    const time_ms = timeOf(from, way);
    const fee = time_ms === undefined ? undefined : feeOf(from, to, way);
    const isUsed = way !== fast || (low && (fee ?? 0) <= settings.fastFeeMax_bps);
    return time_ms === undefined || fee === undefined || !isUsed ? [] : [{ source, from, way, fee, time_ms, most }];
  });
}

/** The cheapest that arrives before the float is empty; if none does, the soonest. Then the one that can give most. */
function cheapest(
  offers: readonly Offer[],
  account: Account,
  { lack, low }: { readonly lack: bigint; readonly low: boolean },
): Offer {
  const until_ms = low ? (emptyIn(account) ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
  const inTime = offers.filter(({ time_ms }) => time_ms < until_ms);
  const gives = ({ most }: Offer) => smaller(most, lack);
  const byMost = (a: Offer, b: Offer) => (gives(a) === gives(b) ? a.from - b.from : gives(a) < gives(b) ? 1 : -1);
  const [best] =
    inTime.length > 0
      ? inTime.toSorted((a, b) => a.fee - b.fee || byMost(a, b) || a.time_ms - b.time_ms)
      : offers.toSorted((a, b) => a.time_ms - b.time_ms || byMost(a, b));
  return best as Offer;
}
