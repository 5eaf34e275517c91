/** The sandbox's local Stellar: found again or started, and made to look like the public network with money to spend. */
import { join } from 'node:path';
import { Keypair, rpc } from '@stellar/stellar-sdk';
import { deployPayin } from '../src/chains/stellar/deposits/deployPayin.ts';
import { payinToken } from '../src/chains/stellar/tokens.ts';
import { type Children, onSamePort } from './children.ts';
import type { SandboxKeys } from './keys.ts';
import { fundAccount, plantUsdc, usdc } from './stellar/controls.ts';
import { startStellar, stellarAnswers } from './stellar/start.ts';

export interface StellarChain {
  readonly rpcUrl: string;
  /** Accounts, each with lumens and a trustline for USDC; treasury and customer have USDC too. */
  readonly treasury: string;
  readonly customer: string;
  readonly merchantWallet: string;
  /** The payin contract of treasury and USDC. */
  readonly contract: string;
}

export interface StellarChainOptions {
  readonly dataDir: string;
  readonly children: Children;
  readonly keys: SandboxKeys;
  readonly blockTime_s: number;
}

/** In smallest units: a million USDC, ten thousand lumens. */
const full = { usdc: 1_000_000n * 10n ** 7n, lumens: 10_000n * 10n ** 7n };

export async function keepStellarChain(options: StellarChainOptions): Promise<StellarChain> {
  const { rpcUrl, networkPassphrase } = await keepNode(options);
  await plantUsdc(rpcUrl);
  const { stellar } = options.keys;
  const customer = Keypair.fromSecret(stellar.customer);
  const addresses = {
    treasury: Keypair.fromSecret(stellar.treasury).publicKey(),
    customer: customer.publicKey(),
    merchantWallet: Keypair.fromSecret(stellar.merchantWallet).publicKey(),
  };
  for (const account of Object.values(addresses)) await fundAccount(rpcUrl, account, { usdc: 0n });
  for (const account of [addresses.treasury, addresses.customer]) await topUp(rpcUrl, networkPassphrase, account);
  const token = payinToken().address;
  // The customer deploys, not the treasury: only the service may use the treasury's sequence numbers.
  const { contractId } = await deployPayin({ rpcUrl, treasury: addresses.treasury, token, deployer: customer });
  return { rpcUrl, ...addresses, contract: contractId };
}

async function keepNode({ dataDir, children, blockTime_s }: StellarChainOptions) {
  const name = 'chain-1500';
  return children.keep(
    name,
    async () => {
      const launch = (port: number) =>
        startStellar({
          ledger_ms: blockTime_s * 1_000,
          stateFile: join(dataDir, 'chains', '1500.jsonl'),
          logFile: join(dataDir, 'logs', `${name}.log`),
          detached: true,
          port,
        });
      const { pid, rpcUrl, networkPassphrase } = await onSamePort(children.last(name)?.['rpcUrl'], launch);
      return { pid, facts: { rpcUrl, networkPassphrase } };
    },
    ({ rpcUrl }) => stellarAnswers(rpcUrl),
  );
}

/** Money for play, brought back up when most of it is spent. */
async function topUp(rpcUrl: string, networkPassphrase: string, address: string): Promise<void> {
  const server = new rpc.Server(rpcUrl, { allowHttp: true });
  const { balanceEntry } = await server.getAssetBalance(address, usdc, networkPassphrase);
  const lumens = BigInt((await server.getAccountEntry(address)).balance().toString());
  await fundAccount(rpcUrl, address, {
    usdc: BigInt(balanceEntry?.amount ?? 0) < full.usdc / 2n ? full.usdc : 0n,
    lumens: lumens < full.lumens / 2n ? full.lumens : 0n,
  });
}
