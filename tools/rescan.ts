/**
 * `npm run rescan -- <chain> --from <block>`: reads blocks again for an operator, after an alarm about missed ones. The service may keep
 * running.
 */
import { SingleBar } from 'cli-progress';
import { Command, InvalidArgumentError } from 'commander';
import { chainOf } from '../domain/chains.ts';
import { formatAmount } from '../domain/money.ts';
import { lower } from '../src/lib/concurrency.ts';
import { createFailures } from '../src/postgres/failures.ts';
import { createUnreadableNotes } from '../src/postgres/unreadable.ts';
import { payinRange } from '../src/workers/payins/index.ts';
import { type HandledTransfer, newsMax, type Rescanned, rescan } from '../src/workers/payins/range.ts';
import { withCore } from './connections.ts';
import { print, printTable } from './print.ts';
import { namedChain, runProgram, untilInterrupted } from './program.ts';

interface Range {
  readonly from: bigint;
  readonly to?: bigint;
}

function blockNumber(text: string): bigint {
  if (!/^[1-9]\d{0,17}$/.test(text)) throw new InvalidArgumentError('Use the number of a block or ledger.');
  return BigInt(text);
}

async function run(stated: string, range: Range): Promise<void> {
  const interrupted = untilInterrupted('Interrupted: what was found is recorded. Run it again.');
  await withCore(async (core) => {
    const chainId = namedChain(stated)?.id;
    const chain = chainId && core.chains.get(chainId);
    if (!chain) throw new Error(`${stated} is not a configured chain: set RPC_URLS_<chainId>`);
    const failures = createFailures(core.database);
    const deps = payinRange(core, failures, chain.ingester);
    const began = core.clock.now();
    const read = await withProgress(range, (onProgress) => rescan({ ...deps, onProgress }, range, interrupted));
    const reached = [...read.reached.values()].reduce(lower);
    const notes = createUnreadableNotes(core.database, failures, chainId);
    if (read.missed.length === 0) await notes.readAgain({ from: range.from, to: reached }, began);
    tell(chainOf(chainId).name, read);
  });
}

type OnProgress = NonNullable<Parameters<typeof rescan>[0]['onProgress']>;

async function withProgress<T>({ from }: Range, work: (onProgress: OnProgress) => Promise<T>): Promise<T> {
  const bar = new SingleBar({
    format: '{pass} [{bar}] {percentage}% | block {block} of {to}',
    noTTYOutput: true,
    notTTYSchedule: 2_000,
  });
  bar.start(1_000, 0, { pass: 'reading', block: String(from), to: '…' });
  try {
    return await work((pass, block, to) => {
      const done = to < from || block >= to ? 1_000 : Number(((block - from + 1n) * 1_000n) / (to - from + 1n));
      bar.update(done, { pass, block: String(block), to: String(to) });
    });
  } finally {
    bar.stop();
  }
}

function tell(chain: string, { counts, news, missed, reached }: Rescanned): void {
  printTable({
    'already known': { transfers: counts.known },
    'recorded now': { transfers: counts.recorded },
    'unmatched, kept for you to decide (npm run unmatched)': { transfers: counts.unmatched },
    'set aside, its payment could not take it (npm run work)': { transfers: counts.setAside },
  });
  if (news.length > 0) printTable(news.map(line));
  if (news.length === newsMax) print(`Only the first ${newsMax} are listed.`);
  for (const [pass, block] of reached) print(`${chain}: read up to ${block} (${pass}).`);
  for (const { from, to } of missed)
    print(
      `${chain}: ${from} to ${to} were NOT read: no configured node remembers them. Name one that does in RPC_URLS.`,
    );
  if (missed.length > 0) process.exitCode = 2;
}

const line = ({ log, paymentId, outcome }: HandledTransfer) => ({
  block: String(log.blockNumber),
  transaction: log.txHash,
  amount: `${formatAmount(log.amount, log.token.decimals)} ${log.token.symbol}`,
  from: log.from,
  memo: log.memo ?? 'none',
  payment: paymentId ?? 'none',
  outcome,
});

const program = new Command('npm run rescan --')
  .description('Reads blocks again and records missing payins. Known payins and saved cursors stay unchanged.')
  .argument('<chain>', 'Id or name of the chain')
  .requiredOption('--from <block>', 'First block or ledger', blockNumber)
  .option('--to <block>', 'Last block or ledger; default: the newest', blockNumber)
  .action(run);

program.addHelpText('after', '\nExample: npm run rescan -- 8453 --from 21000000 --to 21000500');
await runProgram(() => program.parseAsync());
