/** Deploys the deposit forwarder of a treasury on one chain; needed before its deposits there can be swept, not before they can be paid. */
import { Command, InvalidArgumentError } from 'commander';
import { type Address, getAddress, type Hex, isAddress, isHex } from 'viem';
import { deployForwarder } from '../src/chains/evm/deposits/deployForwarder.ts';
import { secretFrom } from './connections.ts';
import { print } from './print.ts';
import { runProgram } from './program.ts';

const keyVariable = 'DEPLOYER_PRIVATE_KEY';

function address(text: string): Address {
  if (!isAddress(text)) throw new InvalidArgumentError('Use an address: 0x and 40 hex digits with a valid checksum.');
  return getAddress(text);
}

const { rpc, treasury } = new Command()
  .name('node tools/deployForwarder.ts')
  .description(
    `Deploys the deposit forwarder. ${keyVariable} (or a file named by ${keyVariable}_FILE) contains the key of the account that pays the gas.`,
  )
  .requiredOption('--rpc <url>', 'JSON-RPC URL of the chain')
  .requiredOption('--treasury <address>', 'Account that receives the sweeps; cannot be changed later', address)
  .addHelpText(
    'after',
    '\nExample: node tools/deployForwarder.ts --rpc https://base.example.com --treasury 0x108384d66E8790b0e4021407102679E1CeDF7D3b',
  )
  .parse()
  .opts<{ rpc: string; treasury: Address }>();

await runProgram(async () => {
  const key = secretFrom(keyVariable);
  if (!isHex(key) || key.length !== 66)
    throw new Error(`${keyVariable} must contain a private key: 0x and 64 hex digits`);
  const { chainId, factory, transaction } = await deployForwarder(rpc, treasury, key as Hex);
  const how = transaction === null ? 'existed already' : `deployed by ${transaction}`;
  print(`Chain ${chainId}: forwarder factory ${factory} ${how}.`);
});
