/** `npm run unmatched -- …`: unmatched money: assigned to a payment, or refunded. */
import { Command } from 'commander';
import { matchUnmatched, refundUnmatched } from '../commands/matchUnmatched.ts';
import { unreadableTransactions, unreadBlocks } from '../queries/operations.ts';
import { listUnmatched } from '../queries/payins.ts';
import { familyAddresses } from '../src/chains/families.ts';
import type { Core } from '../src/core.ts';
import { createFailures } from '../src/postgres/failures.ts';
import { payoutCostsOf } from '../src/workers/refunds/index.ts';
import { withCore } from './connections.ts';
import { print, printTable } from './print.ts';
import { addExamples, operator, printOutcome, readReason, runProgram } from './program.ts';

const shownMax = 200;
/** More than all chains together record. */
const unreadableMost = 10_000;

async function show({ database }: Core): Promise<void> {
  const unread = await unreadableTransactions(database, unreadableMost);
  if (unread.length > 0)
    print(`${unread.length} transactions may have paid us and cannot be read: npm run unmatched -- unreadable`);
  const found = await listUnmatched(database, shownMax);
  if (found.length === 0) return print('No money came that no payment takes up.');
  const lines = found.map(({ id, at, amount, tokenSymbol, from, memo, beyond, ...decided }) => [
    id,
    {
      at,
      amount: `${amount} ${tokenSymbol}`,
      from,
      memo: memo ?? 'none',
      'one too many of': beyond ?? '',
      verdict: verdictOf(decided),
    },
  ]);
  printTable(Object.fromEntries(lines));
}

async function showUnreadable({ database }: Core): Promise<void> {
  const [found, blocks] = [await unreadableTransactions(database, shownMax), await unreadBlocks(database)];
  if (found.length + blocks.length === 0) return print('Every transaction can be read.');
  for (const { worker, txHash, block, seenAt, nextAttempt, attempts, addresses, evidence, lastError } of found) {
    print(`${txHash} (${worker}), block ${block}, seen ${seenAt}`);
    print(`  may have paid: ${addresses.join(', ') || 'nothing tells whom'}`);
    print(`  tried ${attempts} times; ${nextAttempt === null ? 'waits for you' : `next at ${nextAttempt}`}`);
    for (const shown of evidence.split('\n')) print(`  the node showed: ${shown}`);
    if (lastError !== evidence) print(`  last error: ${lastError}`);
  }
  for (const { chainId, from, to, transactions } of blocks)
    print(`${transactions} more: npm run rescan -- ${chainId} --from ${from} --to ${to}`);
}

/** After an upgrade, or with another node, all at once. */
async function retryUnreadable({ database, clock }: Core): Promise<void> {
  const failures = createFailures(database);
  const found = await unreadableTransactions(database, unreadableMost);
  for (const { worker, txHash } of found) await failures.unpark(worker, txHash, clock.now());
  print(`${found.length} are due again.`);
}

type Decided = Pick<
  Awaited<ReturnType<typeof listUnmatched>>[number],
  | 'verdict'
  | 'paymentId'
  | 'refundAddress'
  | 'refundMemo'
  | 'refundReason'
  | 'refundAmount'
  | 'refundStanding'
  | 'refundTxHash'
>;

function verdictOf({ verdict, paymentId, ...refund }: Decided): string {
  if (verdict === 'open') return 'open';
  if (verdict === 'assigned') return `payment ${paymentId}`;
  const { refundAddress, refundMemo, refundReason, refundAmount, refundStanding, refundTxHash } = refund;
  const memo = refundMemo === null ? '' : ` with memo ${refundMemo}`;
  const standing = refundAmount === null ? 'sent by hand' : `${refundStanding} ${refundTxHash ?? ''}`.trim();
  return `refund of ${refundAmount ?? 'it'} to ${refundAddress}${memo} (${standing}): ${refundReason}`;
}

const refundingDeps = (core: Core) => ({
  ...core,
  addresses: familyAddresses,
  canReceive: core.receiverChecks,
  payoutCostOf: payoutCostsOf(core),
});

const program = new Command('npm run unmatched --').description(
  'Lists, assigns and refunds money that belongs to no payment.',
);

program
  .command('list', { isDefault: true })
  .description('List unmatched funds, undecided ones first.')
  .action(() => withCore(show));

program
  .command('unreadable')
  .description('List unreadable transactions that may have paid us, with the answers of the nodes.')
  .option('--retry', 'Read all of them again now, after an upgrade or with another node')
  .action(({ retry }: { retry?: true }) => withCore(retry ? retryUnreadable : showUnreadable));

program
  .command('match <id>')
  .description('Assign the money to a payment. It counts, or is held if it is late or too much.')
  .requiredOption('--payment <paymentId>', 'Payment that the money was meant for')
  .action((id: string, { payment }: { payment: string }) =>
    withCore(async (core) => printOutcome(await matchUnmatched(core, id, payment, operator()))),
  );

program
  .command('refund <id>')
  .description('Refund the money, less the network cost.')
  .requiredOption('--reason <reason>', 'Reason, kept in the log', readReason)
  .option('--to <address>', 'Receiver; default: the sender, which can be an exchange')
  .option('--memo <memo>', 'Memo of the receiver')
  .action((id: string, refund: { reason: string; to?: string; memo?: string }) =>
    withCore(async (core) => printOutcome(await refundUnmatched(refundingDeps(core), id, refund, operator()))),
  );

addExamples(program, {
  list: '',
  unreadable: '--retry',
  match: 'ID --payment 9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11',
  refund: 'ID --reason "paid without a memo"',
});

await runProgram(() => program.parseAsync());
