/** `npm run treasury -- …`: the treasury's accounts, their operations, and transactions that the log does not know. */
import { Command } from 'commander';
import { runProgram } from './program.ts';
import { addAccountVerbs } from './treasury/accounts.ts';
import { addAddressVerbs } from './treasury/addresses.ts';
import { addAdoptVerb } from './treasury/adopt.ts';
import { addBatchVerbs } from './treasury/batches.ts';
import { addBooksVerbs } from './treasury/books.ts';
import { addOperationVerbs } from './treasury/operations.ts';

const program = new Command('npm run treasury --').description('Manages the treasury account on each chain.');

addAccountVerbs(program);
addOperationVerbs(program);
addAddressVerbs(program);
addAdoptVerb(program);
addBooksVerbs(program);
addBatchVerbs(program);

await runProgram(() => program.parseAsync());
