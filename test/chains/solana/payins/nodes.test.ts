import assert from 'node:assert/strict';
import { Keypair } from 'solana-web3-v1';
import { transferOf } from '../../../../commands/chainPorts.ts';
import { addFault, fundWallet } from '../../../../sandbox/solana/controls.ts';
import { ChainUnavailable } from '../../../../src/chains/node/nodes.ts';
import { honest, startProxy } from '../../proxy.ts';
import { signal } from '../world.ts';
import { briefly, eachWithDeposit, watching } from './watching.ts';

describe('reading payins on Solana from nodes', () => {
  const own = eachWithDeposit();

  it('with a balance before its transaction hold up nothing: the deposit is set aside, and polled again', async () => {
    const node = await startProxy(own.world.solana.rpcUrl, async (method, params, forward) =>
      method === 'getSignaturesForAddress' ? [] : forward(method, params),
    );
    const watcher = watching(own.world, [own.deposit], [node.url]);
    own.world.settle(1);
    const before = (await watcher.poll('final'))?.next;
    const txHash = await own.pay(5n);
    own.world.settle();
    const meanwhile = await watcher.poll('final');
    assert.deepEqual([briefly(meanwhile), meanwhile?.unexplained], [[], [own.deposit.toBase58()]]);
    assert.ok(before && meanwhile && meanwhile.next.blockNumber > before.blockNumber);
    const { logs, explained } = (await watcher.ingester.readDeposit?.(own.deposit.toBase58(), signal)) ?? assert.fail();
    assert.deepEqual([logs, explained], [[], false]);
    node.behave(honest);
    own.world.settle(1);
    const range = await watcher.poll('final');
    assert.deepEqual([briefly(range), range?.unexplained], [[own.paid(5n, txHash)], []]);
  });

  it('must agree, two of them, before a payin is final; one that lags or does not know it is named separately', async () => {
    const [first, second] = [await startProxy(own.world.solana.rpcUrl), await startProxy(own.world.solana.rpcUrl)];
    const watcher = watching(own.world, [own.deposit], [first.url, second.url]);
    await own.pay(5n);
    own.world.settle();
    const [log] = (await watcher.poll('final'))?.logs ?? [];
    assert.ok(log);
    const transfer = transferOf(501, log);
    const ask = (each = transfer) => watcher.ingester.agreed(each, { pass: 'final', usd: 10n }, signal);
    assert.deepEqual(await ask(), { agreed: true });
    const reasonOf = async (each = transfer) => (await ask(each)).dispute?.reason;
    assert.equal(await reasonOf({ ...transfer, amount: '6' }), 'nodesDisagree');
    second.behave(async (method, params, forward) => (method === 'getTransaction' ? null : forward(method, params)));
    assert.equal(await reasonOf(), 'nodesDisagree');
    second.behave(async (method, params, forward) => {
      if (method === 'getTransaction') return null;
      return method === 'getSlot' ? Number(transfer.blockNumber) - 1 : forward(method, params);
    });
    assert.equal(await reasonOf(), 'nodesTooFew');
  });

  it('do not end payments by slots and times that one of them fabricated', async () => {
    const ahead = 1_000_000;
    const [liar, other] = [await startProxy(own.world.solana.rpcUrl), await startProxy(own.world.solana.rpcUrl)];
    const watcher = watching(own.world, [own.deposit], [liar.url, other.url]);
    liar.behave(async (method, params, forward) => {
      if (method === 'getSlot') return Number(await forward(method, params)) + ahead;
      if (method !== 'getBlock' || Number(params[0]) < ahead) return forward(method, params);
      const block = (await forward(method, [Number(params[0]) - ahead, ...params.slice(1)])) as { blockTime: number };
      return { ...block, blockTime: block.blockTime + 31_536_000 };
    });
    const before = await watcher.poll('final');
    assert.ok(before && before.next.blockNumber < BigInt(ahead));
    const txHash = await own.pay(5n);
    own.world.settle();
    assert.deepEqual(briefly(await watcher.poll('final')), [own.paid(5n, txHash)]);
  });

  it('are called again for a transaction that they list before they have it', async () => {
    const node = await startProxy(own.world.solana.rpcUrl, async (method, params, forward) =>
      method === 'getTransaction' ? null : forward(method, params),
    );
    const watcher = watching(own.world, [own.deposit], [node.url]);
    const txHash = await own.pay(5n);
    own.world.settle();
    assert.deepEqual(briefly(await watcher.poll('final')), []);
    node.behave(honest);
    own.world.settle(1);
    assert.deepEqual(briefly(await watcher.poll('final')), [own.paid(5n, txHash)]);
  });

  it('without old transactions prevent no other late money from being detected', async () => {
    const forgotten = Array.from({ length: 101 }, () => Keypair.generate().publicKey);
    for (const owner of forgotten) await fundWallet(own.world.solana.rpcUrl, owner.toBase58(), { usdc: 1n });
    const watcher = watching(own.world, []);
    watcher.late.push(...forgotten.map(String), own.deposit.toBase58());
    const txHash = await own.pay(4n);
    own.world.settle();
    const range = await watcher.poll('final');
    assert.deepEqual(briefly(range), [own.paid(4n, txHash)]);
    assert.equal(range?.unexplained?.length, forgotten.length);
    for (let look = 0; look < 8; look++) {
      own.world.settle(150);
      await watcher.poll('final');
    }
    own.world.settle(150);
    assert.deepEqual((await watcher.poll('final'))?.unexplained, [], 'it is not asked again for ever');
  });

  it('are skipped if they lag behind the cursor, or answer nothing', async () => {
    const watcher = watching(own.world, [own.deposit]);
    await watcher.poll('final');
    await addFault(own.world.solana.rpcUrl, { method: 'getMultipleAccounts', kind: 'lagging', slots: 3, times: 6 });
    await assert.rejects(watcher.poll('final'), ChainUnavailable);
    const txHash = await own.pay(5n);
    own.world.settle();
    await addFault(own.world.solana.rpcUrl, { method: 'getMultipleAccounts', kind: 'unavailable', times: 1 });
    assert.deepEqual(briefly(await watcher.poll('final')), [own.paid(5n, txHash)]);
    await addFault(own.world.solana.rpcUrl, { method: '*', kind: 'unavailable', times: 30 });
    await assert.rejects(watcher.ingester.head(signal), ChainUnavailable);
  });

  it('are skipped if they report an impossible time of a block', async () => {
    const node = await startProxy(own.world.solana.rpcUrl, async (method, params, forward) => {
      const shown = await forward(method, params);
      return method === 'getBlock' ? { ...(shown as object), blockTime: '99999999999999999999' } : shown;
    });
    const txHash = await own.pay(5n);
    own.world.settle();
    const watcher = watching(own.world, [own.deposit], [node.url, own.world.solana.rpcUrl]);
    assert.deepEqual(briefly(await watcher.poll('head')), [own.paid(5n, txHash)]);
  });

  it('report the head of the chain', async () => {
    const { blockNumber, chainTime } = await watching(own.world, []).ingester.head(signal);
    assert.equal(blockNumber, BigInt(own.world.solana.chain.head() - 1));
    assert.ok(chainTime.endsWith('Z'));
  });
});
