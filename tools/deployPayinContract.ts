/** `npm run deploy:payin -- …`: deploys a treasury's payin contract on Stellar and prints the settings that go with it. */
import { Keypair, StrKey } from '@stellar/stellar-sdk';
import { Command, InvalidArgumentError } from 'commander';
import { deployPayin } from '../src/chains/stellar/deposits/deployPayin.ts';
import { payinToken } from '../src/chains/stellar/tokens.ts';
import { secretFrom } from './connections.ts';
import { print } from './print.ts';
import { runProgram } from './program.ts';

const keyVariable = 'STELLAR_DEPLOYER_SECRET';

function account(text: string): string {
  if (!StrKey.isValidEd25519PublicKey(text))
    throw new InvalidArgumentError('Use an account: G… with a valid checksum.');
  return text;
}

function token(text: string): string {
  const [code = '', issuer = ''] = text.split(':');
  if (!/^[A-Za-z0-9]{1,12}$/.test(code) || !StrKey.isValidEd25519PublicKey(issuer))
    throw new InvalidArgumentError('Use CODE:ISSUER, where the issuer is an account G….');
  return text;
}

interface Options {
  readonly rpc: string;
  readonly treasury: string;
  readonly token: string;
}

const options = new Command('npm run deploy:payin --')
  .description(
    `Deploys the payin contract once. Run again, prints the existing contract. ${keyVariable} (or a file named by ${keyVariable}_FILE) contains the secret (S…) of the account that pays the fees. The account gets no rights.`,
  )
  .requiredOption('--rpc <url>', 'Stellar RPC URL of the network')
  .requiredOption('--treasury <account>', 'Account that receives the payments; cannot be changed later', account)
  .option('--token <asset>', 'Asset that the contract accepts; cannot be changed later', token, payinToken().address)
  .addHelpText('after', '\nExample: npm run deploy:payin -- --rpc https://stellar.example.com --treasury G…')
  .parse()
  .opts<Options>();

await runProgram(async () => {
  const secret = secretFrom(keyVariable);
  if (!StrKey.isValidEd25519SecretSeed(secret))
    throw new Error(`${keyVariable} must contain the secret of an account: S…`);
  const { rpc: rpcUrl, treasury, token } = options;
  const deployed = await deployPayin({ rpcUrl, treasury, token, deployer: Keypair.fromSecret(secret) });
  const how = deployed.transaction === null ? 'existed already' : `deployed by ${deployed.transaction}`;
  print(`${deployed.networkPassphrase}: payin contract ${deployed.contractId} ${how}.`);
  if (!deployed.treasuryTrusts) print(`The treasury has no trustline for ${token} yet: until then nobody can pay.`);
  print('', `STELLAR_TREASURY_ADDRESS=${treasury}`, `STELLAR_PAYIN_CONTRACT=${deployed.contractId}`);
});
