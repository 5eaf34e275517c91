import assert from 'node:assert/strict';
import type { SolanaFaultKind } from '../../../../sandbox/faults.ts';
import { addFault } from '../../../../sandbox/solana/controls.ts';
import { ChainUnavailable } from '../../../../src/chains/node/nodes.ts';
import { waitAlone_blocks } from '../../../../src/chains/solana/payouts/fate.ts';
import { createSolanaPayoutRail } from '../../../../src/chains/solana/payouts/rail.ts';
import { broken, honest, startProxy } from '../../proxy.ts';
import { orderTo, payoutReference, type SolanaWorld, signal, solanaWorld } from '../world.ts';

interface Balance {
  readonly owner: string;
  readonly uiTokenAmount: { amount: string };
}

/** Slots until no final block accepts a transaction that is signed now. A single node is given more. */
const expiry_slots = 160;
const expiryAlone_slots = expiry_slots + Number(waitAlone_blocks);

describe('payouts on Solana die only with proof', () => {
  let world: SolanaWorld;
  beforeEach(async () => {
    world = await solanaWorld();
  });
  afterEach(() => world.lab.stop());

  const fault = (kind: SolanaFaultKind, method = 'sendTransaction') => addFault(world.solana.rpcUrl, { method, kind });
  const fateOf = (attempt: Parameters<SolanaWorld['rail']['fate']>[0][number], rail = world.rail) =>
    rail.fate([attempt], signal);

  it('when the last block that accepts them is final, not when it exists', async () => {
    const receiver = world.nobody();
    const attempt = await world.attemptTo(orderTo(receiver));
    await fault('drop');
    await world.rail.broadcast(attempt.bytes);
    const { lastValid, height } = { lastValid: Number(attempt.validUntil), height: await heightNow() };
    world.solana.advanceSlots(lastValid - height + 1);
    const pair = world.railOf([world.solana.rpcUrl, (await startProxy(world.solana.rpcUrl)).url]);
    assert.deepEqual(await fateOf(attempt, pair), { kind: 'unknown' });
    world.solana.advanceSlots(world.solana.chain.finality.finalized_slots);
    const fate = await fateOf(attempt, pair);
    assert.ok(fate.kind === 'dead' && fate.proof.reason === 'validityPassed', JSON.stringify(fate));

    await world.rail.broadcast(attempt.bytes);
    const second = await world.attemptTo(orderTo(receiver), 2);
    assert.notEqual(second.hash, attempt.hash);
    await world.rail.broadcast(second.bytes);
    world.settle();
    assert.equal((await fateOf(second)).kind, 'final');
    assert.equal((await fateOf(attempt, pair)).kind, 'dead');
    assert.equal(await world.balance(receiver), 5_000000n);
  });

  it('later, by one node alone: a lagging index has time to catch up', async () => {
    const attempt = await world.attemptTo(orderTo(world.nobody()));
    await fault('drop');
    await world.rail.broadcast(attempt.bytes);
    world.solana.advanceSlots(expiry_slots);
    assert.deepEqual(await fateOf(attempt), { kind: 'unknown' });
    world.solana.advanceSlots(Number(waitAlone_blocks));
    assert.equal((await fateOf(attempt)).kind, 'dead');
  });

  it('as late if one of two nodes is enough, and the other does not answer', async () => {
    const attempt = await world.attemptTo(orderTo(world.nobody()));
    await fault('drop');
    await world.rail.broadcast(attempt.bytes);
    const away = await startProxy(world.solana.rpcUrl, broken);
    const agree = { usual: 1, large: 2, largeFrom_usd: 1_000n };
    const config = { ...world.config([world.solana.rpcUrl, away.url]), agree };
    const rail = createSolanaPayoutRail(config, payoutReference);
    world.solana.advanceSlots(expiry_slots);
    assert.deepEqual(await fateOf(attempt, rail), { kind: 'unknown' });
    world.solana.advanceSlots(Number(waitAlone_blocks));
    assert.equal((await fateOf(attempt, rail)).kind, 'dead');
  });

  it('never if a node’s index of statuses is empty: it is queried for the transaction, and for the receiver’s history', async () => {
    const attempt = await world.attemptTo(orderTo(world.nobody()));
    await world.rail.broadcast(attempt.bytes);
    world.solana.advanceSlots(expiryAlone_slots);
    const empty: Record<string, unknown> = {};
    const node = await startProxy(world.solana.rpcUrl, async (method, params, forward) => {
      const answer = (await forward(method, params)) as object;
      if (method === 'getSignatureStatuses') return { ...answer, value: [null] };
      return method in empty ? empty[method] : answer;
    });
    const rail = world.railOf([node.url]);
    empty['getSignaturesForAddress'] = [];
    assert.equal((await fateOf(attempt, rail)).kind, 'final', 'by the transaction');
    delete empty['getSignaturesForAddress'];
    empty['getTransaction'] = null;
    const fate = await fateOf(attempt, rail);
    assert.equal(fate.kind === 'pending' && fate.dispute?.reason, 'nodesDisagree', 'by the receiver’s history');
    await assert.rejects(rail.numbering.prepare(orderTo(world.nobody())));
  });

  it('never when they have landed long ago', async () => {
    const attempt = await world.attemptTo(orderTo(world.nobody()));
    await world.rail.broadcast(attempt.bytes);
    world.solana.advanceSlots(2 * expiry_slots);
    assert.equal((await fateOf(attempt)).kind, 'final');
  });

  it('when they failed on the chain, once that is final', async () => {
    const attempt = await world.attemptTo(orderTo(world.nobody(), 900_000000n));
    const other = await world.attemptTo(orderTo(world.nobody(), 900_000000n, { reference: 'payment-2' }));
    await world.rail.broadcast(other.bytes);
    await sendUnchecked(attempt.bytes);
    assert.deepEqual(await fateOf(attempt), { kind: 'pending', mined: true });
    world.settle();
    const fate = await fateOf(attempt);
    assert.ok(fate.kind === 'dead' && fate.proof.reason === 'reverted', JSON.stringify(fate));
    const { landed } = fate.proof;
    assert.deepEqual([landed?.hash, landed?.cost.rent], [attempt.hash, undefined]);
    assert.ok(BigInt(landed?.cost.fee ?? 0) >= 5_000n);
    assert.equal((await fateOf(other)).kind, 'final');
  });

  it('not by one node that does not know them: every one that answers has to prove it', async () => {
    const attempt = await world.attemptTo(orderTo(world.nobody()));
    await world.rail.broadcast(attempt.bytes);
    world.solana.advanceSlots(expiryAlone_slots);
    const forgetful = await startProxy(world.solana.rpcUrl, async (method, params, forward) => {
      if (method === 'getSignatureStatuses') {
        const { context } = (await forward(method, params)) as { context: object };
        return { context, value: [null] };
      }
      if (method === 'getTransaction') return null;
      return method === 'getSignaturesForAddress' ? [] : forward(method, params);
    });
    const alone = await fateOf(attempt, world.railOf([forgetful.url]));
    assert.equal(alone.kind, 'dead');
    const both = await fateOf(attempt, world.railOf([forgetful.url, world.solana.rpcUrl]));
    assert.equal(both.kind === 'pending' && both.dispute?.reason, 'nodesDisagree');
  });

  it('and after two hundred thousand blocks by none: then an operator learns that they cannot land any more', async () => {
    const attempt = await world.attemptTo(orderTo(world.nobody()));
    await fault('drop');
    await world.rail.broadcast(attempt.bytes);
    assert.equal(await world.rail.canLand(attempt, signal), true);
    world.solana.advanceSlots(expiry_slots);
    const later = await startProxy(world.solana.rpcUrl, async (method, params, forward) => {
      const answer = await forward(method, params);
      if (method !== 'getEpochInfo') return answer;
      const { absoluteSlot, blockHeight } = answer as { absoluteSlot: number; blockHeight: number };
      return { ...(answer as object), absoluteSlot, blockHeight: blockHeight + 200_001 };
    });
    const rail = world.railOf([later.url]);
    assert.deepEqual(await fateOf(attempt, rail), { kind: 'pending', mined: true });
    assert.equal(await rail.canLand(attempt, signal), false);
  });

  it('not by a network that was restarted, whose heights are below theirs; an operator may bury them an hour after the signature', async () => {
    world.solana.advanceSlots(5_000);
    const attempt = await world.attemptTo(orderTo(world.nobody()));
    for (const [age_s, canLand] of [
      [1_800, true],
      [3_700, false],
    ] as const) {
      const signedAt_s = Date.parse(attempt.signedAt) / 1_000;
      const anew = await solanaWorld({ now_s: () => signedAt_s + age_s });
      try {
        assert.ok((await anew.lab.connection.getBlockHeight()) < Number(attempt.validUntil));
        assert.deepEqual(await fateOf(attempt, anew.rail), { kind: 'unknown' });
        assert.equal(await anew.rail.canLand(attempt, signal), canLand);
      } finally {
        await anew.lab.stop();
      }
    }
  });

  it('not by a node that misses blocks which could hold them, nor by one that lags', async () => {
    const attempt = await world.attemptTo(orderTo(world.nobody()));
    await fault('drop');
    await world.rail.broadcast(attempt.bytes);
    world.solana.advanceSlots(expiryAlone_slots);
    const node = await startProxy(world.solana.rpcUrl, async (method, params, forward) => {
      const answer = await forward(method, params);
      return method === 'getBlocks' ? (answer as number[]).filter((slot) => slot % 10 !== 3) : answer;
    });
    assert.deepEqual(await fateOf(attempt, world.railOf([node.url])), { kind: 'pending', mined: true });
    node.behave(async (method, params, forward) => {
      const answer = (await forward(method, params)) as { blockHeight: number };
      return method === 'getEpochInfo' ? { ...answer, blockHeight: Number(attempt.validUntil) } : answer;
    });
    assert.deepEqual(await fateOf(attempt, world.railOf([node.url])), { kind: 'unknown' });
    assert.deepEqual(await fateOf(attempt, world.railOf([world.solana.rpcUrl, node.url])), {
      kind: 'pending',
      mined: true,
    });
    node.behave(honest);
    assert.equal((await fateOf(attempt, world.railOf([world.solana.rpcUrl, node.url]))).kind, 'dead');
  });

  it('not when no node answers', async () => {
    const attempt = await world.attemptTo(orderTo(world.nobody()));
    const down = await startProxy(world.solana.rpcUrl, broken);
    assert.deepEqual(await fateOf(attempt, world.railOf([down.url])), { kind: 'unknown' });
    await assert.rejects(world.railOf([down.url]).broadcast(attempt.bytes), ChainUnavailable);
    await assert.rejects(world.railOf([down.url]).numbering.prepare(orderTo(world.nobody())), ChainUnavailable);
  });

  it('and land only with the whole ordered amount: a mint may keep a fee', async () => {
    const attempt = await world.attemptTo(orderTo(world.nobody()));
    await world.rail.broadcast(attempt.bytes);
    world.settle();
    const keeping = await startProxy(world.solana.rpcUrl, async (method, params, forward) => {
      const answer = (await forward(method, params)) as { meta: { postTokenBalances: Balance[] } };
      if (method !== 'getTransaction') return answer;
      const [kept] = answer.meta.postTokenBalances.filter(({ owner }) => owner === attempt.receiver);
      assert.ok(kept);
      kept.uiTokenAmount.amount = '4900000';
      return answer;
    });
    const fate = await fateOf(attempt, world.railOf([keeping.url]));
    assert.deepEqual(fate.kind === 'short' && [fate.attempt, fate.hash, fate.arrived], [1, attempt.hash, 4_900000n]);
    assert.equal((await fateOf(attempt)).kind, 'final');

    keeping.behave(async (method, params, forward) => {
      const answer = (await forward(method, params)) as object;
      return method === 'getTransaction' ? { ...answer, meta: { err: null, fee: 5_000 } } : answer;
    });
    assert.deepEqual(await fateOf(attempt, world.railOf([keeping.url])), { kind: 'unknown' });
  });

  const heightNow = () => world.lab.connection.getBlockHeight('processed');

  const sendUnchecked = (bytes: string) =>
    world.lab.connection.sendRawTransaction(Buffer.from(bytes, 'base64'), { skipPreflight: true });
});
