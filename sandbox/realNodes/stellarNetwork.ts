/** A real Stellar network: one stellar-core validator and one stellar-rpc node, with USDC's production issuer. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Address,
  Asset,
  BASE_FEE,
  Keypair,
  Networks,
  Operation,
  rpc,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk';
import { formatAmount } from '../../domain/money.ts';
import { usdc } from '../stellar/controls.ts';
import { stellarAnswers } from '../stellar/start.ts';
import { type StartedNode, startNode } from './node.ts';
import { freeNodePort } from './programs.ts';

export interface StellarNetworkOptions {
  /** The start program: `STELLAR`. */
  readonly program: string;
  /** Network directory between starts. */
  readonly folder: string;
  readonly logFile: string;
  /** Default: a free port. The 5 ports above it are used, too. */
  readonly port?: number;
  readonly detached?: boolean;
}

export interface StellarNetwork extends StartedNode {
  readonly rpcUrl: string;
  readonly networkPassphrase: string;
}

/** The start program's network has the public one's passphrase: contract ids and hashes are the real ones. */
export const networkPassphrase = Networks.PUBLIC;
const issuer = usdc.getIssuer() ?? '';
const decimals = 7;
const validFor_s = 60;
const tries = 20;
const pause_ms = 500;
const fee_stroops = String(100 * Number(BASE_FEE));

/** Starts the network and waits until its RPC node is healthy. In the same folder it continues the existing network. */
export async function startStellarNetwork(options: StellarNetworkOptions): Promise<StellarNetwork> {
  const { program, folder, logFile, detached = false } = options;
  const port = options.port ?? (await freeNodePort('STELLAR'));
  mkdirSync(folder, { recursive: true });
  const rpcUrl = `http://127.0.0.1:${port}`;
  const args = [`${port}`, folder];
  const node = await startNode({ program, args, logFile, isReady: () => stellarIsReady(rpcUrl), detached });
  return { ...node, rpcUrl, networkPassphrase };
}

/** Returns true once the RPC node reads accounts: one that reports itself healthy cannot yet while its captive core starts. */
export async function stellarIsReady(rpcUrl: string): Promise<boolean> {
  return (await stellarAnswers(rpcUrl)) && (await hasAccount(connect(rpcUrl), root.publicKey()).catch(() => false));
}

/** The root account holds all lumens; its key is a signer of USDC's issuer since the genesis. */
const root = Keypair.fromRawEd25519Seed(createHash('sha256').update(networkPassphrase).digest());

/** In smallest units: 10^-7 of a lumen or a USDC. */
export interface StellarFunds {
  readonly lumens?: bigint;
  readonly usdc?: bigint;
}

/** Creates the contracts of USDC and of the lumen, once. */
export async function deployAssetsOnStellar(rpcUrl: string): Promise<void> {
  const server = connect(rpcUrl);
  for (const asset of [Asset.native(), usdc]) {
    if (await hasContract(server, asset)) continue;
    await submit(server, root.publicKey(), [root], () => Operation.createStellarAssetContract({ asset }));
  }
}

/** Creates an account with 10,000 lumens and, with its key, its trustline for USDC. What exists is left as it is. */
export async function openAccountOnStellar(rpcUrl: string, owner: Keypair): Promise<void> {
  const server = connect(rpcUrl);
  const destination = owner.publicKey();
  if (!(await hasAccount(server, destination))) {
    const startingBalance = '10000';
    await submit(server, root.publicKey(), [root], () => Operation.createAccount({ destination, startingBalance }));
  }
  if (!(await hasTrustline(server, destination))) {
    await submit(server, destination, [owner], () => Operation.changeTrust({ asset: usdc }));
  }
}

/** Sends money to an account by payments. Returns when ledgers have them. */
export async function endowOnStellar(rpcUrl: string, destination: string, funds: StellarFunds): Promise<void> {
  const server = connect(rpcUrl);
  const pay = (asset: Asset, amount: bigint) => () =>
    Operation.payment({ destination, asset, amount: formatAmount(amount, decimals) });
  const { lumens = 0n, usdc: dollars = 0n } = funds;
  if (lumens > 0n) await submit(server, root.publicKey(), [root], pay(Asset.native(), lumens));
  if (dollars > 0n) await submit(server, issuer, [root], pay(usdc, dollars));
}

const connect = (rpcUrl: string): rpc.Server => new rpc.Server(rpcUrl, { allowHttp: true });

async function hasAccount(server: rpc.Server, account: string): Promise<boolean> {
  const accountId = Keypair.fromPublicKey(account).xdrAccountId();
  return hasEntry(server, xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId })));
}

async function hasTrustline(server: rpc.Server, account: string): Promise<boolean> {
  const accountId = Keypair.fromPublicKey(account).xdrAccountId();
  const asset = usdc.toTrustLineXDRObject();
  return hasEntry(server, xdr.LedgerKey.trustline(new xdr.LedgerKeyTrustLine({ accountId, asset })));
}

async function hasContract(server: rpc.Server, asset: Asset): Promise<boolean> {
  const contract = new Address(asset.contractId(networkPassphrase)).toScAddress();
  const key = xdr.ScVal.scvLedgerKeyContractInstance();
  const durability = xdr.ContractDataDurability.persistent();
  return hasEntry(server, xdr.LedgerKey.contractData(new xdr.LedgerKeyContractData({ contract, key, durability })));
}

const hasEntry = async (server: rpc.Server, key: xdr.LedgerKey): Promise<boolean> =>
  (await server.getLedgerEntries(key)).entries.length > 0;

/**
 * Tries at most 20 times. Others use the root's sequence numbers, too: a transaction with a used one is built again. A node that has just
 * started still simulates calls as of a ledger before the network's upgrade, and refuses them.
 */
async function submit(
  server: rpc.Server,
  source: string,
  signers: readonly Keypair[],
  operation: () => xdr.Operation,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await submitOnce(server, source, signers, operation());
    } catch (error) {
      if (attempt === tries) throw error;
      await sleep(pause_ms);
    }
  }
}

async function submitOnce(
  server: rpc.Server,
  source: string,
  signers: readonly Keypair[],
  operation: xdr.Operation,
): Promise<void> {
  const account = await server.getAccount(source);
  const builder = new TransactionBuilder(account, { fee: fee_stroops, networkPassphrase }).setTimeout(validFor_s);
  const built = builder.addOperation(operation).build();
  const transaction = isContractCall(built) ? await server.prepareTransaction(built) : built;
  for (const signer of signers) transaction.sign(signer);
  const { hash, status } = await server.sendTransaction(transaction);
  const landed = status === 'PENDING' || status === 'DUPLICATE' ? await server.pollTransaction(hash, polling) : null;
  if (landed?.status === 'SUCCESS') return;
  throw new Error(`transaction ${hash} on ${server.serverURL} ended as ${landed?.status ?? status}`);
}

const polling = { attempts: 120, sleepStrategy: () => pause_ms };

const isContractCall = (transaction: { readonly operations: readonly { readonly type: string }[] }): boolean =>
  transaction.operations[0]?.type === 'invokeHostFunction';
