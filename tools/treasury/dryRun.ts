/** `npm run treasury -- rebalance --dry-run`: replays the log with the policy. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type ChainId, chainOf, findHeldToken } from '../../domain/chains.ts';
import { fast } from '../../domain/rebalance/cctp.ts';
import { type DryRunResult, daysMax, dryRun, type FloatFlow, sparkline } from '../../domain/rebalance/dryRun.ts';
import {
  inPolicyDecimals,
  parseDollars,
  parseFloatLimits,
  sparkColumns,
  tokensOf,
  usd,
} from '../../domain/rebalance/floatUnits.ts';
import type { FloatLimits, PolicySettings } from '../../domain/rebalance/policy.ts';
import { type FloatSymbol, floatSymbols } from '../../domain/rebalance/protocols.ts';
import { day_ms, hour_ms, type Instant, plus } from '../../domain/time.ts';
import { floatsBefore, flowsBetween } from '../../queries/floats.ts';
import type { Core } from '../../src/core.ts';
import { json, type ListFormat, print, printTable } from '../print.ts';
import { namedChain } from '../program.ts';

/** Standard burns are free in 2026; a fast one costs up to this many hundredths of a percent. Source: the protocol's fee query. */
const fastFee_bps = 1.3;

const [usualCap, usualSmallest] = [50_000_000_000n, 100_000_000n];

export interface DryRunOptions extends ListFormat {
  readonly token: FloatSymbol;
  readonly days: number;
  readonly float: readonly NamedLimits[];
  readonly cap?: bigint;
  readonly cooldown: number;
  readonly smallest?: bigint;
}

type NamedLimits = readonly [ChainId, FloatLimits];

/** Replays the movements of past days with and without the policy. Orders nothing. */
export async function showDryRun({ database, clock }: Core, options: DryRunOptions): Promise<void> {
  const {
    token: symbol,
    days,
    float,
    cap: dailyCap = usualCap,
    cooldown,
    smallest: smallestMove = usualSmallest,
  } = options;
  if (float.length < 2)
    throw new Error('name two chains at least: --float 1:1000:5000:20000 --float 8453:1000:5000:20000');
  for (const [chainId] of float)
    if (!findHeldToken(chainOf(chainId), symbol))
      throw new Error(`${chainOf(chainId).name} has no ${symbol}: omit its --float`);
  const settings: PolicySettings = {
    mode: 'automatic',
    floats: new Map(float),
    dailyCap,
    coolDown_ms: cooldown * hour_ms,
    smallestMove,
    largestMove: dailyCap,
    automaticBelow: dailyCap,
    fastFeeMax_bps: 14,
  };
  const to = clock.now();
  const from = plus(to, -days * day_ms);
  const served = tokensOf(symbol).filter(({ chainId }) => settings.floats.has(chainId));
  const held = await floatsBefore(database, served, from);
  const flows = await flowsBetween(database, served, { from, to });
  const inPolicyUnits = (flow: FloatFlow): FloatFlow => ({
    ...flow,
    amount: inPolicyDecimals(flow.chainId, symbol, flow.amount),
  });
  const result = dryRun({
    flows: flows.map(inPolicyUnits),
    opening: new Map(held.map((each) => [each.chainId, inPolicyDecimals(each.chainId, symbol, each.held)])),
    ...{ symbol, from, to, settings },
    feeOf: (_, __, way) => (way === fast ? fastFee_bps : 0),
  });
  if (options.json) return json(plain(result));
  printDryRun(result, { symbol, from, to, payments: flows.filter(({ isDemand }) => isDemand).length });
}

/** Maps have no JSON. */
function plain({ without, with: moved }: DryRunResult) {
  const course = ({ hourly, refusedHours, ...rest }: DryRunResult['without']) => ({
    ...rest,
    hourly: Object.fromEntries(hourly),
    refusedHours: Object.fromEntries(refusedHours),
  });
  const { moves, fees, inTransit, ...rest } = moved;
  return { without: course(without), with: { ...course(rest), moves, fees, inTransit } };
}

const movesShown = 20;
const routeNames = { 1000: 'fast', 2000: 'standard', message: 'USDT0' } as const;

function printDryRun(
  { without, with: moved }: DryRunResult,
  {
    symbol,
    from,
    to,
    payments,
  }: { readonly symbol: FloatSymbol; readonly from: Instant; readonly to: Instant; readonly payments: number },
): void {
  print(`${payments} payouts and refunds from ${from} to ${to}. Nothing was ordered.`, '');
  const rows = [...moved.hourly].map(([chainId, hourly]) => [
    chainOf(chainId).name,
    {
      'without the policy': sparkline(without.hourly.get(chainId) ?? [], sparkColumns),
      'hours refused': without.refusedHours.get(chainId) ?? 0,
      'with the policy': sparkline(hourly, sparkColumns),
      'hours refused with it': moved.refusedHours.get(chainId) ?? 0,
    },
  ]);
  printTable(Object.fromEntries(rows));
  print(
    '',
    `Refused without the policy: ${without.refusedPayments} payments of ${usd(without.refusedAmount)} ${symbol}.`,
    `Refused with the policy: ${moved.refusedPayments} payments of ${usd(moved.refusedAmount)} ${symbol}.`,
    `Moves: ${moved.moves.length}, of ${usd(moved.moves.reduce((sum, { amount }) => sum + amount, 0n))} ${symbol}. Fees: ${usd(moved.fees)} ${symbol}, without gas${symbol === 'USDT' ? ' and message fees' : ''}.`,
  );
  const last = moved.moves.slice(-movesShown).map(({ at, from: source, to: target, amount, way, fee }) => ({
    ordered: at,
    from: chainOf(source).name,
    to: chainOf(target).name,
    amount: usd(amount),
    route: routeNames[way],
    fee: usd(fee),
  }));
  if (last.length > 0) {
    print('', `The last ${last.length} moves:`);
    printTable(last);
  }
}

/** @throws InvalidArgumentError with the reason */
function argument<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}

const dollars = (text: string): bigint => argument(() => parseDollars(text));
const limitsOf = (text: string, before: readonly NamedLimits[] = []): readonly NamedLimits[] => [
  ...before,
  argument(() => parseFloatLimits(text, namedChain)),
];

function wholeBetween(least: number, most: number) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`write a whole number from ${least} to ${most}.`);
    return value;
  };
}

/** Adds the options of a dry run. */
export const addDryRun = (command: Command): Command =>
  command
    .option('--dry-run', 'Replay past payments and print the moves that the policy would have made; orders nothing')
    .addOption(
      new Option('--token <symbol>', 'Token of the floats, with --dry-run').choices(floatSymbols).default('USDC'),
    )
    .option('--days <days>', 'Days before now, with --dry-run', wholeBetween(1, daysMax), 90)
    .option('--float <chain:minimum:target:maximum>', 'Limits in dollars with --dry-run; one per chain', limitsOf, [])
    .option('--cap <dollars>', 'Maximum that moves within a day, with --dry-run (default: 50000)', dollars)
    .option('--cooldown <hours>', 'Minimum time between moves to a chain, with --dry-run', wholeBetween(0, 168), 1)
    .option('--smallest <dollars>', 'Smallest move, with --dry-run (default: 100)', dollars);
