import assert from 'node:assert/strict';
import { Operation } from '@stellar/stellar-sdk';
import { instant } from '../../../../domain/time.ts';
import { addFault, forgetBefore } from '../../../../sandbox/stellar/controls.ts';
import { usdc } from '../../../support/stellar.ts';
import { type Behaviour, broken, startProxy } from '../../proxy.ts';
import { orderTo, type PayingWorld, payingWorld, railOf } from '../paying.ts';
import { signal } from '../world.ts';

describe('payouts on Stellar are dead only', () => {
  let world: PayingWorld;
  beforeEach(async () => {
    world = await payingWorld({ ledger_ms: 'manual' });
  });
  afterEach(() => world.lab.stop());

  const closeLedgers = (count = 1, seconds = 5) => world.stellar.closeLedgers(count, seconds);

  const dropped = async () => {
    const attempt = await world.attemptTo(orderTo((await world.lab.person(0n)).publicKey()));
    await addFault(world.stellar.rpcUrl, { method: 'sendTransaction', kind: 'drop' });
    await world.rail.broadcast(attempt.bytes);
    return attempt;
  };

  it('when a ledger has closed after their time bound and their number is unused', async () => {
    const attempt = await dropped();
    closeLedgers(1, 300);
    const head = world.stellar.chain.history.head();
    assert.equal(String(head.closedAt_s), attempt.validUntil);
    assert.deepEqual(await world.rail.fate([attempt], signal), { kind: 'unknown' });
    closeLedgers(1, 1);
    const fate = await world.rail.fate([attempt], signal);
    assert.deepEqual(fate.kind === 'dead' && [fate.attempts, fate.proof.reason], [[1], 'validityPassed']);
    await world.rail.broadcast(attempt.bytes);
    closeLedgers();
    assert.equal(await world.lab.balance(attempt.receiver), 0n);
    assert.equal(await world.nextNonce(), BigInt(attempt.nonce ?? 0));
  });

  it('when another transaction has used their number', async () => {
    const attempt = await dropped();
    const cancel = await world.sign(await world.rail.numbering.prepareCancel(await world.nextNonce()), 1, {
      kind: 'cancel',
      reference: 'nonce',
    });
    const dearer = await world.rail.numbering.prepareCancel(BigInt(cancel.nonce ?? 0), undefined, cancel);
    assert.ok(BigInt(dearer.fee['maxFee'] ?? 0) >= 10n * BigInt(cancel.fee['maxFee'] ?? 0));
    await world.rail.broadcast(cancel.bytes);
    assert.deepEqual(await world.rail.fate([attempt], signal), { kind: 'unknown' });
    assert.equal(await world.rail.canLand(attempt, signal), true);
    closeLedgers();
    assert.equal(await world.rail.canLand(attempt, signal), false);
    // An absence proves something only if the network's history reaches back to before the signature.
    const early = { ...attempt, signedAt: instant(Date.UTC(2020, 0)) };
    assert.deepEqual(await world.rail.fate([early], signal), { kind: 'pending', mined: true });
    closeLedgers(1, 1_000);
    const late = {
      ...attempt,
      signedAt: instant(world.stellar.chain.history.head().closedAt_s * 1_000),
    };
    const fate = await world.rail.fate([late], signal);
    assert.deepEqual(fate.kind === 'dead' && fate.proof.reason, 'nonceUsed');
    assert.equal(await world.nextNonce(), BigInt(attempt.nonce ?? 0) + 1n);
  });

  it('when they failed on the chain, which uses their number up', async () => {
    const receiver = await world.lab.person(0n);
    const order = orderTo(receiver.publicKey());
    const first = await world.attemptTo(order);
    const second = await world.sign(await world.rail.numbering.prepare(order, BigInt(first.nonce ?? 0), first), 2);
    await world.lab.go(receiver, [Operation.changeTrust({ asset: usdc, limit: '0' })]);
    await world.rail.broadcast(second.bytes);
    closeLedgers();
    const fate = await world.rail.fate([first, second], signal);
    assert.deepEqual(fate.kind === 'dead' && [fate.attempts, fate.proof.reason], [[1, 2], 'reverted']);
    const { landed } = (fate.kind === 'dead' && fate.proof) || {};
    assert.deepEqual([landed?.hash, landed?.cost], [second.hash, { payer: world.treasury.publicKey(), fee: '200' }]);
    assert.equal(await world.nextNonce(), BigInt(first.nonce ?? 0) + 1n);
  });

  it('when every node that answers agrees: one node without it does not bury it', async () => {
    const attempt = await world.attemptTo(orderTo((await world.lab.person(0n)).publicKey()));
    const blind: Behaviour = async (method, params, forward) => {
      const { hash } = params as { hash?: string };
      return forward(
        method,
        method === 'getTransaction' && hash === attempt.hash ? ({ hash: '1'.repeat(64) } as never) : params,
      );
    };
    const proxy = await startProxy(world.stellar.rpcUrl, blind);
    await world.rail.broadcast(attempt.bytes);
    closeLedgers();
    closeLedgers(1, 1_000);
    const late = {
      ...attempt,
      signedAt: instant(world.stellar.chain.history.head().closedAt_s * 1_000),
    };
    assert.equal((await railOf(world, [proxy.url]).fate([late], signal)).kind, 'dead');
    const both = railOf(world, [proxy.url, world.stellar.rpcUrl]);
    const fate = await both.fate([late], signal);
    assert.equal(fate.kind === 'pending' && fate.dispute?.reason, 'nodesDisagree');
  });

  it('and land only with the whole ordered amount, by the events of their token', async () => {
    const attempt = await world.attemptTo(orderTo((await world.lab.person(0n)).publicKey()));
    await world.rail.broadcast(attempt.bytes);
    closeLedgers();
    assert.equal((await world.rail.fate([attempt], signal)).kind, 'final');
    const more = { ...attempt, amount: String(BigInt(attempt.amount) + 1n) };
    const fate = await world.rail.fate([more], signal);
    assert.equal(fate.kind === 'short' && fate.arrived, BigInt(attempt.amount));
    const silent = await startProxy(world.stellar.rpcUrl, async (method, params, forward) => {
      const answer = (await forward(method, params)) as object;
      return method === 'getTransaction' ? { ...answer, events: {} } : answer;
    });
    assert.deepEqual(await railOf(world, [silent.url]).fate([attempt], signal), { kind: 'unknown' });
    // The last value of the token's event is of a kind that no SDK supports.
    const newer = await startProxy(world.stellar.rpcUrl, async (method, params, forward) => {
      const answer = (await forward(method, params)) as { events?: { contractEventsXdr: string[][] } };
      if (method !== 'getTransaction' || !answer.events) return answer;
      const cut = (event: string) => Buffer.from(event, 'base64').subarray(0, -20);
      const changed = (event: string) => Buffer.concat([cut(event), Buffer.from([0, 0, 0, 101])]).toString('base64');
      return {
        ...answer,
        events: { contractEventsXdr: answer.events.contractEventsXdr.map((own) => own.map(changed)) },
      };
    });
    assert.deepEqual(await railOf(world, [newer.url]).fate([attempt], signal), { kind: 'unknown' });
  });

  it('and never while no node answers, or all have forgotten', async () => {
    const attempt = await dropped();
    const proxy = await startProxy(world.stellar.rpcUrl, broken);
    assert.deepEqual(await railOf(world, [proxy.url]).fate([attempt], signal), { kind: 'unknown' });
    await world.rail.broadcast(attempt.bytes);
    closeLedgers();
    closeLedgers(3, 1_000);
    await forgetBefore(world.stellar.rpcUrl, world.stellar.chain.history.head().sequence);
    assert.deepEqual(await world.rail.fate([attempt], signal), { kind: 'pending', mined: true });
  });
});
