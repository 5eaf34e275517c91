/** Deposits without number: what one look costs, and in which order they are read. */
import assert from 'node:assert/strict';
import { PublicKey } from 'solana-web3-v1';
import { solanaKey } from '../../../../src/chains/solana/signer/keys.ts';
import { honest, startProxy } from '../../proxy.ts';
import type { SolanaWorld } from '../world.ts';
import { briefly, depositWorld, watching } from './watching.ts';

/** Wallets that exist nowhere yet. */
const owners = Array.from({ length: 9_000 }, (_, n) => {
  const secret = Buffer.alloc(32);
  secret.writeUInt32BE(n + 1);
  return new PublicKey(solanaKey(secret).address);
});

describe('more deposits on Solana than one look reads', () => {
  let world: SolanaWorld;
  afterEach(() => world.lab.stop());

  it('are gone round, the youngest in every look; the pass moves when the oldest was read, and then by the time the round began', async function () {
    this.timeout(120_000);
    const made = await depositWorld();
    world = made.world;
    const pay = (amount: bigint, to: PublicKey | undefined) =>
      world.lab.pay({ from: made.payer, to: to ?? assert.fail(), amount });
    let calls = 0;
    const node = await startProxy(world.solana.rpcUrl, async (method, params, forward) => {
      if (method === 'getMultipleAccounts') calls += 1;
      return honest(method, params, forward);
    });
    const watcher = watching(world, owners, [node.url]);
    const [youngest, second, oldest] = [owners[0], owners[400], owners.at(-1)];
    const look = async (pass: 'head' | 'final') => {
      world.solana.advanceSlots(1);
      calls = 0;
      const range = await watcher.poll(pass);
      assert.ok(calls <= 50, `a look made ${calls} calls`);
      return { amounts: briefly(range).map(({ amount }) => amount), at: range?.next.blockNumber ?? 0n };
    };

    await pay(3n, oldest);
    const first = await look('head');
    assert.deepEqual(first, { amounts: [], at: 0n });
    await pay(1n, youngest);
    await pay(2n, second);
    const next = await look('head');
    assert.deepEqual(next, { amounts: [1n, 2n], at: 0n });
    const last = await look('head');
    assert.deepEqual(last.amounts, [3n]);
    assert.ok(last.at > 0n && last.at < BigInt(world.solana.chain.head() - 1), 'as of when the round began');

    world.settle();
    assert.deepEqual((await look('final')).amounts.toSorted(), [1n, 2n, 3n], 'what was seen paid comes first');
  });
});
