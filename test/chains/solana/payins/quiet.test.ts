/** Calls while nothing is paid: watching saves calls and detects payins without additional delay. */
import assert from 'node:assert/strict';
import { Keypair, PublicKey } from 'solana-web3-v1';
import { transferOf } from '../../../../commands/chainPorts.ts';
import { type Behaviour, Refusal, startProxy } from '../../proxy.ts';
import { signal } from '../world.ts';
import { briefly, eachWithDeposit, watching } from './watching.ts';

/** About one poll per second. */
const pollEvery_slots = 3;

describe('watching deposits on Solana', () => {
  const own = eachWithDeposit();

  async function watched(open: number) {
    const owners = [own.deposit, ...Array.from({ length: open - 1 }, () => Keypair.generate().publicKey)];
    const node = await startProxy(own.world.solana.rpcUrl);
    const watcher = watching(own.world, owners, [node.url]);
    await watcher.poll('head');
    await watcher.poll('final');
    node.calls.clear();
    const asked = (method: string) => node.calls.get(method) ?? 0;
    return { ...watcher, asked, calls: () => [...node.calls.values()].reduce((sum, each) => sum + each, 0) };
  }

  for (const [open, most] of [
    [1, 2],
    [100, 2],
    [300, 4.5],
  ] as const)
    it(`takes ${most} calls in a poll of both passes while nothing is paid, with ${open} open; both advance`, async () => {
      const watcher = await watched(open);
      const [head, final] = [await watcher.cursor('head'), await watcher.cursor('final')];
      for (let poll = 0; poll < 30; poll++) {
        own.world.solana.advanceSlots(pollEvery_slots);
        await watcher.poll('head');
        await watcher.poll('final');
      }
      assert.ok(watcher.calls() / 30 <= most, `${watcher.calls()} calls in 30 polls`);
      for (const before of [head, final]) {
        const now = await watcher.cursor(before.pass);
        assert.ok(
          now.blockNumber >= before.blockNumber + 60n,
          `${before.pass}: ${before.blockNumber} → ${now.blockNumber}`,
        );
      }
    });

  it('finds payins in the next poll of the head, and final ones in the next one of the final pass', async () => {
    const watcher = await watched(100);
    for (let quiet = 0; quiet < 4; quiet++) {
      own.world.solana.advanceSlots(pollEvery_slots);
      await watcher.poll('head');
      await watcher.poll('final');
    }
    const txHash = await own.pay(5n);
    own.world.solana.advanceSlots(1);
    assert.deepEqual(briefly(await watcher.poll('head')), [own.paid(5n, txHash)]);
    assert.deepEqual(briefly(await watcher.poll('final')), []);
    own.world.solana.advanceSlots(own.world.solana.chain.finality.finalized_slots);
    await watcher.poll('head');
    assert.deepEqual(briefly(await watcher.poll('final')), [own.paid(5n, txHash)]);
  });

  it('queries a node once for a payin’s history and transaction, and no more when it is final, if its block is the same', async () => {
    const watcher = await watched(20);
    const hashes = await Promise.all(
      watcher.open.slice(0, 3).map((to, at) => own.pay(BigInt(at + 1), new PublicKey(to))),
    );
    // There are more slots than payins: reading blocks would cost more.
    own.world.solana.advanceSlots(5);
    assert.equal((await watcher.poll('head'))?.logs.length, 3);
    assert.deepEqual([watcher.asked('getSignaturesForAddress'), watcher.asked('getTransaction')], [3, 3]);
    own.world.settle();
    const final = await watcher.poll('final');
    assert.deepEqual(final?.logs.map(({ txHash }) => txHash).toSorted(), hashes.toSorted());
    for (const log of final?.logs ?? []) {
      const { agreed } = await watcher.ingester.agreed(transferOf(501, log), { pass: 'final', usd: 1n }, signal);
      assert.ok(agreed);
    }
    assert.deepEqual([watcher.asked('getSignaturesForAddress'), watcher.asked('getTransaction')], [3, 3]);
  });

  it('finds payins in the final pass that the head pass has missed, soon after', async () => {
    const watcher = await watched(1);
    const txHash = await own.pay(5n);
    for (let poll = 0; poll < 12; poll++) {
      own.world.solana.advanceSlots(pollEvery_slots);
      const found = briefly(await watcher.poll('final'));
      if (found.length > 0) return assert.deepEqual(found, [own.paid(5n, txHash)]);
    }
    assert.fail('never seen');
  });

  for (const moved of [0, pollEvery_slots])
    it(`finds payins although the last polled node is stuck, ${moved} slots after the last poll`, async () => {
      const { solana } = own.world;
      const [standing, going] = [await startProxy(solana.rpcUrl), await startProxy(solana.rpcUrl)];
      const watcher = watching(own.world, [own.deposit], [standing.url, going.url]);
      await watcher.poll('head');
      solana.advanceSlots(moved);
      await watcher.poll('head');
      standing.behave(standsAt(await own.world.lab.connection.getSlot('confirmed')));
      const txHash = await own.pay(5n);
      for (let poll = 0; poll < 6; poll++) {
        solana.advanceSlots(pollEvery_slots);
        const found = briefly(await watcher.poll('head'));
        if (found.length > 0) return assert.deepEqual(found, [own.paid(5n, txHash)]);
      }
      assert.fail('never seen');
    });
});

/** Answers as of a slot, before the first payment. */
const standsAt =
  (slot: number): Behaviour =>
  async (method, params, forward) => {
    const { minContextSlot = 0 } = (params.at(-1) ?? {}) as { minContextSlot?: number };
    if (minContextSlot > slot) throw new Refusal(-32016, 'Minimum context slot has not been reached');
    if (method === 'getSlot') return slot;
    if (method === 'getBlock' && Number(params[0]) > slot) throw new Refusal(-32004, 'Block not available for slot');
    if (method !== 'getMultipleAccounts') return forward(method, params);
    return { context: { slot }, value: (params[0] as readonly string[]).map(() => null) };
  };
