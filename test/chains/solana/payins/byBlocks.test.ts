/** Many deposits that are paid at once are read from the blocks since the last poll. */
import assert from 'node:assert/strict';
import { Keypair, type PublicKey } from 'solana-web3-v1';
import { honest, type NodeProxy, Refusal, startProxy } from '../../proxy.ts';
import type { SolanaWorld } from '../world.ts';
import { briefly, depositWorld, watching } from './watching.ts';

const dear = ['getSignaturesForAddress', 'getTransaction'];

describe('deposits on Solana that are paid at once', () => {
  let world: SolanaWorld;
  let owners: PublicKey[];
  let pay: (amount: bigint, to: PublicKey) => Promise<unknown>;
  beforeEach(async () => {
    const made = await depositWorld();
    world = made.world;
    owners = Array.from({ length: 12 }, () => Keypair.generate().publicKey);
    pay = (amount, to) => world.lab.pay({ from: made.payer, to, amount });
  });
  afterEach(() => world.lab.stop());

  const countOf = ({ calls }: NodeProxy, ...methods: string[]) =>
    methods.reduce((sum, method) => sum + (calls.get(method) ?? 0), 0);

  async function paidAtOnce(node: NodeProxy, slots = 2) {
    const watcher = watching(world, owners, [node.url]);
    const compared = watching(world, owners);
    await watcher.poll('head');
    node.calls.clear();
    for (const [at, owner] of owners.entries()) await pay(BigInt(at + 1), owner);
    world.solana.advanceSlots(slots);
    const [seen, other] = [await watcher.poll('head'), await compared.poll('head')];
    assert.deepEqual(seen?.logs, other?.logs, 'as their histories tell it');
    assert.equal(seen?.logs.length, owners.length);
    return watcher;
  }

  it('are seen by a call for each slot, in place of two for each deposit, and become final by no more', async () => {
    const node = await startProxy(world.solana.rpcUrl);
    const watcher = await paidAtOnce(node);
    assert.equal(countOf(node, ...dear), 0);
    world.settle();
    node.calls.clear();
    const final = await watcher.poll('final');
    assert.deepEqual(
      briefly(final).map(({ amount }) => amount),
      owners.map((_, at) => BigInt(at + 1)),
    );
    assert.equal(countOf(node, ...dear), 0);
  });

  for (const [what, answer] of [
    ['that a node does not show', () => Promise.reject(new Refusal(-32_004, 'Block not available'))],
    ['whose transactions a node tells nothing of', (block: object) => ({ ...block, transactions: [] })],
    [
      'whose transactions cannot be read',
      (block: object) => ({ ...block, transactions: [{ transaction: null, meta: null }] }),
    ],
  ] as const)
    it(`are read by their histories where they were paid in blocks ${what}`, async () => {
      const node = await startProxy(world.solana.rpcUrl, async (method, params, forward) => {
        const shown = await honest(method, params, forward);
        const asked = (params[1] ?? {}) as { transactionDetails?: string };
        return method === 'getBlock' && asked.transactionDetails === 'accounts' ? answer(shown as object) : shown;
      });
      await paidAtOnce(node);
      assert.ok(countOf(node, ...dear) >= owners.length);
    });

  it('are read by their histories if they are few, or were polled long ago', async () => {
    const node = await startProxy(world.solana.rpcUrl);
    owners = owners.slice(0, 2);
    await paidAtOnce(node, 6);
    assert.ok(countOf(node, ...dear) > 0);
    assert.ok(countOf(node, 'getBlock') > 0);
  });
});
