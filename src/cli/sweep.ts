/** `npm run sweep -- solana`: the operator takes what deposits hold to the treasury. The service may run on. */
import { Command } from 'commander';
import { loadPayment } from '../../commands/settlePayout.ts';
import { formatAmount } from '../../domain/money.ts';
import { terminalStatuses } from '../../domain/payment/status.ts';
import { type EndedDeposit, endedDeposits } from '../../queries/deposits.ts';
import { inParallel } from '../chains/inParallel.ts';
import { solanaChainId, solanaToken } from '../chains/solana/config.ts';
import { createSolanaSweep, type SolanaSweep, type Swept } from '../chains/solana/deposits/sweep.ts';
import { solanaConfig } from '../chains/solana/index.ts';
import { accountsPerCall } from '../chains/solana/reads.ts';
import { readConfig } from '../config.ts';
import { type Core, openCore } from '../roles/core.ts';
import { systemClock } from '../runtime/clock.ts';
import { openSigners } from '../security/signers.ts';
import { loadEnvironment } from './environment.ts';

/** Each waits some seconds until it is final. */
const atOnce = 8;

async function run(): Promise<void> {
  loadEnvironment();
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort(new Error('Interrupted: what was sent lands or not. Run it again.')));
  const core = await openCore(readConfig(process.env), systemClock);
  try {
    const sums = { swept: 0, left: 0, amount: 0n };
    for await (const { address, outcome } of sweepAll(core, openSweep(core), stop.signal)) {
      console.log(`${address}: ${textOf(outcome)}`);
      if (outcome.kind === 'swept') sums.amount += outcome.amount;
      sums[outcome.kind === 'swept' ? 'swept' : 'left'] += 1;
    }
    console.log(`${sums.swept} swept, ${usdc(sums.amount)} in all; ${sums.left} left as they are.`);
  } finally {
    await core.close();
  }
}

function openSweep({ config, clock }: Core): SolanaSweep {
  const setting = config.chains.find(({ chainId }) => chainId === solanaChainId);
  const signer = openSigners(config, clock).get('solana');
  if (!setting || !config.treasuries.solana || !signer)
    throw new Error('sweeping needs RPC_URLS_501, SOLANA_TREASURY_PRIVATE_KEY and SOLANA_DEPOSIT_SEED');
  return createSolanaSweep(solanaConfig(setting, config.treasuries.solana), { signer, clock });
}

interface Outcome {
  readonly address: string;
  readonly outcome: Exclude<Swept, { kind: 'empty' }>;
}

async function* sweepAll(core: Core, solana: SolanaSweep, signal: AbortSignal): AsyncGenerator<Outcome> {
  for (let after = ''; ; ) {
    const page = { statuses: terminalStatuses, after, max: accountsPerCall };
    const deposits = await endedDeposits(core.database, solanaChainId, page);
    const held = new Set(
      await solana.held(
        deposits.map(({ address }) => address),
        signal,
      ),
    );
    const full = deposits.filter(({ address }) => held.has(address));
    const outcomes = await inParallel(full, atOnce, (deposit) => sweepOne(core, solana, deposit, signal));
    for (const { address, outcome } of outcomes) if (outcome.kind !== 'empty') yield { address, outcome };
    after = deposits.at(-1)?.address ?? '';
    if (deposits.length < accountsPerCall) return;
  }
}

/** One that cannot be swept now leaves the others their turn. */
async function sweepOne(
  { handle }: Core,
  solana: SolanaSweep,
  { address, paymentId }: EndedDeposit,
  signal: AbortSignal,
): Promise<{ readonly address: string; readonly outcome: Swept }> {
  try {
    const payment = await loadPayment(handle, paymentId);
    if (!payment) throw new Error(`payment ${paymentId} is not in the log`);
    return { address, outcome: await solana.sweep(payment, signal) };
  } catch (error) {
    signal.throwIfAborted();
    return { address, outcome: { kind: 'left', why: error instanceof Error ? error.message : String(error) } };
  }
}

const usdc = (amount: bigint): string => `${formatAmount(amount, solanaToken().decimals)} ${solanaToken().symbol}`;

const textOf = (outcome: Outcome['outcome']): string =>
  outcome.kind === 'swept' ? `${usdc(outcome.amount)} swept in ${outcome.hash}` : `left as it is: ${outcome.why}`;

const program = new Command('npm run sweep --').description('money in deposits');

program
  .command('solana')
  .description('deposits of payments that are over: their USDC and their rent go to the treasury, which pays the fees')
  .action(run);

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
