/** What operators have done with the treasury's money: ordered, approved, called off, listed. */

import type { Command } from 'commander';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import { standingOf } from '../../domain/treasury/operation.ts';
import { listOperations } from '../../queries/treasury.ts';
import type { Core } from '../../src/core.ts';
import { withdrawals } from '../../src/workers/treasury/index.ts';
import { approve, callOff, recordArrival } from '../../src/workers/treasury/operations.ts';
import { type AskedWithdrawal, type Ordered, withdraw } from '../../src/workers/treasury/withdraw.ts';
import { withCore } from '../connections.ts';
import { print } from '../print.ts';
import { operator, reasonOf, refusalError, tell } from '../program.ts';
import { addDryRun, type DryRunOptions, showDryRun } from './dryRun.ts';
import { json, type Shown, show } from './show.ts';

const answer_ms = 15_000;
/** A history is looked through. */
const arrival_ms = 120_000;
const shownMax = 200;
const unsaid = 'not said';

async function order(core: Core, asked: AskedWithdrawal, how: Shown): Promise<void> {
  const outcome = await withdraw(withdrawals(core), asked, operator(), AbortSignal.timeout(answer_ms));
  if (isRefusal(outcome)) throw refusalError(outcome);
  if (how.json) return json({ ...outcome, standing: standingOf(outcome.operation) });
  print(told(outcome));
}

function told({ id, operation, isNew }: Ordered): string {
  const standing = standingOf(operation);
  if (!isNew)
    return `The same was ordered at ${operation.ordered.orderedAt}: ${id} (${standing}). --again orders another one.`;
  return standing === 'waitsForApproval'
    ? `Ordered as ${id}. Another operator has to approve it: npm run treasury -- approve ${id}`
    : `Ordered as ${id}. It is sent by itself: npm run treasury -- operations`;
}

async function list({ database }: Core, how: Shown): Promise<void> {
  const found = await listOperations(database, shownMax);
  const lines = found.map(({ id, chainId, amount, tokenSymbol, ...rest }) => [
    id,
    {
      kind: rest.kind,
      chain: chainOf(chainId).name,
      amount: `${amount} ${tokenSymbol}`,
      to: rest.receiverMemo === null ? rest.receiver : `${rest.receiver} memo ${rest.receiverMemo}`,
      standing: rest.standing,
      ordered: `${rest.orderedAt} by ${rest.orderedBy}`,
      approved: rest.approvedBy ?? '',
      transaction: rest.txHash ?? '',
      arrived:
        rest.arrivedTxHash ?? (rest.expectsChainId === null ? '' : `awaited on ${chainOf(rest.expectsChainId).name}`),
      reason: rest.reason,
    },
  ]);
  show(how, found, Object.fromEntries(lines), 'No operation was ever ordered.');
}

/** Adds `withdraw`, `rebalance`, `approve`, `call-off` and `operations`. */
export function addOperationVerbs(program: Command): void {
  const ordering = (command: Command) =>
    command
      .option('--memo <memo>', 'memo of the receiver, where the address book has one')
      .option('--reason <reason>', 'why, for whoever asks later', reasonOf, unsaid)
      .option('--even-owed', 'take what payouts are owed as well: they wait until it is topped up')
      .option('--again', 'order it though the same was ordered lately')
      .option('--json', 'for machines');

  ordering(program.command('withdraw <chain> <token|coin> <amount>'))
    .description('Send treasury money to an address of the address book.')
    .requiredOption('--to <address>', 'whom it goes to')
    .action((chain: string, asset: string, amount: string, options: Ordering & { to: string }) =>
      withCore((core) => order(core, { ...options, chain, asset, amount }, options)),
    );

  const rebalancing = ordering(program.command('rebalance [chain] [token] [amount] [towards]'))
    .description('Send money through an address of the book to our account on another chain, and wait for its arrival.')
    .option('--via <address>', 'of a bridge or an exchange, in the book of the first chain');
  addDryRun(rebalancing).action(
    (chain: string, asset: string, amount: string, towards: string, options: Ordering & Partial<Dry>) => {
      const { dryRun, via } = options;
      if (dryRun) return withCore((core) => showDryRun(core, options as Dry));
      const missing = Object.entries({ chain, token: asset, amount, towards }).find(([, given]) => given === undefined);
      if (missing) return rebalancing.error(`error: missing required argument '${missing[0]}'`);
      if (via === undefined) return rebalancing.error("error: required option '--via <address>' not specified");
      return withCore((core) => order(core, { ...options, to: via, chain, asset, amount, towards }, options));
    },
  );

  program
    .command('approve <id>')
    .description('Approve an operation above TREASURY_APPROVAL_USD that another operator ordered.')
    .action((id: string) => withCore(async (core) => tell(await approve(core, id, operator()))));

  program
    .command('call-off <id>')
    .description('Cancel an operation that has not been signed.')
    .option('--reason <reason>', 'why, for whoever asks later', reasonOf, unsaid)
    .action((id: string, { reason }: { reason: string }) =>
      withCore(async (core) => tell(await callOff(core, id, reason, operator()))),
    );

  program
    .command('arrived <id> <hash>')
    .description('Name the transaction that brought a rebalance to our account on the other chain.')
    .action((id: string, hash: string) => withCore((core) => arrived(core, id, hash)));

  program
    .command('operations')
    .description('List operations with status and transactions, pending ones first.')
    .option('--json', 'for machines')
    .action((how: Shown) => withCore((core) => list(core, how)));
}

async function arrived(core: Core, id: string, hash: string): Promise<void> {
  const { handle, clock, chains } = core;
  const deps = { handle, clock, historyOf: (chainId: ChainId) => chains.get(chainId)?.history };
  tell(await recordArrival(deps, { id, hash }, operator(), AbortSignal.timeout(arrival_ms)));
}

/** Of `rebalance`. */
interface Dry extends DryRunOptions {
  readonly dryRun?: true;
  readonly via?: string;
}

interface Ordering extends Shown {
  readonly memo?: string;
  readonly reason: string;
  readonly evenOwed?: boolean;
  readonly again?: boolean;
}
