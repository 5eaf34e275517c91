/** Tells an operator how a sweep of one chain goes: a bar while it lasts, then a table of its transactions, and what was left and why. */
import { SingleBar } from 'cli-progress';
import type { PlanNews } from '../commands/sweeps/plans.ts';
import type { LeftDeposit, SweepPart } from '../commands/sweeps/ports.ts';
import type { SweepNews } from '../commands/sweeps/sweep.ts';
import { type CoinPrice, costOf } from '../commands/sweeps/worth.ts';
import type { Chain } from '../domain/chains.ts';
import { coinOf } from '../domain/coins.ts';
import { formatAmount, microUsdDecimals } from '../domain/money.ts';
import type { Operation } from '../domain/treasury/operation.ts';
import { print, printTable } from './print.ts';

interface Line {
  readonly operation: string;
  readonly part: SweepPart;
  outcome: string;
}

/** What was left for one reason. */
interface LeftSum {
  count: number;
  readonly amounts: Map<string, bigint>;
  readonly first: string;
}

export interface SweepReport {
  tell(news: SweepNews | PlanNews): void;
  /** Prints what was told. */
  end(): void;
}

export function createSweepReport(chain: Chain, coin: CoinPrice): SweepReport {
  const lines: Line[] = [];
  const left = new Map<string, LeftSum>();
  const bar = new SingleBar({
    format: `${chain.name} [{bar}] {value} of {total} deposits taken | {looked} looked at`,
    noTTYOutput: true,
    notTTYSchedule: 2_000,
  });
  let [ordered, ended, looked] = [0, 0, 0];
  let elsewhere = false;
  bar.start(1, 0, { looked });

  function leave({ token, amount, address, why }: LeftDeposit): void {
    const sum = left.get(why) ?? { count: 0, amounts: new Map<string, bigint>(), first: address };
    sum.count += 1;
    sum.amounts.set(token.symbol, (sum.amounts.get(token.symbol) ?? 0n) + amount);
    left.set(why, sum);
  }

  function add(operation: string, part: SweepPart, outcome: string): void {
    lines.push({ operation, part, outcome });
    ordered += part.deposits.length;
  }

  function finish(id: string, operation: Operation): void {
    const line = lines.find((each) => each.operation === id);
    const outcome = operation.leg.settled?.hash ?? `not done: ${operation.calledOff?.reason ?? 'it fell short'}`;
    if (line) {
      line.outcome = outcome;
      ended += line.part.deposits.length;
    } else print('', `${chain.name}: ${id}, ordered before: ${outcome}`);
  }

  return {
    tell(news) {
      if (news.kind === 'looked') looked = news.deposits;
      else if (news.kind === 'left') leave(news.deposit);
      else if (news.kind === 'planned') for (const part of news.parts) add('', part, 'not ordered: --dry-run');
      else if (news.kind === 'ordered') add(news.id, news.part, 'under way');
      else if (news.kind === 'ended') finish(news.id, news.operation);
      else elsewhere = true;
      bar.setTotal(Math.max(ordered, 1));
      bar.update(ended, { looked });
    },

    end() {
      bar.stop();
      if (lines.length > 0) printTable(lines.map((line) => rowOf(chain, coin, line)));
      if (left.size > 0) printTable(Object.fromEntries([...left].map(([why, sum]) => [why, leftRow(chain, sum)])));
      if (lines.length + left.size === 0)
        print(`${chain.name}: ${looked} deposits were looked at, none holds anything.`);
      if (elsewhere) print(`${chain.name}: somebody else sweeps it at this moment. Run it again later.`);
    },
  };
}

function rowOf(chain: Chain, coin: CoinPrice, { operation, part, outcome }: Line) {
  const { token, deposits, gas, cost } = part;
  const amount = deposits.reduce((sum, each) => sum + each.amount, 0n);
  return {
    ...(operation && { operation }),
    deposits: deposits.length,
    amount: `${formatAmount(amount, token.decimals)} ${token.symbol}`,
    ...(gas !== null && { gas: String(gas) }),
    'costs at most': `${formatAmount(cost, coin.decimals)} ${coinOf(chain.id).symbol}`,
    USD: formatAmount(costOf(part, coin), microUsdDecimals),
    transaction: outcome,
  };
}

function leftRow({ tokens }: Chain, { count, amounts, first }: LeftSum) {
  const sums = tokens.flatMap(({ symbol, decimals }) => {
    const sum = amounts.get(symbol);
    return sum === undefined ? [] : [`${formatAmount(sum, decimals)} ${symbol}`];
  });
  return { 'left as they are': count, amount: sums.join(', '), 'the first': first };
}
