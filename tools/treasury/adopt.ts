/** Transactions of the treasury that the log does not know: listed with their effects, and recorded with a reason. */
import type { Command } from 'commander';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import { coinAddress, formatAmount } from '../../domain/money.ts';
import type { Core } from '../../src/core.ts';
import { transferOwners } from '../../src/workers/payouts/index.ts';
import {
  type Adopting,
  adopt,
  changedAsset,
  describe,
  type AdoptableTransaction as Known,
  paidBy,
} from '../../src/workers/treasury/adopt.ts';
import { owedOn, unknownTransactionsOn } from '../../src/workers/treasury/index.ts';
import { type UnknownTransaction, unknownTransactions } from '../../src/workers/treasury/unknownTransactions.ts';
import { withCore } from '../connections.ts';
import { type ListFormat, print, printError, printList } from '../print.ts';
import { namedChain, operator, readReason, refusalError } from '../program.ts';

/** Nodes are queried about each of many transactions. */
const answer_ms = 120_000;

interface Options extends ListFormat {
  readonly record?: string;
  readonly reason?: string;
  readonly notAPayout?: boolean;
}

async function run(core: Core, stated: string, options: Options): Promise<void> {
  const chainId = namedChain(stated)?.id;
  if (chainId === undefined || !core.chains.has(chainId))
    throw new Error(`${stated} is not a configured chain: set RPC_URLS_<chainId>`);
  const { record, reason } = options;
  if (record !== undefined && reason === undefined)
    throw new Error('--record needs --reason: state the purpose of the transaction');
  const signal = AbortSignal.timeout(answer_ms);
  const deps = unknownTransactionsOn(
    core,
    chainId,
    transferOwners({ ...core, owed: owedOn(core.database), own: null, uses: null }),
  );
  const { found, unseenBefore } = await unknownTransactions(deps, signal);
  if (unseenBefore !== null)
    printError(
      `No node of ${chainOf(chainId).name} has transactions from before ${unseenBefore}, so only later ones are listed. To list more, name a node with a longer history.`,
    );
  if (record === undefined || reason === undefined) return list(deps, found, options);
  for (const each of chosen(found, record)) {
    const outcome = await adopt(deps, each, adopting(reason, options), operator(), signal);
    if (isRefusal(outcome)) throw refusalError(outcome);
    print(`${each.transaction.txHash}: ${outcome ? 'recorded' : 'already recorded'}.`);
  }
  const left = found.filter(({ transaction }) => transaction === null).length;
  if (left > 0)
    print(`${left} used a nonce, and no node returns them. List them with npm run treasury -- adopt ${stated}.`);
}

const adopting = (reason: string, { notAPayout = false }: Options): Adopting => ({ reason, notAPayout });

function chosen(found: readonly UnknownTransaction[], record: string): readonly Known[] {
  const known = found.filter((each): each is Known => each.transaction !== null);
  const picked = record === 'all' ? known : known.filter(({ transaction }) => transaction.txHash === record);
  if (picked.length > 0) return picked;
  throw new Error(
    record === 'all'
      ? 'There is nothing to record: the log knows every transaction.'
      : `${record} is not missing from the log: it may already be recorded`,
  );
}

async function list(
  deps: ReturnType<typeof unknownTransactionsOn>,
  found: readonly UnknownTransaction[],
  how: Options,
): Promise<void> {
  const { chainId } = deps.rail;
  const whole = await Promise.all(
    found.map(async (each) => {
      const paid = each.transaction ? await paidBy(deps, each.transaction) : [];
      return { ...each, seemsToHavePaid: paid.map(({ purpose }) => purpose.reference) };
    }),
  );
  const lines = whole.map((each) => lineOf(chainId, each));
  printList(how, whole, lines, `The log knows every transaction of the treasury on ${chainOf(chainId).name}.`);
}

interface Listed extends UnknownTransaction {
  readonly seemsToHavePaid: readonly string[];
}

function lineOf(chainId: ChainId, { account, nonce, transaction, seemsToHavePaid }: Listed) {
  const numbered = { account, nonce: nonce?.toString() ?? '' };
  if (!transaction)
    return { ...numbered, did: 'no node returns it: name an archive node, or run npm run treasury -- explain' };
  const coin = changedAsset(chainId, coinAddress);
  return {
    ...numbered,
    did: describe(chainId, transaction),
    fee: coin ? `${formatAmount(transaction.fee, coin.decimals)} ${coin.symbol}` : '',
    block: `${transaction.blockNumber} at ${transaction.time}`,
    transaction: transaction.txHash,
    ...(seemsToHavePaid.length > 0 && { 'SEEMS TO HAVE PAID': seemsToHavePaid.join(', ') }),
  };
}

/** Adds `adopt`. */
export function addAdoptVerb(program: Command): void {
  program
    .command('adopt <chain>')
    .description(
      'List treasury transactions missing from the log. --record acknowledges them so the account can continue.',
    )
    .option('--record <hash|all>', 'Record this transaction, or all of them')
    .option('--reason <reason>', 'Purpose of the transaction, kept in the log', readReason)
    .option('--not-a-payout', 'The transaction paid for something else: a payout that it resembles is still due')
    .option('--json', 'Print JSON')
    .action((chain: string, options: Options) => withCore((core) => run(core, chain, options)));
}
