/** `npm run treasury -- …`: the treasury's accounts, their operations, and transactions that the log does not know. */
import { Command } from 'commander';
import { addExamples, runProgram } from './program.ts';
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

addExamples(program, {
  show: '8453',
  pause: '"a key may be stolen" 8453',
  resume: '8453',
  explain: '"a withdrawal by hand" 8453',
  withdraw: '8453 USDC 100 --to 0x108384d66E8790b0e4021407102679E1CeDF7D3b --reason "cost of November"',
  rebalance: '8453 USDC 1000 1 --via 0x108384d66E8790b0e4021407102679E1CeDF7D3b --reason "Ethereum runs low"',
  'allow-burns': '8453 10000',
  floats: '',
  approve: 'ID',
  'call-off': 'ID --reason "wrong amount"',
  arrived: 'ID 0x83800dd4c7ecca202cfa19285854f31875bd058e72d393f61cccb00d3b117b42',
  operations: '',
  addresses: '',
  'addresses add': '8453 0x108384d66E8790b0e4021407102679E1CeDF7D3b --label "cold wallet"',
  'addresses remove': '8453 0x108384d66E8790b0e4021407102679E1CeDF7D3b',
  adopt: '8453 --record all --reason "withdrawals by hand"',
  books: '8453',
  batches: '',
  'batches list': '',
  'batches deploy': '8453',
  'batches allow': '8453 USDC 10000',
  'batches bury': 'ID --reason "three explorers find no transaction"',
});

await runProgram(() => program.parseAsync());
