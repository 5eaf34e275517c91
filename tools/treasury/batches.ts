/** Batches of payouts: their contract, its allowance, and the fate of batches. */
import type { Command } from 'commander';
import { currentState } from '../../commands/handle.ts';
import { lookAfter } from '../../commands/sweeps/numbered.ts';
import { batchStandingOf, joinedMembers, payoutBatch } from '../../domain/batch/batch.ts';
import { chainOf } from '../../domain/chains.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { formatAmount } from '../../domain/money.ts';
import { listBatches } from '../../queries/transfers.ts';
import type { Core } from '../../src/core.ts';
import {
  buryBatch,
  type ContractDeps,
  orderAllowance,
  orderBurnAllowance,
  orderPayMany,
} from '../../src/workers/payouts/byHand.ts';
import { withCore } from '../connections.ts';
import { type ListFormat, print, printList } from '../print.ts';
import { namedChain, operator, printOutcome, readReason, refusalError, untilInterrupted } from '../program.ts';

const shownMax = 100;
const look_ms = 1_000;
const answer_ms = 30_000;

async function list({ database, workHandle }: Core, how: ListFormat): Promise<void> {
  const ids = await listBatches(database, shownMax);
  const found = await Promise.all(
    ids.map(async (id) => ({ id, batch: await currentState(workHandle, payoutBatch, id) })),
  );
  const batches = found.flatMap(({ id, batch }) => {
    if (!batch) return [];
    const { leg, opened } = batch;
    const { token, amount } = leg.order;
    const told = {
      chain: chainOf(opened.chainId).name,
      standing: batchStandingOf(batch),
      payouts: joinedMembers(batch).length || opened.members.length,
      amount: `${formatAmount(amount, token.decimals)} ${token.symbol}`,
      opened: opened.openedAt,
      transaction: leg.settled?.hash ?? leg.short?.hash ?? leg.attempts.at(-1)?.signed.hash ?? '',
      why: batch.dissolved ?? '',
      payments: joinedMembers(batch)
        .map(({ paymentId }) => paymentId)
        .join(' '),
    };
    return [{ id, ...told }];
  });
  const lines = Object.fromEntries(batches.map(({ id, ...told }) => [id, told]));
  printList(how, batches, lines, 'No payouts were ever put together.');
}

const namedRail = (chains: Core['chains'], where: string): ContractDeps['rail'] | undefined => {
  const chain = namedChain(where);
  return chain && chains.get(chain.id)?.rail;
};

/** Orders it and waits for its end; the service with the key executes it. */
async function ordered(where: string, order: (deps: ContractDeps) => Promise<string | Refusal>): Promise<void> {
  const interrupted = untilInterrupted('Interrupted: what was ordered is done by the service. Run it again to see.');
  await withCore(async ({ chains, workHandle: handle, clock }) => {
    const rail = namedRail(chains, where);
    if (!rail) throw new Error(`${where} is not a configured chain: set RPC_URLS_<chainId>`);
    const deps = { handle, clock, by: operator().cause, rail };
    const id = await order(deps);
    if (isRefusal(id)) throw refusalError(id);
    print(`Ordered as ${id}; the service that has the treasury’s key sends it.`);
    for (;;) {
      const known = await lookAfter(deps, id);
      const settled = known?.operation.leg.settled;
      if (settled) return print(`Done by ${settled.hash}.`);
      if (!known || known.over)
        throw new Error(
          `the operation was not executed: ${known?.operation.calledOff?.reason ?? 'it is not in the log'}`,
        );
      await clock.sleep(look_ms, interrupted);
    }
  });
}

async function bury({ chains, workHandle: handle, clock }: Core, id: string, reason: string): Promise<void> {
  const batch = await currentState(handle, payoutBatch, id);
  if (!batch) throw new Error(`no batch has the id ${id}: list them with npm run treasury -- batches`);
  const chain = chains.get(batch.opened.chainId);
  if (!chain) throw new Error(`${chainOf(batch.opened.chainId).name} is not configured here`);
  const deps = { handle, clock, rail: chain.rail };
  printOutcome(await buryBatch(deps, { id, reason }, operator(), AbortSignal.timeout(answer_ms)));
}

/** Adds `allow-burns`. */
export function addAllowBurnsVerb(program: Command): void {
  program
    .command('allow-burns <chain> <amount>')
    .description(
      'Let the contract of CCTP burn this much USDC of the treasury, or that of USDT0 on Ethereum lock this much USDT. Replaces the allowance.',
    )
    .option('--token <symbol>', 'USDC or USDT', 'USDC')
    .action((where: string, amount: string, { token }: { token: string }) =>
      ordered(where, (deps) => orderBurnAllowance(deps, { amount, asset: token })),
    );
}

/** Adds `batches`, with `list`, `deploy`, `allow` and `bury`. */
export function addBatchVerbs(program: Command): void {
  const batches = program.command('batches').description('Manages batches of payouts (PAYOUT_BATCH_<chainId>).');
  batches
    .command('list', { isDefault: true })
    .description('List the latest batches and their results.')
    .option('--json', 'Print JSON')
    .action((how: ListFormat) => withCore((core) => list(core, how)));
  batches
    .command('deploy <chain>')
    .description('Deploy the batch contract on an EVM chain.')
    .action((where: string) => ordered(where, orderPayMany));
  batches
    .command('allow <chain> <token> <amount>')
    .description('Set the amount of a token that the contract can spend for the treasury. 0 revokes it.')
    .action((where: string, token: string, amount: string) =>
      ordered(where, (deps) => orderAllowance(deps, { token, amount })),
    );
  batches
    .command('bury <batch>')
    .description(
      'Mark a stuck batch as dead, so that each of its payouts is signed alone. Check several explorers first.',
    )
    .requiredOption('--reason <reason>', 'Reason, kept in the log', readReason)
    .action((id: string, { reason }: { reason: string }) => withCore((core) => bury(core, id, reason)));
}
