/** The sandbox's local Stellar: found running or started, set up like the public network, with money to spend. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Keypair, rpc } from '@stellar/stellar-sdk';
import { deployPayin } from '../src/chains/stellar/deposits/deployPayin.ts';
import { payinToken } from '../src/chains/stellar/tokens.ts';
import { type Children, onSamePort } from './children.ts';
import type { SandboxKeys } from './keys.ts';
import { type OwnNodes, prepareOwnNode } from './ownNodes.ts';
import { anyIsLeft, type IsEnough, mostIsLeft } from './playMoney.ts';
import { portsOfNode, type RealNodePrograms } from './realNodes/programs.ts';
import {
  deployAssetsOnStellar,
  endowOnStellar,
  openAccountsOnStellar,
  type StellarFunds,
  startStellarNetwork,
} from './realNodes/stellarNetwork.ts';
import { fundAccount, plantUsdc, usdc, usdt } from './stellar/controls.ts';
import { type StartedStellar, startStellar, stellarAnswers } from './stellar/start.ts';

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
  readonly realNodes?: RealNodePrograms;
  readonly ownNodes?: OwnNodes;
}

const triesMax = 60;
const pause_ms = 1_000;
/** In smallest units: a million USDC, a million USDT, ten thousand lumens. */
const full = { usdc: 1_000_000n * 10n ** 7n, usdt: 1_000_000n * 10n ** 7n, lumens: 10_000n * 10n ** 7n };

export async function keepStellarChain(options: StellarChainOptions): Promise<StellarChain> {
  const own = options.ownNodes?.get(1500);
  const { rpcUrl, networkPassphrase } = own === undefined ? await keepNode(options) : await ownNode(own);
  const { stellar } = options.keys;
  const customer = Keypair.fromSecret(stellar.customer);
  const owners = [stellar.treasury, stellar.customer, stellar.merchantWallet, stellar.relay].map((each) =>
    Keypair.fromSecret(each),
  );
  const addresses = {
    treasury: Keypair.fromSecret(stellar.treasury).publicKey(),
    customer: customer.publicKey(),
    merchantWallet: Keypair.fromSecret(stellar.merchantWallet).publicKey(),
  };
  const prepare = async (isEnough: IsEnough) => {
    await openAccountsOnStellar(rpcUrl, owners);
    const funds = new Map<string, StellarFunds>();
    for (const account of [addresses.treasury, addresses.customer]) {
      funds.set(account, await missing(rpcUrl, networkPassphrase, account, isEnough));
    }
    // The contracts are created by the root account, and USDC is issued by its issuer: their sequence numbers do not interfere.
    await Promise.all([deployAssetsOnStellar(rpcUrl), endowOnStellar(rpcUrl, funds)]);
  };
  if (own !== undefined) await prepareOwnNode(1500, addresses, () => prepare(anyIsLeft));
  else if (options.realNodes?.STELLAR) await retryCutOff(() => prepare(mostIsLeft));
  else {
    await plantUsdc(rpcUrl);
    for (const owner of owners) await fundAccount(rpcUrl, owner.publicKey(), { usdc: 0n });
    // The treasury's float of USDT, which moves by USDT0. Payments on Stellar take USDC alone.
    await fundAccount(rpcUrl, addresses.treasury, { usdt: 0n });
    await fundAccount(rpcUrl, addresses.treasury, {
      usdt: await missingUsdt(rpcUrl, networkPassphrase, addresses.treasury),
    });
    for (const account of [addresses.treasury, addresses.customer]) {
      await fundAccount(rpcUrl, account, await missing(rpcUrl, networkPassphrase, account, mostIsLeft));
    }
  }
  const token = payinToken().address;
  // The customer deploys, not the treasury: only the service may use the treasury's sequence numbers.
  const deploy = () => deployPayin({ rpcUrl, treasury: addresses.treasury, token, deployer: customer });
  const { contractId } = await (options.realNodes?.STELLAR ? retryCutOff(deploy) : deploy());
  return { rpcUrl, ...addresses, contract: contractId };
}

/**
 * Repeats work whose finished parts are skipped while the node cuts off its calls, for at most a minute: on a busy machine the node of a young
 * network may end once more, and its start program starts it again.
 */
async function retryCutOff<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const isCutOff = error instanceof Error && error.message.startsWith('fetch failed');
      if (!isCutOff || tries === triesMax) throw error;
      await sleep(pause_ms);
    }
  }
}

async function ownNode(rpcUrl: string): Promise<{ readonly rpcUrl: string; readonly networkPassphrase: string }> {
  const network = await new rpc.Server(rpcUrl, { allowHttp: true }).getNetwork().catch(() => undefined);
  if (network === undefined) throw new Error('RPC_URLS_1500: no node of Stellar answers there');
  return { rpcUrl, networkPassphrase: network.passphrase };
}

async function keepNode(options: StellarChainOptions) {
  const { dataDir, children, blockTime_s, realNodes } = options;
  const name = 'chain-1500';
  const program = realNodes?.STELLAR;
  return children.keep(
    name,
    async () => {
      const logFile = join(dataDir, 'logs', `${name}.log`);
      const launch = (port: number): Promise<Omit<StartedStellar, 'stop'>> =>
        program === undefined
          ? startStellar({
              ledger_ms: blockTime_s * 1_000,
              stateFile: join(dataDir, 'chains', '1500.jsonl'),
              logFile,
              detached: true,
              port,
            })
          : startStellarNetwork({ program, folder: join(dataDir, 'chains', '1500'), logFile, detached: true, port });
      const ports = program === undefined ? 1 : portsOfNode.STELLAR;
      const { pid, rpcUrl, networkPassphrase } = await onSamePort(children.last(name)?.['rpcUrl'], launch, ports);
      return { pid, facts: { rpcUrl, networkPassphrase } };
    },
    ({ rpcUrl }) => stellarAnswers(rpcUrl),
  );
}

/** As `missing`, for USDT. The account needs its trustline. */
async function missingUsdt(rpcUrl: string, networkPassphrase: string, address: string): Promise<bigint> {
  const server = new rpc.Server(rpcUrl, { allowHttp: true });
  const { balanceEntry } = await server.getAssetBalance(address, usdt, networkPassphrase);
  return mostIsLeft(BigInt(balanceEntry?.amount ?? 0), full.usdt) ? 0n : full.usdt;
}

/** Money for play that an account lacks: as much as at the first start, when it has not enough. */
async function missing(
  rpcUrl: string,
  networkPassphrase: string,
  address: string,
  isEnough: IsEnough,
): Promise<StellarFunds> {
  const server = new rpc.Server(rpcUrl, { allowHttp: true });
  const { balanceEntry } = await server.getAssetBalance(address, usdc, networkPassphrase);
  const lumens = BigInt((await server.getAccountEntry(address)).balance().toString());
  return {
    usdc: isEnough(BigInt(balanceEntry?.amount ?? 0), full.usdc) ? 0n : full.usdc,
    lumens: isEnough(lumens, full.lumens) ? 0n : full.lumens,
  };
}
