/**
 * `npm run sweep -- <where>`: orders deposits' balances to the treasury. The running service with the keys executes it; after an
 * interruption of this tool it continues.
 */

import { readFileSync } from 'node:fs';
import { SingleBar } from 'cli-progress';
import { Command, InvalidArgumentError, Option } from 'commander';
import { currentState } from '../commands/handle.ts';
import { lookAfter, orderDeployment } from '../commands/sweeps/numbered.ts';
import type { LeftDeposit, SweepPart } from '../commands/sweeps/ports.ts';
import {
  type PlanNews,
  planAll,
  type SweepCoin,
  type SweepDeps,
  type SweepLimits,
  type SweepNews,
  sweepAll,
  sweepCost,
} from '../commands/sweeps/sweep.ts';
import { PayoutBlocked } from '../commands/transferPorts.ts';
import { type Chain, type ChainId, chainOf } from '../domain/chains.ts';
import { isRefusal } from '../domain/decider.ts';
import { coinOf, formatAmount, microUsdDecimals, parseAmount } from '../domain/money.ts';
import type { Deposit } from '../domain/payment/shapes.ts';
import { paymentDecider } from '../domain/payment/state.ts';
import type { Operation, operationStatus } from '../domain/treasury/operation.ts';
import { allFamilies } from '../src/chains/families.ts';
import type { Core } from '../src/core.ts';
import { sweepDepsFor } from '../src/workers/treasury/index.ts';
import { withCore } from './connections.ts';
import { print, printError, printTable } from './print.ts';
import { addExamples, namedChain, operator, runProgram, untilInterrupted } from './program.ts';

interface Line {
  readonly operation: string;
  readonly part: SweepPart;
  outcome: string;
}

/** Deposits excluded for one reason. */
interface LeftSum {
  count: number;
  readonly amounts: Map<string, bigint>;
  readonly first: string;
}

export interface SweepReport {
  tell(news: SweepNews | PlanNews): void;
  /** Prints the summary. */
  end(): void;
}

/** Prints the sweep of one chain: a bar while it runs, then a table of its transactions, and the remaining deposits with reasons. */
export function createSweepReport(chain: Chain, coin: SweepCoin): SweepReport {
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

function rowOf(chain: Chain, coin: SweepCoin, { operation, part, outcome }: Line) {
  const { token, deposits, gas, cost } = part;
  const amount = deposits.reduce((sum, each) => sum + each.amount, 0n);
  return {
    ...(operation && { operation }),
    deposits: deposits.length,
    amount: `${formatAmount(amount, token.decimals)} ${token.symbol}`,
    ...(gas !== null && { gas: String(gas) }),
    'costs at most': `${formatAmount(cost, coin.decimals)} ${coinOf(chain.id).symbol}`,
    USD: formatAmount(sweepCost(part, coin), microUsdDecimals),
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

interface Options {
  readonly dryRun?: boolean;
  readonly min: bigint;
  readonly gasPriceMax?: bigint;
  readonly evenAtALoss?: boolean;
}

interface Chosen {
  readonly chainId: ChainId;
  readonly deps: SweepDeps;
}

/** @param where a chain, a family of chains, or all */
function chosenChains(core: Core, where: string): readonly Chosen[] {
  const served = [...core.chains.keys()];
  const isFamily = allFamilies.some(({ name }) => name === where);
  const chainIds = served.filter(
    (id) => where === 'all' || (isFamily ? chainOf(id).family === where : namedChain(where)?.id === id),
  );
  if (chainIds.length === 0) throw new Error(`${where} is not a configured chain or family of chains`);
  const chosen = chainIds.flatMap((chainId) => {
    const deps = sweepDepsFor(core, chainId, operator().cause);
    return deps ? [{ chainId, deps }] : [];
  });
  if (chosen.length === 0) throw new Error(`${where} needs no sweeps: payments there reach the treasury directly`);
  return chosen;
}

async function run(where: string, options: Options): Promise<void> {
  const interrupted = untilInterrupted('Interrupted: what was ordered is done by the service. Run it again to see.');
  await withCore(async (core) => {
    for (const chosen of chosenChains(core, where)) {
      try {
        await sweepChain(chosen, options, interrupted);
      } catch (error) {
        if (!(error instanceof PayoutBlocked)) throw error;
        printError(error.message);
        process.exitCode = 1;
      }
    }
  });
}

async function sweepChain({ chainId, deps }: Chosen, options: Options, signal: AbortSignal): Promise<void> {
  const { min, gasPriceMax = null, evenAtALoss = false, dryRun = false } = options;
  const limits: SweepLimits = { least_microUsd: min, gasPriceMax, evenAtALoss };
  const report = createSweepReport(chainOf(chainId), deps.coin);
  try {
    if (dryRun) for await (const news of planAll(deps, limits, signal)) report.tell(news);
    else for await (const news of sweepAll(deps, limits, signal)) report.tell(news);
  } finally {
    report.end();
  }
}

interface Recovery {
  readonly token?: string;
  readonly feePayerFile?: string;
}

async function recover(paymentId: string, { token, feePayerFile }: Recovery): Promise<void> {
  const interrupted = untilInterrupted('Interrupted: run the command again. It finds what is not moved yet.');
  await withCore(async (core) => {
    const payment = await currentState(core.handle, paymentDecider, paymentId);
    if (!payment) throw new Error(`no payment has the id ${paymentId}: use the id of the create response`);
    if (token !== undefined) return printRecovery(core, payment.deposits.evm, token);
    if (feePayerFile === undefined)
      throw new Error('Add --token <address> for an EVM deposit, or --fee-payer-file <file> for a Solana deposit');
    return recoverOnSolana(core, payment.deposits.solana, readFileSync(feePayerFile, 'utf8'), interrupted);
  });
}

async function recoverOnSolana(
  core: Core,
  deposit: Deposit | undefined,
  feePayerKey: string,
  signal: AbortSignal,
): Promise<void> {
  if (!deposit?.salt)
    throw new Error('the payment has no deposit on Solana: see "Other tokens" in docs/operate/sweeps.md');
  const [{ deps }] = chosenChains(core, 'solana') as readonly [Chosen, ...Chosen[]];
  const recovered = deps.sweep.recoverTokens?.({ address: deposit.address, salt: deposit.salt }, feePayerKey, signal);
  let count = 0;
  for await (const { token, amount, hash } of recovered ?? []) {
    count += 1;
    print(`${amount} smallest units of ${token} are with the treasury ${deps.sweep.account}, by ${hash}`);
  }
  if (count === 0) print(`Deposit ${deposit.address} holds no token outside the catalogue.`);
}

/** Only prints: any account may flush a deposit, and a flush pays only the treasury. */
function printRecovery(core: Core, evm: Deposit | undefined, token: string): void {
  if (!evm?.salt) throw new Error('the payment has no EVM deposit: see "Other tokens" in docs/operate/sweeps.md');
  const [{ deps }] = chosenChains(core, 'evm') as readonly [Chosen, ...Chosen[]];
  const treasury = deps.sweep.account;
  const call = deps.sweep.recoveryCall?.({ address: evm.address, salt: evm.salt }, token);
  if (!call)
    throw new Error(
      `${token} is not an address, or deposit ${evm.address} belongs to a treasury other than ${treasury}`,
    );
  const { to, data } = call;
  print(`Send this transaction from any account, on the chain where deposit ${evm.address} holds the token:`);
  print(`  to    ${to}`, '  value 0', `  data  ${data}`);
  print(
    `It moves the whole balance to the treasury ${treasury}. The forwarder must exist: npm run sweep -- deploy <chain>`,
  );
}

const look_ms = 1_000;

async function deploy(where: string): Promise<void> {
  const interrupted = untilInterrupted('Interrupted: what was ordered is done by the service. Run it again to see.');
  await withCore(async (core) => {
    const [{ chainId, deps }, ...others] = chosenChains(core, where) as readonly [Chosen, ...Chosen[]];
    if (others.length > 0) throw new Error(`${where} names several chains: name one`);
    const { name } = chainOf(chainId);
    const id = await orderDeployment(deps, deps.sweep, interrupted);
    if (isRefusal(id)) throw new Error(id.message);
    if (id === null) {
      print(`${name}: the forwarder is already deployed.`);
      return;
    }
    print(`${name}: operation ${id} is ordered; the service that has the treasury’s key sends it.`);
    for (;;) {
      const known = await lookAfter(deps, id);
      if (!known || known.over) return tellDeployment(name, known?.operation);
      await core.clock.sleep(look_ms, interrupted);
    }
  });
}

function tellDeployment(name: string, operation: Parameters<typeof operationStatus>[0] | undefined): void {
  const settled = operation?.leg.settled;
  if (!settled)
    throw new Error(
      `${name}: the forwarder was not deployed: ${operation?.calledOff?.reason ?? 'the operation is not in the log'}`,
    );
  print(`${name}: the forwarder was deployed by ${settled.hash}.`);
}

function dollars(text: string): bigint {
  const amount = parseAmount(text, 6);
  if (typeof amount !== 'bigint') throw new InvalidArgumentError('Use dollars, such as 5 or 0.50.');
  return amount;
}

function gwei(text: string): bigint {
  const amount = parseAmount(text, 9);
  if (typeof amount !== 'bigint') throw new InvalidArgumentError('Use gwei, such as 20 or 0.05.');
  return amount;
}

const program = new Command('npm run sweep --').description('Moves money from deposits to the treasury.');

program
  .command('run <where>', { isDefault: true })
  .description(
    'Move the money in deposits of ended payments to the treasury, which pays the fees. <where> is a chain, evm, solana or all.',
  )
  .option('--dry-run', 'Print the sweeps without sending them')
  .addOption(new Option('--min <usd>', 'Minimum amount in a deposit, in dollars').argParser(dollars).default(0n, '0'))
  .option('--gas-price-max <gwei>', 'Maximum gas price; sweeps wait while it is higher', gwei)
  .option('--even-at-a-loss', 'Sweep also deposits that cost more than they hold')
  .action(run);

program
  .command('recover <paymentId>')
  .description(
    'Move tokens outside the catalogue from a deposit to the treasury. EVM: prints a transaction that any account can send. Solana: signs and sends it.',
  )
  .option('--token <address>', 'EVM: address of the token contract')
  .option(
    '--fee-payer-file <file>',
    'Solana: file with the base58 key of an account that pays the fees; not the treasury',
  )
  .action(recover);

program
  .command('deploy <chain>')
  .description('Deploy the forwarder on an EVM chain. Sweeps need it; payments do not.')
  .action(deploy);

addExamples(program, {
  run: '8453 --min 5 --dry-run',
  recover: '9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11 --token 0x108384d66E8790b0e4021407102679E1CeDF7D3b',
  deploy: '8453',
});

await runProgram(() => program.parseAsync());
