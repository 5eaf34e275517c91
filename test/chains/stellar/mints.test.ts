/** The mint of a message on Stellar, which any account may submit: the reader finds it in events, range by range, back from the newest ledger. */
import assert from 'node:assert/strict';
import { xdr } from '@stellar/stellar-sdk';
import { type Hex, keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { domainOf, routeContracts, stellarCctp } from '../../../domain/rebalance/cctp.ts';
import { plantStellarCctp } from '../../../sandbox/stellar/controls.ts';
import { rangesPerCallMax } from '../../../src/chains/backwardSearch.ts';
import { createStellarMintReader } from '../../../src/chains/stellar/mints.ts';
import { createStellarRpc } from '../../../src/chains/stellar/rpc.ts';
import { keyOf } from '../../support/anvil.ts';
import { messageOf, move, nonce32 } from '../../support/rebalances.ts';
import { type Behaviour, honest, type NodeProxy, startProxy } from '../proxy.ts';
import { type StellarWorld, signal, stellarWorld } from './world.ts';

const token = {
  symbol: 'USDC',
  address: 'USDC:GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN',
  decimals: 7,
} as const;
const amount = 25_000_000n;
const range_ledgers = 2;
/** The first pass takes one call and ends before the mint. The second one reads twice as many ledgers. */
const callsUntilFound = 3;
const ledgersPerCall = range_ledgers * rangesPerCallMax;

interface Query {
  readonly startLedger?: number;
  readonly endLedger?: number;
  readonly filters: readonly { readonly contractIds: readonly string[] }[];
}

describe('the reader of mints on Stellar', () => {
  let world: StellarWorld;
  let proxy: NodeProxy;
  let mintedAt: bigint;
  let hash: string;
  /** Ranges of ledgers that were searched for the message, in the order of the calls. */
  let searched: { readonly from: number; readonly to: number }[] = [];

  const head = () => world.stellar.chain.history.head().sequence;
  /** A query that searches for the message, rather than one that checks whether the node has events at all. */
  const isSearch = (query: Query) =>
    query.filters.some(({ contractIds }) => contractIds.includes(stellarCctp.transmitter));
  const recording =
    (isHidden: () => boolean = () => false): Behaviour =>
    async (method, params, forward) => {
      const query = params as unknown as Query;
      if (method !== 'getEvents' || !isSearch(query)) return forward(method, params);
      if (query.startLedger !== undefined) searched.push({ from: query.startLedger, to: (query.endLedger ?? 0) - 1 });
      const answer = (await forward(method, params)) as object;
      return isHidden() ? { ...answer, events: [] } : answer;
    };

  before(async () => {
    world = await stellarWorld({ now_s: () => Math.floor(Date.now() / 1_000) });
    const attester = privateKeyToAccount(keyOf(7));
    await plantStellarCctp(world.stellar.rpcUrl, [attester.address]);
    const account = world.treasury.publicKey();
    const contracts = routeContracts(137, 1500);
    const order = move({ to: { chainId: 1500, account, token }, amount: amount.toString() }, {
      ...contracts,
      destinationDomain: domainOf(1500),
    } as object);
    const message = messageOf(order) as Hex;
    const attestation = await attester.sign({ hash: keccak256(message) });
    const stranger = await world.lab.person();
    const bytes = (hex: string) => xdr.ScVal.scvBytes(Buffer.from(hex.slice(2), 'hex'));
    const args = [bytes(message), bytes(attestation)];
    const got = await world.lab.call(stranger, stellarCctp.forwarder, 'mint_and_forward', ...args);
    assert.equal(got.status, 'SUCCESS');
    [mintedAt, hash] = [BigInt(head()), got.txHash];
    world.stellar.closeLedgers(ledgersPerCall + 10);
    proxy = await startProxy(world.stellar.rpcUrl, recording());
  });
  beforeEach(() => {
    searched = [];
    proxy.behave(recording());
  });
  after(() => world.lab.stop());

  /** A new process. */
  function reader(urls: readonly string[] = [proxy.url]) {
    const config = world.config(urls, { rangeLedgersMax: range_ledgers });
    const mints = createStellarMintReader(config, createStellarRpc(config));
    const asked = { nonce: nonce32, account: world.treasury.publicKey(), token: token.address };
    return (nonce: string = asked.nonce) => mints.mintOf({ ...asked, nonce }, signal);
  }
  const expected = () => ({
    ...{ hash, blockNumber: mintedAt, received: amount * 10n },
    blockHash: `ledger ${mintedAt}`,
  });

  it('finds a mint that is older than one call reads, in a second pass of bounded calls', async () => {
    const find = reader();
    assert.equal(await find(), null);
    assert.equal(searched.length, rangesPerCallMax);
    assert.equal(searched[0]?.to, head());
    searched = [];
    assert.equal(await find(), null);
    assert.equal(searched.length, rangesPerCallMax);
    assert.deepEqual(await find(), expected());
    assert.ok(searched.length <= 2 * rangesPerCallMax);
    const ledgers = searched.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, at) => from + at));
    assert.equal(new Set(ledgers).size, ledgers.length, 'one pass reads no ledger twice');
    assert.ok(searched.every(({ from, to }) => to - from < range_ledgers));
    assert.ok(BigInt(Math.min(...ledgers)) <= mintedAt);
    searched = [];
    assert.deepEqual(await find(), expected(), 'other nodes may find it later, so each call returns it');
    assert.equal(searched.length, 1);
  });

  it('begins again after a restart', async () => {
    const ended = reader();
    for (let calls = 1; calls < callsUntilFound; calls += 1) await ended();
    const find = reader();
    for (let calls = 1; calls < callsUntilFound; calls += 1) assert.equal(await find(), null);
    assert.deepEqual(await find(), expected());
  });

  it('searches again what a node has answered without the event', async () => {
    let isHidden = true;
    proxy.behave(recording(() => isHidden));
    const find = reader();
    const callsOfPass = Math.ceil((head() - world.stellar.chain.history.oldest().sequence) / ledgersPerCall) + 1;
    for (let calls = 0; calls < callsOfPass; calls += 1) assert.equal(await find(), null);
    isHidden = false;
    let found = await find();
    for (let calls = 1; found === null && calls < 4 * callsOfPass; calls += 1) found = await find();
    assert.deepEqual(found, expected());
  });

  it('believes no single node of two', async () => {
    const other = await startProxy(
      world.stellar.rpcUrl,
      recording(() => true),
    );
    const find = reader([proxy.url, other.url]);
    for (let calls = 0; calls < 3; calls += 1) assert.equal(await find(), null);
    other.behave(honest);
    let found = await find();
    for (let calls = 1; found === null && calls < 20; calls += 1) found = await find();
    assert.deepEqual(found, expected());
  });

  it('searches no events for a message that nobody minted', async () => {
    assert.equal(await reader()('cd'.repeat(32)), null);
    assert.deepEqual(searched, []);
  });
});
