/** `npm run treasury -- …`: the treasury's accounts, what an operator moves out of them, and what the log does not know of them. */
import { Command } from 'commander';
import { runProgram } from './program.ts';
import { addAccountVerbs } from './treasury/accounts.ts';
import { addAddressVerbs } from './treasury/addresses.ts';
import { addAdoptVerb } from './treasury/adopt.ts';
import { addAllowBurnsVerb, addBatchVerbs } from './treasury/batches.ts';
import { addBooksVerbs } from './treasury/books.ts';
import { addFloatVerbs } from './treasury/floats.ts';
import { addOperationVerbs } from './treasury/operations.ts';

const program = new Command('npm run treasury --').description('Manages the treasury account on each chain.');

addAccountVerbs(program);
addOperationVerbs(program);
addAddressVerbs(program);
addAdoptVerb(program);
addBooksVerbs(program);
addBatchVerbs(program);
addFloatVerbs(program);
addAllowBurnsVerb(program);

await runProgram(() => program.parseAsync());
