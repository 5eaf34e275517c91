/** An imitated and a real Stellar network with the same accounts, made by the same transactions. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Account,
  Address,
  Asset,
  type FeeBumpTransaction,
  hash,
  Keypair,
  type Memo,
  Networks,
  Operation,
  rpc,
  StrKey,
  type Transaction,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk';
import { payin } from '../../../contracts/stellar/artifacts/payin.ts';
import { closeLedgers } from '../../../sandbox/stellar/controls.ts';
import { landing } from '../../../sandbox/stellar/landing.ts';
import { startStellar } from '../../../sandbox/stellar/start.ts';
import { onStop } from '../../support/hooks.ts';
import { patience_ms } from '../../support/patience.ts';
import { freeze } from '../../support/processTable.ts';
import { startRealStellar } from '../../support/realNodes.ts';
import { addressArg } from '../../support/stellar.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';
import { type Both, call, type Nodes } from '../comparison.ts';

export type Side = keyof Nodes;
export type Op = Parameters<TransactionBuilder['addOperation']>[0];
export type AnyTransaction = Transaction | FeeBumpTransaction;
/** Builds the transaction for one network: sequence numbers differ. */
export type Make = (side: Side) => Promise<AnyTransaction>;

export interface BuildOptions {
  readonly memo?: Memo;
  readonly fee?: string;
  readonly timebounds?: { readonly minTime: number; readonly maxTime: number };
  /** Added to the sequence number that is due. */
  readonly skip?: number;
}

export interface Sent {
  readonly hash: string;
  readonly answer: Readonly<Record<string, unknown>>;
}

export interface StellarPair {
  readonly nodes: Nodes;
  /** The tests' own asset, with its contract on both networks. */
  readonly token: Asset;
  readonly tokenId: string;
  /** The payin contract of the token, with the account "receiver" as its treasury. */
  readonly payinId: string;
  readonly issuer: Keypair;
  account(name: string): Keypair;
  build(side: Side, source: string, operations: readonly Op[], options?: BuildOptions): Promise<Transaction>;
  /** Signed by its source. */
  signed(signer: Keypair, operations: readonly Op[], options?: BuildOptions): Make;
  /** A contract call with what its simulation found, signed by its source. */
  prepared(signer: Keypair, operation: Op, edit?: (envelope: Envelope) => void): Make;
  send(side: Side, transaction: AnyTransaction): Promise<Sent>;
  /** Waits until a ledger holds the transaction. @returns the answer of getTransaction */
  landed(side: Side, hash: string): Promise<Readonly<Record<string, unknown>>>;
  /** Waits until the next ledger has closed, so that a transaction is not sent at the end of one. */
  closed(side: Side): Promise<void>;
  /** Balance of the token, in smallest units. */
  balance(side: Side, name: string): Promise<string>;
  /** Waits until a ledger has closed. */
  reached(side: Side, ledger: number): Promise<void>;
  latestLedger(side: Side): Promise<number>;
  server(side: Side): rpc.Server;
  /** Keeps both networks from closing ledgers; their nodes answer. @returns lets ledgers close again */
  stall(): () => void;
  /** Ends both networks, the validator by SIGKILL, and starts them again on their data and ports. Waiting transactions are lost. */
  restart(): Promise<void>;
  /** Ends both networks. */
  stop(): Promise<void>;
}

export type Envelope = ReturnType<Transaction['toEnvelope']>;

export const passphrase = Networks.PUBLIC;
/** Owns all lumens of both networks. */
const root = Keypair.fromRawEd25519Seed(createHash('sha256').update(passphrase).digest());
const ledger_ms = 1_000;
const poll_ms = 100;
const polls = patience_ms / poll_ms;
const submissionsMax = 600;
/** A transaction holds no more signatures. */
const signaturesMax = 20;
const startingBalance = '1000';
const tokens = '500';

/** @param names of the accounts; those in `bare` get no trustline */
export async function startPair(names: readonly string[], bare: readonly string[]): Promise<StellarPair> {
  const networks = createNetworks();
  await networks.start();
  const pair = tools(networks);
  const people = [...names, ...bare].map((name) => pair.account(name));
  const holders = names.map((name) => pair.account(name));
  await both((side) => setUp(pair, side, people, holders));
  return pair;
}

interface BothNetworks extends Pick<StellarPair, 'nodes' | 'stall' | 'restart' | 'stop'> {
  start(): Promise<void>;
}

/** Ledgers of both networks close every second. The imitation's are closed from here, so that it can be stalled. */
function createNetworks(): BothNetworks {
  const [imitationFolder, realFolder] = [temporaryDirectory(), temporaryDirectory()];
  const nodes = { imitation: '', real: '' };
  const running: { stop(): Promise<void> }[] = [];
  let isStalled = false;
  let closing: NodeJS.Timeout | undefined;
  const validator = (): number => Number(readFileSync(join(realFolder, 'core.pid'), 'utf8'));
  const portOf = (url: string) => (url === '' ? {} : { port: Number(new URL(url).port) });

  async function start(): Promise<void> {
    const [imitation, real] = await Promise.all([
      startStellar({
        ledger_ms: 'manual',
        stateFile: join(imitationFolder, 'stellar.jsonl'),
        logFile: join(imitationFolder, 'node.log'),
        ...portOf(nodes.imitation),
      }),
      startRealStellar({ folder: realFolder, ...portOf(nodes.real) }),
    ]);
    onStop(stopClosing);
    onStop(() => imitation.stop());
    Object.assign(nodes, { imitation: imitation.rpcUrl, real: real.rpcUrl });
    running.splice(0, running.length, imitation, real);
    closing = setInterval(() => void close(), ledger_ms);
  }

  // A request that is cut off by the end of the imitation closes nothing.
  const close = () => (isStalled ? undefined : closeLedgers(nodes.imitation).catch(() => {}));
  const stopClosing = () => clearInterval(closing);

  async function stop(): Promise<void> {
    stopClosing();
    await Promise.all(running.map((node) => node.stop()));
  }

  return {
    nodes,
    start,
    stop,
    stall() {
      isStalled = true;
      const thaw = freeze([validator()]);
      return () => {
        isStalled = false;
        thaw();
      };
    },
    async restart() {
      process.kill(validator(), 'SIGKILL');
      await stop();
      isStalled = false;
      await start();
    },
  };
}

const both = <T>(run: (side: Side) => Promise<T>): Promise<readonly [T, T]> =>
  Promise.all([run('imitation'), run('real')]);

/** Runs something on both networks at once. */
export async function onBoth<T>(run: (side: Side) => Promise<T>): Promise<Both<T>> {
  const [imitation, real] = await both(run);
  return { imitation, real };
}

async function setUp(pair: StellarPair, side: Side, people: readonly Keypair[], holders: readonly Keypair[]) {
  const { issuer, token } = pair;
  const settle = async (make: () => Promise<AnyTransaction>) => {
    const { sent, transaction } = await submit(pair, side, make);
    assert.equal(sent.answer['status'], 'PENDING', JSON.stringify(sent.answer));
    assert.ok(!('innerTransaction' in transaction));
    await landing(pair.server(side), transaction);
    const got = await pair.landed(side, sent.hash);
    assert.equal(got['status'], 'SUCCESS', JSON.stringify(got));
  };
  const create = [issuer, ...people].map((each) =>
    Operation.createAccount({ destination: each.publicKey(), startingBalance }),
  );
  await settle(() => pair.signed(root, create)(side));
  const groups = Array.from({ length: Math.ceil(holders.length / signaturesMax) }, (_, at) =>
    holders.slice(at * signaturesMax, (at + 1) * signaturesMax),
  );
  await Promise.all(groups.map((group) => settle(() => openTrustlines(pair, side, group))));
  const pay = holders.map((each) => Operation.payment({ destination: each.publicKey(), asset: token, amount: tokens }));
  await settle(() => pair.signed(issuer, pay)(side));
  await settle(() => pair.prepared(issuer, Operation.createStellarAssetContract({ asset: token }))(side));
  await settle(() => pair.prepared(issuer, Operation.uploadContractWasm({ wasm }))(side));
  const constructorArgs = [addressArg(pair.account('receiver').publicKey()), addressArg(pair.tokenId)];
  const deployed = { address: new Address(issuer.publicKey()), wasmHash: hash(wasm), constructorArgs, salt };
  await settle(() => pair.prepared(issuer, Operation.createCustomContract(deployed))(side));
}

/**
 * Builds and sends a transaction, again while the node has no answer for it: one that has just started finds no accounts for a moment, and
 * cannot submit yet.
 */
async function submit(pair: StellarPair, side: Side, make: () => Promise<AnyTransaction>) {
  const tryOnce = async () => {
    const transaction = await make();
    return { transaction, sent: await pair.send(side, transaction) };
  };
  for (let tries = 1; tries < submissionsMax; tries += 1) {
    const taken = await tryOnce().catch(() => undefined);
    if (taken) return taken;
    await sleep(poll_ms);
  }
  return tryOnce();
}

const wasm = Buffer.from(payin.wasm, 'base64');
const salt = Buffer.alloc(32, 1);

/** The contract's id follows from its deployer and the salt. */
function payinIdOf(deployer: Keypair): string {
  const fromAddress = new xdr.ContractIdPreimageFromAddress({
    address: new Address(deployer.publicKey()).toScAddress(),
    salt,
  });
  const preimage = xdr.HashIdPreimage.envelopeTypeContractId(
    new xdr.HashIdPreimageContractId({
      networkId: hash(Buffer.from(passphrase)),
      contractIdPreimage: xdr.ContractIdPreimage.contractIdPreimageFromAddress(fromAddress),
    }),
  );
  return StrKey.encodeContract(hash(preimage.toXDR()));
}

async function openTrustlines({ build, token }: StellarPair, side: Side, group: readonly Keypair[]) {
  const [first] = group;
  assert.ok(first);
  const open = group.map((each) => Operation.changeTrust({ asset: token, source: each.publicKey() }));
  const transaction = await build(side, first.publicKey(), open);
  transaction.sign(...group);
  return transaction;
}

function tools({ nodes, stall, restart, stop }: BothNetworks): StellarPair {
  const servers = {
    imitation: new rpc.Server(nodes.imitation, { allowHttp: true }),
    real: new rpc.Server(nodes.real, { allowHttp: true }),
  };
  const issuer = accountNamed('issuer');
  const token = new Asset('USDC', issuer.publicKey());
  const pair: StellarPair = {
    nodes,
    token,
    tokenId: token.contractId(passphrase),
    payinId: payinIdOf(issuer),
    issuer,
    account: accountNamed,
    server: (side) => servers[side],
    stall,
    restart,
    stop,
    async build(side, source, operations, { memo, fee = '1000', timebounds, skip = 0 } = {}) {
      const used = (await servers[side].getAccountEntry(source)).seqNum().toBigInt();
      const due = new Account(source, (used + BigInt(skip)).toString());
      const builder = new TransactionBuilder(due, {
        fee,
        networkPassphrase: passphrase,
        timebounds: timebounds ?? { minTime: 0, maxTime: Math.floor(Date.now() / 1_000) + 120 },
      });
      for (const operation of operations) builder.addOperation(operation);
      if (memo) builder.addMemo(memo);
      return builder.build();
    },
    signed: (signer, operations, options) => async (side) => {
      const transaction = await pair.build(side, signer.publicKey(), operations, options);
      transaction.sign(signer);
      return transaction;
    },
    prepared: (signer, operation, edit) => async (side) => {
      const built = await pair.build(side, signer.publicKey(), [operation]);
      const envelope = (await servers[side].prepareTransaction(built)).toEnvelope();
      edit?.(envelope);
      const transaction = TransactionBuilder.fromXDR(envelope.toXDR('base64'), passphrase);
      transaction.sign(signer);
      return transaction;
    },
    async send(side, transaction) {
      const { body } = await call(nodes[side], 'sendTransaction', {
        transaction: transaction.toEnvelope().toXDR('base64'),
      });
      return { hash: transaction.hash().toString('hex'), answer: resultIn(body) };
    },
    async landed(side, hash) {
      for (let poll = 0; poll < polls; poll++) {
        const answer = resultIn((await call(nodes[side], 'getTransaction', { hash })).body);
        if (answer['status'] !== 'NOT_FOUND') return answer;
        await sleep(poll_ms);
      }
      return assert.fail(`no ledger of the ${side} network holds ${hash}`);
    },
    closed: async (side) => pair.reached(side, (await pair.latestLedger(side)) + 1),
    async balance(side, name) {
      const entry = await servers[side].getTrustline(accountNamed(name).publicKey(), token);
      return entry.balance().toString();
    },
    async reached(side, ledger) {
      for (let poll = 0; poll < polls; poll++) {
        if ((await pair.latestLedger(side)) >= ledger) return;
        await sleep(poll_ms);
      }
      assert.fail(`the ${side} network has not reached ledger ${ledger}`);
    },
    latestLedger: async (side) => Number(resultIn((await call(nodes[side], 'getHealth')).body)['latestLedger']),
  };
  return pair;
}

/** The same keys in each run and on both networks. */
const accountNamed = (name: string): Keypair =>
  Keypair.fromRawEd25519Seed(createHash('sha256').update(`account ${name}`).digest());

export function resultIn(body: unknown): Readonly<Record<string, unknown>> {
  const { result } = Object(body) as { readonly result?: Readonly<Record<string, unknown>> };
  return result ?? assert.fail(`no result: ${JSON.stringify(body)}`);
}
