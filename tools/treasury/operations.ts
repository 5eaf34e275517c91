/** Operators' treasury operations: ordered, approved, called off, listed. */

import type { Command } from 'commander';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import { microUsdDecimals } from '../../domain/money.ts';
import {
  approveRebalance,
  callOffRebalance,
  type RebalanceState,
  rebalance,
  rebalanceStanding,
} from '../../domain/rebalance/rebalance.ts';
import { operationStatus } from '../../domain/treasury/operation.ts';
import { listOperations } from '../../queries/treasury.ts';
import { createAttestations } from '../../src/chains/attestations.ts';
import type { Core } from '../../src/core.ts';
import { type AskedMove, orderMove } from '../../src/workers/rebalances/order.ts';
import { withdrawals } from '../../src/workers/treasury/index.ts';
import { approve, callOff, operatorName, recordArrival } from '../../src/workers/treasury/operations.ts';
import { type AskedWithdrawal, orderWithdrawal, type WithdrawalOrdered } from '../../src/workers/treasury/withdraw.ts';
import { withCore } from '../connections.ts';
import { json, type ListFormat, print, printList } from '../print.ts';
import { chainIdOf, operator, printOutcome, readReason, refusalError } from '../program.ts';
import { addDryRun, type DryRunOptions, showDryRun } from './dryRun.ts';

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

async function orderBurn(core: Core, asked: AskedMove, how: ListFormat): Promise<void> {
  const { config, handle, clock, chains, receiverChecks } = core;
  const inMicroUsd = (whole: bigint): bigint => whole * 10n ** BigInt(microUsdDecimals);
  const { attestationsUrl: url } = config;
  const deps = {
    ...{ handle, clock, receiverChecks, accountOn: (chainId: ChainId) => chains.get(chainId)?.rail.account },
    attestations: url === null ? null : createAttestations({ url, clock }),
    ...(config.usdt0 && { oftOn: (chainId: ChainId) => chains.get(chainId)?.oftMessages }),
    approval_microUsd: inMicroUsd(config.withdrawals.approval_usd),
    perTransfer_microUsd: inMicroUsd(config.signer.perTransfer_usd),
  };
  const outcome = await orderMove(deps, asked, operator(), AbortSignal.timeout(answer_ms));
  if (isRefusal(outcome)) throw refusalError(outcome);
  const { id, state, isNew } = outcome;
  const standing = rebalanceStanding(state);
  const name = `${rebalancePrefix}${id}`;
  if (how.json) return json({ id: name, isNew, standing, ordered: state.ordered });
  if (!isNew) return print(`An equal move is not done yet: ${name} (${standing}).`);
  print(
    standing === 'waitsForApproval'
      ? `Ordered as ${name}. Another operator has to approve it: npm run treasury -- approve ${name}`
      : `Ordered as ${name}. The service moves it automatically: npm run treasury -- floats`,
  );
}

const rebalancePrefix = 'rebalance-';

async function approveAny(core: Core, id: string): Promise<void> {
  if (!id.startsWith(rebalancePrefix)) return printOutcome(await approve(core, id, operator()));
  const { handle, clock } = core;
  const by = operator();
  const own = id.slice(rebalancePrefix.length);
  const decide = (state: RebalanceState) => approveRebalance(state, operatorName(by), clock.now());
  printOutcome(await handle(rebalance, own, decide, { ...by, appId: null }));
}

async function callOffAny(core: Core, id: string, reason: string): Promise<void> {
  if (!id.startsWith(rebalancePrefix)) return printOutcome(await callOff(core, id, reason, operator()));
  const { handle, clock } = core;
  const by = operator();
  const asked = { reason, by: operatorName(by), now: clock.now() };
  const own = id.slice(rebalancePrefix.length);
  printOutcome(await handle(rebalance, own, (state) => callOffRebalance(state, asked), { ...by, appId: null }));
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
      withCore((core) => order(core, { ...options, chain: chainIdOf(chain), asset, amount }, options)),
    );

  const rebalancing = ordering(program.command('rebalance [chain] [token] [amount] [towards]'))
    .description('Send money through an address of the book to our account on another chain, and wait for its arrival.')
    .option('--via <address>', 'Address of a bridge or an exchange, from the address book of the first chain')
    .option('--burn', 'Move USDC by CCTP, or USDT by USDT0; needs no address')
    .option('--fast', 'With --burn: arrive within a minute, for a fee');
  addDryRun(rebalancing).action(
    (chain: string, asset: string, amount: string, towards: string, options: Ordering & Partial<Dry>) => {
      const { dryRun, via } = options;
      if (dryRun) return withCore((core) => showDryRun(core, options as Dry));
      const missing = Object.entries({ chain, token: asset, amount, towards }).find(([, given]) => given === undefined);
      if (missing) return rebalancing.error(`error: missing required argument '${missing[0]}'`);
      const asked = { ...options, chain: chainIdOf(chain), asset, amount, towards: chainIdOf(towards) };
      if (options.burn) return withCore((core) => orderBurn(core, asked, options));
      if (via === undefined) return rebalancing.error("error: required option '--via <address>' not specified");
      return withCore((core) => order(core, { ...asked, to: via }, options));
    },
  );

  program
    .command('approve <id>')
    .description('Approve an operation or rebalance above TREASURY_APPROVAL_USD that another operator ordered.')
    .action((id: string) => withCore((core) => approveAny(core, id)));

  program
    .command('call-off <id>')
    .description('Cancel an operation or rebalance that has not been signed.')
    .option('--reason <reason>', 'Reason, kept in the log', readReason, unsaid)
    .action((id: string, { reason }: { reason: string }) => withCore((core) => callOffAny(core, id, reason)));

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

/** Options of `rebalance`. */
interface Dry extends DryRunOptions {
  readonly dryRun?: true;
  readonly burn?: true;
  readonly fast?: true;
  readonly via?: string;
}

interface Ordering extends ListFormat {
  readonly memo?: string;
  readonly reason: string;
  readonly evenOwed?: boolean;
  readonly again?: boolean;
}
