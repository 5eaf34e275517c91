/** What watching costs while nothing is paid, and that nothing is seen later for it. */
import assert from 'node:assert/strict';
import { Keypair } from 'solana-web3-v1';
import { startProxy } from '../../proxy.ts';
import { briefly, eachWithDeposit, watching } from './watching.ts';

/** A poll each second, or so. */
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
    return { ...watcher, calls: () => [...node.calls.values()].reduce((sum, each) => sum + each, 0) };
  }

  for (const [open, most] of [
    [1, 2],
    [100, 2],
    [300, 4.5],
  ] as const)
    it(`takes ${most} calls in a poll of both passes while nothing is paid, with ${open} open; both move on`, async () => {
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

  it('sees what is paid in the next poll of the head, and what is final in the next one of the final pass', async () => {
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

  it('finds in the final pass what the head pass has not seen, soon after', async () => {
    const watcher = await watched(1);
    const txHash = await own.pay(5n);
    for (let poll = 0; poll < 12; poll++) {
      own.world.solana.advanceSlots(pollEvery_slots);
      const found = briefly(await watcher.poll('final'));
      if (found.length > 0) return assert.deepEqual(found, [own.paid(5n, txHash)]);
    }
    assert.fail('never seen');
  });
});
