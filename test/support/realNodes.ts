/** Real chain nodes for specs, where GETH, SOLANA and STELLAR name the programs that start them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Keypair } from '@stellar/stellar-sdk';
import { type AgaveOptions, startAgave } from '../../sandbox/realNodes/agave.ts';
import type { StartedNode } from '../../sandbox/realNodes/node.ts';
import { type RealNodeName, realNodePrograms } from '../../sandbox/realNodes/programs.ts';
import {
  endowOnStellar,
  openAccountsOnStellar,
  type StellarNetworkOptions,
  startStellarNetwork,
} from '../../sandbox/realNodes/stellarNetwork.ts';
import { onStop } from './hooks.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

/** Programs of the run's environment. */
export const realNodes = realNodePrograms(process.env);

/** Describes specs that need real nodes. Unless all of them are given, each spec counts as skipped. */
export function describeOnReal(
  needed: readonly RealNodeName[],
  title: string,
  body: (this: Mocha.Suite) => void,
): void {
  const named = `${title}, on real nodes (${needed.join(', ')})`;
  if (needed.every((name) => realNodes[name] !== undefined)) describe(named, body);
  else describe.skip(named, body);
}

export interface RealNode extends StartedNode {
  readonly rpcUrl: string;
}

/** Starts Agave, on an empty ledger unless the folder holds one; it ends with the run. */
export const startRealSolana = (
  options: Pick<AgaveOptions, 'slot_ms'> & { readonly folder?: string } = {},
): Promise<RealNode> =>
  started((folder) =>
    startAgave({ folder, ...options, program: programOf('SOLANA'), logFile: join(folder, 'node.log') }),
  );

/** Starts a Stellar network, without accounts of its own unless the folder holds one; it ends with the run. */
export const startRealStellar = (
  options: Pick<StellarNetworkOptions, 'port'> & { readonly folder?: string } = {},
): Promise<RealNode> =>
  started((folder) =>
    startStellarNetwork({ folder, ...options, program: programOf('STELLAR'), logFile: join(folder, 'node.log') }),
  );

/** Creates an account with a trustline and USDC, in smallest units, by transactions. */
export async function openRealStellarAccount(rpcUrl: string, account: Keypair, usdc: bigint): Promise<void> {
  await openAccountsOnStellar(rpcUrl, [account]);
  await endowOnStellar(rpcUrl, new Map([[account.publicKey(), { usdc }]]));
}

/** Path of a start program. @throws AssertionError when the run was not given it */
export const programOf = (name: RealNodeName): string => realNodes[name] ?? assert.fail(`${name} is not set`);

async function started<N extends RealNode>(start: (folder: string) => Promise<N>): Promise<N> {
  const node = await start(temporaryDirectory());
  onStop(() => node.stop());
  return node;
}
