/** The address book: allowed receivers of treasury money. */
import type { Command } from 'commander';
import { chainOf } from '../../domain/chains.ts';
import { familyAddresses } from '../../src/chains/families.ts';
import type { Core } from '../../src/core.ts';
import { type AddressDeps, addToBook, loadBook, removeFromBook } from '../../src/workers/treasury/operations.ts';
import { withCore } from '../connections.ts';
import { type ListFormat, printList } from '../print.ts';
import { chainIdOf, operator, printOutcome } from '../program.ts';

async function addresses(core: Core, how: ListFormat): Promise<void> {
  const { entries } = await loadBook(core);
  const now = core.clock.now();
  const lines = entries.map(({ chainId, address, memo, label, usableFrom, by }) => ({
    label,
    chain: chainOf(chainId).name,
    address,
    memo: memo ?? '',
    usable: now >= usableFrom ? 'yes' : `from ${usableFrom}`,
    'added by': by,
  }));
  printList(
    how,
    entries,
    lines,
    'The address book is empty: npm run treasury -- addresses add <chain> <address> --label <name>',
  );
}

const bookOf = ({ handle, clock, config }: Core): AddressDeps => ({
  handle,
  clock,
  addresses: familyAddresses,
  coolDown_hours: config.withdrawals.addressCoolDown_hours,
});

/** Adds `addresses` with `add` and `remove`. */
export function addAddressVerbs(program: Command): void {
  const book = program
    .command('addresses')
    .description('List the address book: the addresses that can receive withdrawals.')
    .option('--json', 'Print JSON')
    .action((how: ListFormat) => withCore((core) => addresses(core, how)));

  book
    .command('add <chain> <address>')
    .description('Add an address. It can be used after TREASURY_ADDRESS_COOLDOWN_HOURS.')
    .requiredOption('--label <name>', 'Label of the address')
    .option('--memo <memo>', 'Memo of the receiver; part of the address')
    .action((chain: string, address: string, options: { label: string; memo?: string }) =>
      withCore(async (core) =>
        printOutcome(await addToBook(bookOf(core), { chain: chainIdOf(chain), address, ...options }, operator())),
      ),
    );

  book
    .command('remove <chain> <address>')
    .description('Remove an address at once. Nothing more is signed for it.')
    .option('--memo <memo>', 'Memo of the receiver, as in the address book')
    .action((chain: string, address: string, options: { memo?: string }) =>
      withCore(async (core) =>
        printOutcome(await removeFromBook(bookOf(core), { chain: chainIdOf(chain), address, ...options }, operator())),
      ),
    );
}
