/** Operators' treasury operations: ordered, approved, called off, listed. */

import type { Command } from 'commander';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import { operationStatus } from '../../domain/treasury/operation.ts';
import { listOperations } from '../../queries/treasury.ts';
import type { Core } from '../../src/core.ts';
import { withdrawals } from '../../src/workers/treasury/index.ts';
import { approve, callOff, recordArrival } from '../../src/workers/treasury/operations.ts';
import { type AskedWithdrawal, orderWithdrawal, type WithdrawalOrdered } from '../../src/workers/treasury/withdraw.ts';
import { withCore } from '../connections.ts';
import { print, printJson, printTable } from '../print.ts';
import { operator, printOutcome, readReason, refusalError } from '../program.ts';

export interface ListFormat {
  readonly json?: boolean;
}

/** On one line per call; big numbers as digits. */
export const json = (value: unknown): void => printJson(value, null);

/**
 * Prints a list: a plain table for people, JSON for programs.
 * @param empty text for people if there are no entries
 */
export function printList(how: ListFormat, whole: readonly unknown[], lines: object, empty: string): void {
  if (how.json) json(whole);
  else if (whole.length === 0) print(empty);
  else printTable(lines);
}

const answer_ms = 15_000;
/** A search through a history takes time. */
const arrival_ms = 120_000;
const shownMax = 200;
const unsaid = 'not said';

async function order(core: Core, asked: AskedWithdrawal, how: ListFormat): Promise<void> {
  const outcome = await orderWithdrawal(withdrawals(core), asked, operator(), AbortSignal.timeout(answer_ms));
  if (isRefusal(outcome)) throw refusalError(outcome);
  if (how.json) return json({ ...outcome, standing: operationStatus(outcome.operation) });
  print(told(outcome));
}

function told({ id, operation, isNew }: WithdrawalOrdered): string {
  const standing = operationStatus(operation);
  if (!isNew)
    return `The same was ordered at ${operation.ordered.orderedAt}: ${id} (${standing}). --again orders another one.`;
  return standing === 'waitsForApproval'
    ? `Ordered as ${id}. Another operator has to approve it: npm run treasury -- approve ${id}`
    : `Ordered as ${id}. It is sent by itself: npm run treasury -- operations`;
}

async function list({ database }: Core, how: ListFormat): Promise<void> {
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
  printList(how, found, Object.fromEntries(lines), 'No operation was ever ordered.');
}

/** Adds `withdraw`, `rebalance`, `approve`, `call-off` and `operations`. */
export function addOperationVerbs(program: Command): void {
  const ordering = (command: Command) =>
    command
      .option('--memo <memo>', 'Memo of the receiver, as in the address book')
      .option('--reason <reason>', 'Reason, kept in the log', readReason, unsaid)
      .option('--even-owed', 'Use also the money that pending payouts need; they wait until the account is topped up')
      .option('--again', 'Order it although an equal operation was ordered recently')
      .option('--json', 'Print JSON');

  ordering(program.command('withdraw <chain> <token|coin> <amount>'))
    .description('Send treasury money to an address of the address book.')
    .requiredOption('--to <address>', 'Receiver, from the address book')
    .action((chain: string, asset: string, amount: string, options: Ordering & { to: string }) =>
      withCore((core) => order(core, { ...options, chain, asset, amount }, options)),
    );

  ordering(program.command('rebalance <chain> <token> <amount> <towards>'))
    .description('Send money through an address of the book to our account on another chain, and wait for its arrival.')
    .requiredOption('--via <address>', 'Address of a bridge or an exchange, from the address book of the first chain')
    .action((chain: string, asset: string, amount: string, towards: string, options: Ordering & { via: string }) =>
      withCore((core) => order(core, { ...options, to: options.via, chain, asset, amount, towards }, options)),
    );

  program
    .command('approve <id>')
    .description('Approve an operation above TREASURY_APPROVAL_USD that another operator ordered.')
    .action((id: string) => withCore(async (core) => printOutcome(await approve(core, id, operator()))));

  program
    .command('call-off <id>')
    .description('Cancel an operation that has not been signed.')
    .option('--reason <reason>', 'Reason, kept in the log', readReason, unsaid)
    .action((id: string, { reason }: { reason: string }) =>
      withCore(async (core) => printOutcome(await callOff(core, id, reason, operator()))),
    );

  program
    .command('arrived <id> <hash>')
    .description('Name the transaction that brought a rebalance to our account on the other chain.')
    .action((id: string, hash: string) => withCore((core) => arrived(core, id, hash)));

  program
    .command('operations')
    .description('List operations with status and transactions, pending ones first.')
    .option('--json', 'Print JSON')
    .action((how: ListFormat) => withCore((core) => list(core, how)));
}

async function arrived(core: Core, id: string, hash: string): Promise<void> {
  const { handle, clock, chains } = core;
  const deps = { handle, clock, historyOf: (chainId: ChainId) => chains.get(chainId)?.history };
  printOutcome(await recordArrival(deps, { id, hash }, operator(), AbortSignal.timeout(arrival_ms)));
}

interface Ordering extends ListFormat {
  readonly memo?: string;
  readonly reason: string;
  readonly evenOwed?: boolean;
  readonly again?: boolean;
}
