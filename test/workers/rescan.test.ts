import assert from 'node:assert/strict';
import { Memo } from '@stellar/stellar-sdk';
import type { Ingester } from '../../commands/chainPorts.ts';
import { recordUnmatched } from '../../commands/recordPayin.ts';
import { payinAddress } from '../../domain/payment/payins.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { addFault, forgetBefore } from '../../sandbox/stellar/controls.ts';
import { defaultEvmChainConfig } from '../../src/chains/evm/config.ts';
import { createEvmIngester } from '../../src/chains/evm/payins/ingester.ts';
import { type Blocks, type RangeDeps, rescan } from '../../src/workers/payins/range.ts';
import { createWorld as createEvmWorld, signal } from '../chains/evm/world.ts';
import { type StellarWorld, stellarWorld, watching } from '../chains/stellar/world.ts';
import { believing } from '../support/believing.ts';
import { append, createWorld } from '../support/histories.ts';
import * as p from '../support/payments.ts';

const paymentId = p.terms().paymentId;

describe('reading blocks again', () => {
  describe('on Stellar', () => {
    let world: StellarWorld;
    let first: bigint;
    before(async () => {
      world = await stellarWorld();
      first = world.here().blockNumber + 1n;
      await world.send('1', Memo.text('ours'));
      await world.send('2', Memo.text('nobody’s'));
      await world.send('3', Memo.text('ours'));
    });
    after(() => world.lab.stop());

    const reading = () => operator(watching(world.config()).ingester, world.treasury.publicKey(), 'ours');

    it('records payins that the log lacks, keeps money without a known memo, and reports both', async () => {
      const { read, payins } = await reading();
      const { counts, news, missed, reached } = await read({ from: first });
      assert.deepEqual(counts, { known: 0, recorded: 2, unmatched: 1, setAside: 0 });
      assert.deepEqual(
        news.map(({ outcome, paymentId: whose, log }) => [outcome, whose, log.amount]),
        [
          ['recorded', paymentId, 1_0000000n],
          ['unmatched', null, 2_0000000n],
          ['recorded', paymentId, 3_0000000n],
        ],
      );
      assert.deepEqual([missed, reached], [[], new Map([['final', world.here().blockNumber]])]);
      assert.deepEqual(await payins(), [1_0000000n, 3_0000000n]);
    });

    it('changes nothing the second time, nor when a page contains everything twice', async () => {
      const { read, payins } = await reading();
      await read({ from: first });
      await addFault(world.stellar.rpcUrl, { method: 'getEvents', kind: 'duplicate' });
      const { counts, news } = await read({ from: first });
      assert.deepEqual(counts, { known: 3, recorded: 0, unmatched: 0, setAside: 0 });
      assert.deepEqual([news, (await payins()).length], [[], 2]);
    });

    it('reads from the first ledger to the last named one, and no further', async () => {
      const { read, payins } = await reading();
      assert.deepEqual((await read({ from: first, to: first })).counts.recorded, 1);
      assert.deepEqual(await payins(), [1_0000000n]);
      assert.deepEqual((await read({ from: first + 2n })).counts.recorded, 1);
      assert.deepEqual(await payins(), [1_0000000n, 3_0000000n]);
    });

    it('sets aside payins that their payment refuses, and continues', async () => {
      const { read, parked } = await operator(
        watching(world.config()).ingester,
        world.treasury.publicKey(),
        'ours',
        'a-payment-that-the-log-does-not-have',
      );
      const { counts } = await read({ from: first });
      assert.deepEqual(counts, { known: 0, recorded: 0, unmatched: 1, setAside: 2 });
      assert.equal(parked.length, 2);
    });

    it('refuses ledgers that the chain does not have yet', async () => {
      const { read } = await reading();
      await assert.rejects(read({ from: world.here().blockNumber + 1n }), /nothing to read.*the chain stands at/);
    });

    it('reports ledgers that no node remembers, and records the rest', async () => {
      await forgetBefore(world.stellar.rpcUrl, Number(first + 2n));
      const { read } = await reading();
      const { counts, missed } = await read({ from: first });
      assert.deepEqual(missed, [{ from: first, to: first + 1n }]);
      assert.equal(counts.recorded, 1);
      const gone = await read({ from: first, to: first });
      assert.deepEqual(gone.missed, [{ from: first, to: first }]);
      assert.deepEqual(gone.reached, new Map([['final', first]]));
    });
  });

  describe('on an EVM chain', () => {
    it('records small and large amounts each at their own depth, and leaves payins that are not final to the live scan', async () => {
      const world = await createEvmWorld(8453);
      const depths = { final: 2, finalLarge: 4, payout: 2 };
      const config = { ...defaultEvmChainConfig(8453, [world.rpcUrl]), depths, largeFrom_usd: 1_000 };
      const from = BigInt(await world.client.getBlockNumber()) + 1n;
      await world.pay(p.depositAddress, 10_000_000n);
      await world.pay(p.depositAddress, 2_000_000_000n);
      await world.pay(p.depositAddress, 3_000_000_000n);
      await world.mine(3);
      const { read, payins } = await operator(createEvmIngester(config), p.depositAddress, null);
      const { counts, reached } = await read({ from });
      assert.equal(counts.recorded, 2);
      const head = await world.client.getBlockNumber();
      assert.ok((reached.get('final') ?? 0n) > (reached.get('finalLarge') ?? 0n));
      assert.ok((reached.get('final') ?? 0n) < head);
      await world.mine(3);
      assert.deepEqual((await read({ from })).counts, { known: 2, recorded: 1, unmatched: 0, setAside: 0 });
      assert.deepEqual(await payins(), [10_000_000n, 2_000_000_000n, 3_000_000_000n]);
    });
  });
});

/** One unpaid payment with this deposit, and an operator who reads its chain again. */
async function operator(ingester: Ingester, address: string, memo: string | null, whose = paymentId) {
  const world = createWorld();
  await append(world, `payment-${paymentId}`, p.unpaid);
  const parked: string[] = [];
  const deposit = { paymentId: whose, appId: 'wallet_demo', ...payinAddress(address, memo), agreed_usd: 11n };
  const deps: RangeDeps = {
    ...world,
    ...believing,
    ingester,
    caughtUp: async () => {},
    matchDeposits: async (addresses) =>
      addresses.some((paid) => paid.address === deposit.address && paid.memo === deposit.memo) ? [deposit] : [],
    unmatched: (transfer) => recordUnmatched(world, transfer),
    payinsInBlocks: async () => [],
    park: async (_, txHash) => void parked.push(txHash),
    stray: () => {},
    setAside: async (address) => assert.fail(`${address} is explained`),
  };
  return {
    parked,
    read: (blocks: Blocks) => rescan(deps, blocks, signal),
    async payins() {
      const found = await world.handle(paymentDecider, paymentId, () => [], { cause: 'worker:test', appId: null });
      assert.ok('state' in found && found.state);
      return found.state.payins.map(({ amount }) => amount).sort((a, b) => Number(a - b));
    },
  };
}
