/** `npm run treasury -- floats`: each chain's float for payouts, and how long it lasts. */
import type { Command } from 'commander';
import { currentState } from '../../commands/handle.ts';
import { isCctpChain } from '../../domain/rebalance/cctp.ts';
import { sparkline } from '../../domain/rebalance/dryRun.ts';
import { sparkColumns, usd } from '../../domain/rebalance/floatUnits.ts';
import { rebalance } from '../../domain/rebalance/rebalance.ts';
import { readFloatTable } from '../../queries/floatTable.ts';
import type { Core } from '../../src/core.ts';
import { withCore } from '../connections.ts';
import { type ListFormat, printList } from '../print.ts';

async function listFloats({ database, handle, clock }: Core, how: ListFormat): Promise<void> {
  const rebalanceOf = (id: string) => currentState(handle, rebalance, id);
  const { lines } = await readFloatTable({ sql: database, rebalanceOf, clock });
  const rows = lines.map(({ chain, hourly, lastsFor_hours, expectedAt, ...line }) => [
    chain,
    {
      held: usd(line.held),
      reserved: usd(line.reserved),
      'in transit':
        line.inTransit === 0n ? '' : `${usd(line.inTransit)}${expectedAt === null ? '' : ` by ${expectedAt}`}`,
      'out 24 h': usd(line.outflow_day),
      'out 7 d': usd(line.outflow_week),
      lasts: lastsFor_hours === null ? '' : `${lastsFor_hours} h`,
      route: isCctpChain(line.chainId) ? 'CCTP' : 'by hand',
      '7 days': sparkline(hourly, sparkColumns),
    },
  ]);
  printList(
    how,
    lines,
    Object.fromEntries(rows),
    'No account of the treasury has open books: npm run treasury -- books.',
  );
}

/** Adds `floats`. */
export function addFloatVerbs(program: Command): void {
  program
    .command('floats')
    .description('List what each chain holds for payouts, what is reserved and in transit, and how long it lasts.')
    .option('--json', 'Print JSON')
    .action((how: ListFormat) => withCore((core) => listFloats(core, how)));
}
