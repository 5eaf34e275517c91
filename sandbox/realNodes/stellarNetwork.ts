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
import { landing, send } from '../stellar/landing.ts';
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
const validFor_s = 20;
const tries = 40;
const pause_ms = 250;
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
  return (await stellarAnswers(rpcUrl)) && (await hasAccount(connect(rpcUrl), root().publicKey()).catch(() => false));
}

let rootKeys: Keypair | undefined;

/**
 * Returns the keys of the root account, which holds all lumens and signs for USDC's issuer since the genesis. Derived at the first use: each
 * sandbox loads this module, and few run a real node.
 */
function root(): Keypair {
  rootKeys ??= Keypair.fromRawEd25519Seed(createHash('sha256').update(networkPassphrase).digest());
  return rootKeys;
}

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
    await submit(server, root().publicKey(), [root()], () => [Operation.createStellarAssetContract({ asset })]);
  }
}

/** Creates accounts with 10,000 lumens each and, with their keys, their trustlines for USDC. What exists is left as it is. */
export async function openAccountsOnStellar(rpcUrl: string, owners: readonly Keypair[]): Promise<void> {
  const server = connect(rpcUrl);
  const startingBalance = '10000';
  const missing: string[] = [];
  for (const owner of owners) {
    if (!(await hasAccount(server, owner.publicKey()))) missing.push(owner.publicKey());
  }
  const create = () => missing.map((destination) => Operation.createAccount({ destination, startingBalance }));
  if (missing.length > 0) await submit(server, root().publicKey(), [root()], create);
  await Promise.all(
    owners.map(async (owner) => {
      if (await hasTrustline(server, owner.publicKey())) return;
      await submit(server, owner.publicKey(), [owner], () => [Operation.changeTrust({ asset: usdc })]);
    }),
  );
}

/** Sends money to accounts by payments. Returns when ledgers have them. */
export async function endowOnStellar(rpcUrl: string, funds: ReadonlyMap<string, StellarFunds>): Promise<void> {
  const server = connect(rpcUrl);
  const pay = async (source: string, asset: Asset, amountOf: (funds: StellarFunds) => bigint | undefined) => {
    const due = [...funds].map(([destination, each]) => ({ destination, amount: amountOf(each) ?? 0n }));
    const payments = () =>
      due.flatMap(({ destination, amount }) =>
        amount > 0n ? [Operation.payment({ destination, asset, amount: formatAmount(amount, decimals) })] : [],
      );
    if (payments().length > 0) await submit(server, source, [root()], payments);
  };
  await pay(root().publicKey(), Asset.native(), ({ lumens }) => lumens);
  await pay(issuer, usdc, ({ usdc: dollars }) => dollars);
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
 * Tries at most 40 times. Others use the root's sequence numbers, too: a transaction with a used one is built again. A node that has just
 * started still simulates calls as of a ledger before the network's upgrade, and refuses them.
 */
async function submit(
  server: rpc.Server,
  source: string,
  signers: readonly Keypair[],
  operations: () => readonly xdr.Operation[],
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await submitOnce(server, source, signers, operations());
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
  operations: readonly xdr.Operation[],
): Promise<void> {
  const account = await server.getAccount(source);
  const builder = new TransactionBuilder(account, { fee: fee_stroops, networkPassphrase }).setTimeout(validFor_s);
  for (const operation of operations) builder.addOperation(operation);
  const built = builder.build();
  const transaction = isContractCall(built) ? await server.prepareTransaction(built) : built;
  for (const signer of signers) transaction.sign(signer);
  await send(server, transaction);
  const got = await landing(server, transaction);
  if (got === 'SUCCESS') return;
  throw new Error(`transaction ${transaction.hash().toString('hex')} on ${server.serverURL} ended as ${got}`);
}

const isContractCall = (transaction: { readonly operations: readonly { readonly type: string }[] }): boolean =>
  transaction.operations[0]?.type === 'invokeHostFunction';
