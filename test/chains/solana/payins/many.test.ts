/** Very many deposits: the cost of one poll, and the order of the reads. */
import assert from 'node:assert/strict';
import type { PublicKey } from 'solana-web3-v1';
import { createAddressBook } from '../../../../src/chains/solana/payins/tokenAccounts.ts';
import { honest, startProxy } from '../../proxy.ts';
import type { SolanaWorld } from '../world.ts';
import { briefly, depositWorld, unusedAddresses, watching } from './watching.ts';

const owners = unusedAddresses('deposit', 9_000);
const accountsOf = createAddressBook();

describe('more deposits on Solana than one poll reads', () => {
  let world: SolanaWorld;
  afterEach(() => world.lab.stop());

  it('are read in rounds, the youngest in every poll; the pass moves when the oldest was read, to the time when the round began', async () => {
    const made = await depositWorld();
    world = made.world;
    const pay = (amount: bigint, to: PublicKey | undefined) =>
      world.lab.pay({ from: made.payer, to: to ?? assert.fail(), amount });
    let calls = 0;
    const node = await startProxy(world.solana.rpcUrl, async (method, params, forward) => {
      if (method === 'getMultipleAccounts') calls += 1;
      return honest(method, params, forward);
    });
    const watcher = watching(world, owners, [node.url], accountsOf);
    const [youngest, second, between, oldest] = [owners[0], owners[90], owners[5_000], owners.at(-1)];
    /** @param most calls for balances of deposits: at most a twentieth of the deposits in each poll of the head, a sixth in one of the final pass */
    const look = async (pass: 'head' | 'final', most: number) => {
      world.solana.advanceSlots(1);
      calls = 0;
      const range = await watcher.poll(pass);
      assert.ok(calls <= most, `a look made ${calls} calls`);
      return { amounts: briefly(range).map(({ amount }) => amount), at: range?.next.blockNumber ?? 0n };
    };

    await pay(3n, oldest);
    assert.deepEqual(await look('head', 41), { amounts: [], at: 0n });
    await pay(1n, youngest);
    await pay(2n, second);
    assert.deepEqual(await look('head', 41), { amounts: [1n, 2n], at: 0n });
    const last = await look('head', 41);
    assert.deepEqual(last.amounts, [3n]);
    assert.ok(last.at > 0n && last.at < BigInt(world.solana.chain.head() - 1), 'as of when the round began');

    await pay(4n, between);
    const seen: bigint[] = [];
    let looks = 0;
    for (; looks < 20 && !seen.includes(4n); looks++) {
      if (looks === 1) await pay(5n, youngest);
      seen.push(...(await look('head', 6)).amounts);
      if (looks === 1) assert.deepEqual(seen, [5n], 'the youngest in every look');
    }
    assert.ok(looks > 2 && seen.includes(4n), `after ${looks} looks`);

    world.settle();
    const { amounts } = await look('final', 41);
    assert.deepEqual(amounts.toSorted(), [1n, 2n, 3n, 4n, 5n], 'what was seen paid comes first');
  });

  it('cost a part of them in a poll, and a paid one is detected in its turn', async () => {
    const made = await depositWorld();
    world = made.world;
    const node = await startProxy(world.solana.rpcUrl);
    const some = owners.slice(0, 1_000);
    const watcher = watching(world, some, [node.url], accountsOf);
    await watcher.poll('head');
    const looks = 20;
    node.calls.clear();
    for (let look = 0; look < looks; look++) {
      world.solana.advanceSlots(3);
      await watcher.poll('head');
    }
    const calls = [...node.calls.values()].reduce((sum, each) => sum + each, 0);
    assert.ok(calls / looks <= 4.5, `${calls} calls in ${looks} looks`);
  });
});
