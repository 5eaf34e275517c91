/** `npm run sweep -- <family>`: the operator takes what deposits hold to the treasury. The service may run on. */
import { Command } from 'commander';
import { currentState } from '../../commands/handle.ts';
import { chainOf, type Token } from '../../domain/chains.ts';
import { formatAmount } from '../../domain/money.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { terminalStatuses } from '../../domain/payment/view.ts';
import { type EndedDeposit, endedDeposits } from '../../queries/deposits.ts';
import { allFamilies } from '../chains/families.ts';
import type { DepositSweep, Family, Swept } from '../chains/family.ts';
import { inParallel } from '../chains/inParallel.ts';
import { openSigners } from '../chains/open.ts';
import type { ChainSettings } from '../chains/settings.ts';
import type { Core } from '../roles/core.ts';
import { withCore } from './core.ts';
import { runProgram, untilInterrupted } from './program.ts';

/** Each waits some seconds until it is final. */
const atOnce = 8;

async function run(family: Family): Promise<void> {
  const interrupted = untilInterrupted('Interrupted: what was sent lands or not. Run it again.');
  await withCore(async (core) => {
    for (const { setting, sweep } of openSweeps(core, family)) await sweepChain(core, setting, sweep, interrupted);
  });
}

interface OpenSweep {
  readonly setting: ChainSettings;
  readonly sweep: DepositSweep;
}

function openSweeps({ config, clock }: Core, family: Family): readonly OpenSweep[] {
  const settings = config.chains.filter(({ chainId }) => chainOf(chainId).family === family.name);
  const treasury = config.treasuries[family.name];
  const signer = openSigners(config, clock).get(family.name);
  const open = settings.flatMap((setting) => {
    const sweep = treasury && signer && family.openSweep?.(setting, treasury, { signer, clock });
    return sweep ? [{ setting, sweep }] : [];
  });
  if (open.length > 0) return open;
  throw new Error(`sweeping ${family.name} needs its RPC_URLS_<chainId> and the keys of its treasury and deposits`);
}

async function sweepChain(
  core: Core,
  { chainId }: ChainSettings,
  sweep: DepositSweep,
  signal: AbortSignal,
): Promise<void> {
  const counts = { swept: 0, left: 0 };
  const sums = new Map(chainOf(chainId).tokens.map((token) => [token, 0n]));
  for await (const { address, outcome } of sweepAll(core, chainId, sweep, signal)) {
    console.log(`${address}: ${textOf(outcome)}`);
    if (outcome.kind === 'swept') sums.set(outcome.token, (sums.get(outcome.token) ?? 0n) + outcome.amount);
    counts[outcome.kind] += 1;
  }
  const amounts = [...sums].map(([token, amount]) => amountOf(amount, token)).join(', ');
  console.log(`${counts.swept} swept, ${amounts} in all; ${counts.left} left as they are.`);
}

interface Outcome {
  readonly address: string;
  readonly outcome: Swept;
}

async function* sweepAll(
  core: Core,
  chainId: ChainSettings['chainId'],
  sweep: DepositSweep,
  signal: AbortSignal,
): AsyncGenerator<Outcome> {
  for (let after = ''; ; ) {
    const page = { statuses: terminalStatuses, after, max: sweep.heldMax };
    const deposits = await endedDeposits(core.database, chainId, page);
    const held = new Set(
      await sweep.held(
        deposits.map(({ address }) => address),
        signal,
      ),
    );
    const full = deposits.filter(({ address }) => held.has(address));
    const outcomes = await inParallel(full, atOnce, (deposit) => sweepOne(core, sweep, deposit, signal));
    yield* outcomes.flat();
    after = deposits.at(-1)?.address ?? '';
    if (deposits.length < sweep.heldMax) return;
  }
}

/** One that cannot be swept now leaves the others their turn. */
async function sweepOne(
  { handle }: Core,
  sweep: DepositSweep,
  { address, paymentId }: EndedDeposit,
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  try {
    const payment = await currentState(handle, paymentDecider, paymentId);
    if (!payment) throw new Error(`payment ${paymentId} is not in the log`);
    const outcomes = await sweep.sweep(payment, signal);
    return outcomes.map((outcome) => ({ address, outcome }));
  } catch (error) {
    signal.throwIfAborted();
    return [{ address, outcome: { kind: 'left', why: error instanceof Error ? error.message : String(error) } }];
  }
}

const amountOf = (amount: bigint, { decimals, symbol }: Token): string => `${formatAmount(amount, decimals)} ${symbol}`;

const textOf = (outcome: Swept): string =>
  outcome.kind === 'swept'
    ? `${amountOf(outcome.amount, outcome.token)} swept in ${outcome.hash}`
    : `left as it is: ${outcome.why}`;

const program = new Command('npm run sweep --').description('money in deposits');

for (const family of allFamilies.filter(({ openSweep }) => openSweep !== undefined)) {
  program
    .command(family.name)
    .description('deposits of payments that are over: what they hold goes to the treasury, which pays the fees')
    .action(() => run(family));
}

await runProgram(() => program.parseAsync());
