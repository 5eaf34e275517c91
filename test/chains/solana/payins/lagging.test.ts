/** Nodes that lag a little, nodes some slots apart behind one address, and incomplete answers. */
import assert from 'node:assert/strict';
import { Keypair } from 'solana-web3-v1';
import { type Behaviour, honest, Refusal, startProxy } from '../../proxy.ts';
import { signal } from '../world.ts';
import { briefly, eachWithDeposit, watching } from './watching.ts';

describe('reading payins on Solana', () => {
  const own = eachWithDeposit();

  for (const [code, said] of [
    [-32004, 'Block not available for slot'],
    [-32007, 'Slot was skipped, or missing due to ledger jump to recent snapshot'],
    [-32009, 'Slot was skipped, or missing in long-term storage'],
    [-32014, 'Block status not yet available for slot'],
  ] as const)
    it(`continues if a node never has its newest block (${code}): the pass stays on the one before`, async () => {
      const node = await startProxy(own.world.solana.rpcUrl, async (method, params, forward) => {
        const [slot, config] = params as [number, { commitment: string }];
        if (method === 'getBlock') {
          const newest = (await forward('getSlot', [{ commitment: config.commitment }])) as number;
          if (slot >= newest) throw new Refusal(code, said);
        }
        return forward(method, params);
      });
      const watcher = watching(own.world, [own.deposit], [node.url]);
      const txHash = await own.pay(5n);
      own.world.settle();
      for (const pass of ['head', 'final'] as const) {
        const range = await watcher.poll(pass);
        assert.deepEqual(briefly(range), [own.paid(5n, txHash)]);
        const commitment = pass === 'head' ? 'confirmed' : 'finalized';
        const newest = await own.world.lab.connection.getSlot(commitment);
        assert.equal(range?.next.blockNumber, BigInt(newest - 1));
      }
    });

  it('delivers a found payin while the block of a later one is not there yet, which follows with its block', async () => {
    const other = Keypair.generate().publicKey;
    const first = await own.pay(1n);
    const others = await own.pay(5n, other);
    own.world.solana.advanceSlots(1);
    const second = await own.pay(2n);
    own.world.settle();
    const node = await startProxy(own.world.solana.rpcUrl, async (method, params, forward) => {
      if (method === 'getBlock' && params[0] === own.slotOf(second)) throw new Refusal(-32004, 'Block not available');
      return forward(method, params);
    });
    const watcher = watching(own.world, [own.deposit, other], [node.url]);
    const range = await watcher.poll('final');
    assert.deepEqual(briefly(range), [own.paid(1n, first), own.paid(5n, others, other)]);
    assert.deepEqual(range?.unexplained, [String(own.deposit)], 'its own payment’s end waits, and no other');
    assert.ok(range && range.next.blockNumber > BigInt(own.slotOf(second)), 'the pass goes on');
    node.behave(honest);
    own.world.settle(1);
    assert.deepEqual(briefly(await watcher.poll('final')), [own.paid(1n, first), own.paid(2n, second)]);
  });

  it('calls once more if back ends of one address are some slots apart, and no poll fails', async () => {
    const lags = [0, 2, 1, 2, 0, 2];
    let calls = 0;
    const balanced: Behaviour = async (method, params, forward) => {
      const lag = lags[calls++ % lags.length] ?? 0;
      const config = params.find((each) => typeof each === 'object' && each !== null && !Array.isArray(each));
      const { commitment = 'finalized', minContextSlot = 0 } = config as {
        commitment?: string;
        minContextSlot?: number;
      };
      const newest = ((await forward('getSlot', [{ commitment }])) as number) - lag;
      if (minContextSlot > newest) throw new Refusal(-32016, 'Minimum context slot has not been reached');
      if (method === 'getSlot') return newest;
      if (method === 'getBlock' && Number(params[0]) > newest) throw new Refusal(-32004, 'Block not available');
      const answer = await forward(method, params);
      if (method === 'getTransaction')
        return ((answer as { slot: number } | null) ?? { slot: 0 }).slot > newest ? null : answer;
      if (method === 'getSignaturesForAddress')
        return (answer as { slot: number }[]).filter(({ slot }) => slot <= newest);
      return answer;
    };
    const node = await startProxy(own.world.solana.rpcUrl);
    const watcher = watching(own.world, [own.deposit], [node.url]);
    await watcher.poll('head');
    await watcher.poll('final');
    node.behave(balanced);
    const paid: bigint[] = [];
    for (let amount = 1n; amount <= 8n; amount++) {
      await own.pay(amount);
      own.world.settle(6);
      for (const pass of ['head', 'final'] as const) {
        const range = await watcher.poll(pass);
        assert.deepEqual(range?.unexplained ?? [], []);
        if (pass === 'final') paid.push(...briefly(range).map((each) => each.amount));
      }
    }
    node.behave(honest);
    own.world.settle();
    paid.push(...briefly(await watcher.poll('final')).map((each) => each.amount));
    assert.deepEqual(paid, [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n]);
  });

  it('leaves a payin between a balance and its history to the next poll: nothing counts as unexplained', async () => {
    const first = await own.pay(5n);
    own.world.settle();
    let between: string | undefined;
    const node = await startProxy(own.world.solana.rpcUrl, async (method, params, forward) => {
      const answer = await forward(method, params);
      if (
        method === 'getMultipleAccounts' &&
        (params[1] as { dataSlice?: object }).dataSlice &&
        between === undefined
      ) {
        between = await own.pay(7n);
        own.world.settle();
      }
      return answer;
    });
    const watcher = watching(own.world, [own.deposit], [node.url]);
    const range = await watcher.poll('final');
    assert.deepEqual([briefly(range), range?.unexplained], [[own.paid(5n, first)], []]);
    own.world.settle(1);
    const later = await watcher.poll('final');
    assert.deepEqual([briefly(later), later?.unexplained], [[own.paid(7n, between ?? '')], []]);
  });

  it('trusts no clipped page: a payin behind a hundred others is found', async () => {
    const node = await startProxy(own.world.solana.rpcUrl, async (method, params, forward) => {
      const answer = await forward(method, params);
      return method === 'getSignaturesForAddress' ? (answer as unknown[]).slice(0, 30) : answer;
    });
    const real = await own.pay(5_000000n);
    for (let amount = 1n; amount <= 70n; amount++) await own.pay(amount);
    own.world.settle();
    const watcher = watching(own.world, [own.deposit], [node.url]);
    const range = await watcher.poll('final');
    assert.deepEqual(range?.unexplained, []);
    assert.equal(range?.logs.length, 71);
    assert.deepEqual(briefly(range)[0], own.paid(5_000000n, real));
  });

  it('requests no more accounts in a call than a node accepts, as soon as it has said so', async () => {
    const others = Array.from({ length: 6 }, () => Keypair.generate().publicKey);
    for (const said of ['getMultipleAccounts is limited to 5 pubkeys on this plan', 'Too many inputs provided']) {
      let refused = 0;
      const node = await startProxy(own.world.solana.rpcUrl, async (method, params, forward) => {
        if (method !== 'getMultipleAccounts' || (params[0] as string[]).length <= 5) return forward(method, params);
        refused += 1;
        throw new Refusal(-32602, said);
      });
      const watcher = watching(own.world, [own.deposit, ...others], [node.url]);
      const txHash = await own.pay(5n);
      own.world.settle();
      assert.ok(briefly(await watcher.poll('final')).some((each) => each.txHash === txHash));
      own.world.settle(30);
      await watcher.poll('final');
      assert.equal(refused, 1);
    }
  });

  it('does not accept a list without one in the middle: the deposit is set aside, and another one is read', async () => {
    const other = Keypair.generate().publicKey;
    const hidden = await own.pay(3n);
    const shown = await own.pay(5n);
    const others = await own.pay(7n, other);
    own.world.settle();
    const node = await startProxy(own.world.solana.rpcUrl, async (method, params, forward) => {
      const answer = await forward(method, params);
      if (method !== 'getSignaturesForAddress') return answer;
      return (answer as { signature: string }[]).filter(({ signature }) => signature !== hidden);
    });
    const watcher = watching(own.world, [own.deposit, other], [node.url, own.world.solana.rpcUrl]);
    const range = await watcher.poll('final');
    assert.deepEqual(briefly(range), [own.paid(5n, shown), own.paid(7n, others, other)]);
    assert.deepEqual(range?.unexplained, [String(own.deposit)]);
    assert.ok(range && range.next.blockNumber > BigInt(own.slotOf(others)));
    const whole = await watcher.ingester.readDeposit?.(String(own.deposit), signal);
    assert.deepEqual([whole?.explained, whole?.logs.length], [true, 2], 'another node has the whole history');
  });
});
