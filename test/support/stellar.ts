/**
 * A local Stellar for tests, with the unmodified SDK on top: accounts, payments, deployed contracts. Never pass XDR objects to deepEqual:
 * printing their differences takes gigabytes. Compare counts or natives.
 */
import { randomBytes } from 'node:crypto';
import {
  Account,
  Address,
  Asset,
  Contract,
  Keypair,
  type Memo,
  nativeToScVal,
  Operation,
  rpc,
  StrKey,
  scValToNative,
  type Transaction,
  TransactionBuilder,
  type xdr,
} from '@stellar/stellar-sdk';
import { payin } from '../../contracts/stellar/artifacts/payin.ts';
import { fundAccount, plantUsdc, usdc } from '../../sandbox/stellar/controls.ts';
import { createStellar, type Stellar, type StellarOptions } from '../../sandbox/stellar/stellar.ts';
import { onStop } from './hooks.ts';

type Op = Parameters<TransactionBuilder['addOperation']>[0];
type Got = rpc.Api.GetTransactionResponse;

/** Actions of people on a network, a test's own or the sandbox's. */
export interface StellarTools {
  readonly server: rpc.Server;
  readonly passphrase: string;
  /** The contract id of USDC. */
  readonly usdcId: string;
  /** A new account with lumens and USDC, by default 500. */
  person(tokens?: bigint): Promise<Keypair>;
  build(source: string, operations: readonly Op[], memo?: Memo): Promise<Transaction>;
  /** Simulates a contract call and fills in its needs; unsigned. */
  prepare(source: string, operation: Op): Promise<Transaction>;
  /** Sends and waits until the ledger has it. @throws if it is refused */
  send(transaction: Parameters<rpc.Server['sendTransaction']>[0]): Promise<Got>;
  /** Signs and sends operations of one account. */
  go(signer: Keypair, operations: readonly Op[], memo?: Memo): Promise<Got>;
  /** A contract call that its sender signs and pays for. */
  call(signer: Keypair, contract: string, name: string, ...args: xdr.ScVal[]): Promise<Got>;
  /** Uploads code and creates a contract of it. @returns its address */
  deploy(deployer: Keypair, wasm: Buffer, constructorArgs: xdr.ScVal[]): Promise<string>;
  deployPayin(deployer: Keypair, treasury: string, token?: string): Promise<string>;
  /** USDC of an address, in smallest units. */
  balance(address: string): Promise<bigint>;
}

export interface StellarLab extends StellarTools {
  readonly stellar: Stellar;
  stop(): Promise<void>;
}

export const addressArg = (address: string): xdr.ScVal => nativeToScVal(address, { type: 'address' });
export const i128Arg = (amount: bigint): xdr.ScVal => nativeToScVal(amount, { type: 'i128' });
export const stringArg = (text: string): xdr.ScVal => nativeToScVal(text, { type: 'string' });

export const payCall = (contract: string, sender: string, amount: bigint, memo: string): Op =>
  new Contract(contract).call('pay', addressArg(sender), i128Arg(amount), stringArg(memo));

/** A network of the test's own with the production USDC. By default each transaction makes a ledger at once. */
export async function stellarLab(options: Partial<StellarOptions> = {}): Promise<StellarLab> {
  const stellar = await createStellar({ ledger_ms: 'instant', ...options });
  onStop(() => lab.stop());
  const lab: StellarLab = {
    ...stellarTools(stellar.rpcUrl, stellar.networkPassphrase, () => {
      if (options.ledger_ms === 'manual') stellar.closeLedgers();
    }),
    stellar,
    stop: () => (stopped ??= stellar.stop()),
  };
  let stopped: Promise<void> | undefined;
  await plantUsdc(stellar.rpcUrl);
  return lab;
}

/** @param sent called after each transaction that a node has accepted */
export function stellarTools(rpcUrl: string, passphrase: string, sent = () => {}): StellarTools {
  const server = new rpc.Server(rpcUrl, { allowHttp: true });
  const tools: StellarTools = {
    server,
    passphrase,
    usdcId: usdc.contractId(passphrase),
    async person(tokens = 500_0000000n) {
      const keypair = Keypair.random();
      await fundAccount(rpcUrl, keypair.publicKey(), { usdc: tokens });
      return keypair;
    },
    async build(source, operations, memo) {
      const builder = new TransactionBuilder(await server.getAccount(source), {
        fee: '1000',
        networkPassphrase: passphrase,
      }).setTimeout(60);
      for (const operation of operations) builder.addOperation(operation);
      if (memo) builder.addMemo(memo);
      return builder.build();
    },
    prepare: async (source, operation) => server.prepareTransaction(await tools.build(source, [operation])),
    async send(transaction) {
      const { status, hash, errorResult } = await server.sendTransaction(transaction);
      if (status !== 'PENDING') throw new Error(`${status} ${errorResult?.toXDR('base64') ?? ''}`);
      sent();
      return server.pollTransaction(hash, { attempts: 100, sleepStrategy: () => 20 });
    },
    async go(signer, operations, memo) {
      const transaction = await tools.build(signer.publicKey(), operations, memo);
      transaction.sign(signer);
      return tools.send(transaction);
    },
    async call(signer, contract, name, ...args) {
      const transaction = await tools.prepare(signer.publicKey(), new Contract(contract).call(name, ...args));
      transaction.sign(signer);
      return tools.send(transaction);
    },
    async deploy(deployer, wasm, constructorArgs) {
      const invoke = async (operation: Op) => {
        const transaction = await tools.prepare(deployer.publicKey(), operation);
        transaction.sign(deployer);
        const got = await tools.send(transaction);
        if (got.status !== 'SUCCESS' || !got.returnValue) throw new Error(`deploying ended as ${got.status}`);
        return scValToNative(got.returnValue);
      };
      const wasmHash: Buffer = await invoke(Operation.uploadContractWasm({ wasm }));
      const address = new Address(deployer.publicKey());
      return invoke(Operation.createCustomContract({ address, wasmHash, constructorArgs, salt: randomBytes(32) }));
    },
    deployPayin: (deployer, treasury, token = tools.usdcId) =>
      tools.deploy(deployer, Buffer.from(payin.wasm, 'base64'), [addressArg(treasury), addressArg(token)]),
    async balance(address) {
      const { balanceEntry } = await server.getAssetBalance(address, usdc, passphrase);
      return BigInt(balanceEntry?.amount ?? 0);
    },
  };
  return tools;
}

/** The M address of an account and an id. */
export const muxed = (account: string, id: bigint): string => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(id);
  return StrKey.encodeMed25519PublicKey(Buffer.concat([StrKey.decodeEd25519PublicKey(account), bytes]));
};

export { Account, Asset, usdc };
