import assert from 'node:assert/strict';
import { type Fate, PayoutBlocked } from '../../../commands/transferPorts.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { minute_ms } from '../../../domain/time.ts';
import { liveAttempts } from '../../../domain/transfer/leg.ts';
import { keyOf } from '../../../domain/transfer/shapes.ts';
import { giveUpNonce } from '../../../src/workers/payouts/cancels.ts';
import { knownFate } from '../../../src/workers/payouts/fate.ts';
import { explainNoncesOf } from '../../../src/workers/treasury/account.ts';
import { died, hashOf, held, treasuryAccount } from '../../support/payments.ts';
import { accepted } from '../../support/processes.ts';
import { signingWorld, treasuryStream } from './signing.ts';

const { signal } = new AbortController();
const usedUp = (detail: string): Fate => ({ kind: 'dead', attempts: [1], proof: { reason: 'nonceUsed', detail } });

describe('a nonce that another transaction has used', () => {
  /** Payment b has the nonce. The log has lost payment a, which was signed and sent with it. */
  async function restored() {
    const world = await signingWorld({ payments: ['a', 'b'] });
    await accepted(world.sign({ paymentId: 'b' }));
    const deps = () => ({ handle: world.start(), clock: world.clock, rail: world.rail, owners: world.owners() });
    const fateOf = async (paymentId: string) => {
      const { payout } = await world.load(paymentId);
      return knownFate(deps(), keyOf(paymentId), payout ? liveAttempts(payout) : [], signal);
    };
    world.around.fate = () => usedUp(`transaction ${hashOf('lost')} used nonce 7`);
    world.around.minedNonce = 8n;
    return { ...world, fateOf, deps };
  }

  it('ends no attempt and stops the account, when nothing here recorded it', async () => {
    const world = await restored();
    for (const _ of [1, 2]) {
      const fate = await world.fateOf('b');
      assert.ok(isRefusal(fate));
      assert.equal(fate.refused, 'treasuryBehindChain');
    }
    for (const paymentId of ['a', 'b']) {
      const refused = await world.sign({ paymentId });
      assert.equal(isRefusal(refused) && refused.refused, 'treasuryBehindChain');
    }
    assert.equal(world.around.signatures, 1);
  });

  it('stops the account, too, beside an attempt that lapsed before under the same nonce', async () => {
    const world = await signingWorld({ payments: ['b'] });
    await accepted(world.sign({ paymentId: 'b' }));
    await world.record('b', [died(1, { reason: 'validityPassed', detail: 'ledger 9 closed later' })]);
    await accepted(world.sign({ paymentId: 'b' }));
    const live = liveAttempts((await world.load('b')).payout as never);
    assert.deepEqual(
      live.map(({ attempt, nonce }) => ({ attempt, nonce })),
      [{ attempt: 2, nonce: '7' }],
    );
    world.around.fate = () => usedUp(`transaction ${hashOf('lost')} used nonce 7`);
    const deps = { handle: world.start(), clock: world.clock, rail: world.rail, owners: world.owners() };
    const fate = await knownFate(deps, keyOf('b'), live, signal);
    assert.equal(isRefusal(fate) && fate.refused, 'treasuryBehindChain');
  });

  it('stops the account, too, when no node can name the transaction that used it, ten minutes after', async () => {
    const world = await restored();
    world.around.fate = () => ({ kind: 'unknown' });
    world.around.canLand = false;
    world.pass(9 * minute_ms);
    assert.deepEqual(await world.fateOf('b'), { kind: 'unknown' });
    world.around.canLand = true;
    world.pass(minute_ms);
    assert.deepEqual(await world.fateOf('b'), { kind: 'unknown' });
    world.around.canLand = false;
    const fate = await world.fateOf('b');
    assert.equal(isRefusal(fate) && fate.refused, 'treasuryBehindChain');

    // It may have been the payout itself: after `explain` the payout is not dead, and an operator decides about it.
    const account = { chainId: 1, account: treasuryAccount } as const;
    const told = { minedNonce: 8n, reason: 'looked at' };
    await accepted(explainNoncesOf(world.deps(), account, told, { cause: 'operator:ada' }));
    assert.deepEqual(await world.fateOf('b'), { kind: 'unknown' });
  });

  it('ends it once an operator has explained it, and held the payment that it paid', async () => {
    const world = await restored();
    await world.fateOf('b');
    await world.record('a', [held()]);
    const account = { chainId: 1, account: treasuryAccount } as const;
    const told = { minedNonce: 8n, reason: 'it paid a' };
    await accepted(explainNoncesOf(world.deps(), account, told, { cause: 'operator:ada' }));
    // By then the nodes have no record of it: the recorded fact decides.
    world.around.fate = () => ({ kind: 'unknown' });
    world.around.canLand = false;
    world.pass(minute_ms);
    const fate = await world.fateOf('b');
    assert.ok(!isRefusal(fate) && fate.kind === 'dead');
    assert.match(fate.proof.detail, new RegExp(hashOf('lost')));
    await accepted(world.owners().payout.conclude({ kind: 'payout', id: 'b', part: 1 }, fate));
    await accepted(world.sign({ paymentId: 'b' }));
    const [again] = liveAttempts((await world.load('b')).payout as never);
    assert.equal(again?.nonce, '8');
    const refused = await world.sign({ paymentId: 'a' });
    assert.equal(isRefusal(refused) && refused.refused, 'illegalStep');
  });

  it('ends it when a recorded cancel did, known or used up for good', async () => {
    const world = await restored();
    await world.record('b', [died(1, { reason: 'validityPassed', detail: 'ledger 9 closed later' })]);
    world.around.minedNonce = 7n;
    world.around.blocked = new PayoutBlocked('refusedByToken', 'frozen');
    const known = await world.outgoing('b');
    await assert.rejects(world.sign({ known }), PayoutBlocked);
    const [attempt] = known.leg.attempts;
    assert.ok(attempt);
    world.around.fate = (sent) => {
      const cancel = sent.find((each) => each.attempt === 0);
      if (!cancel) return usedUp('another one did');
      return { kind: 'final', attempt: 0, hash: cancel.hash, blockNumber: 9n, blockHash: hashOf(9) };
    };
    for (const what of ['known', 'used up for good', 'and nobody knows the attempt']) {
      const fate = await knownFate(world.deps(), keyOf('b'), [attempt.signed], signal);
      assert.ok(!isRefusal(fate) && fate.kind === 'dead');
      assert.deepEqual(fate.attempts, [1]);
      assert.match(fate.proof.detail, /^cancel .* used nonce 7$/);
      await world.tend();
      const { fate: seen } = world.around;
      if (what === 'used up for good')
        world.around.fate = (sent) => (sent.length === 1 ? { kind: 'unknown' } : seen(sent));
      world.around.canLand = false;
      world.pass(10 * minute_ms);
    }
  });

  it('stops no account while a recorded cancel may have done it and the nodes have just gone away', async () => {
    const world = await restored();
    const known = await world.load('b');
    const [attempt] = known.payout?.attempts ?? [];
    assert.ok(attempt);
    world.around.minedNonce = 7n;
    await giveUpNonce({ ...world, handle: world.start() }, attempt.signed);
    world.around.minedNonce = 8n;
    world.around.fate = (sent) =>
      sent.some((each) => each.attempt === 0) ? { kind: 'unknown' } : usedUp('transaction x used nonce 7');
    assert.deepEqual(await world.fateOf('b'), { kind: 'unknown' });
    assert.equal((await world.typesIn(treasuryStream)).includes('NonceTaken'), false);
  });

  for (const [what, seen] of [
    ['and shows it', (hash: string) => usedUp(`transaction ${hash} used nonce 7`)],
    ['and nobody remembers it', (): Fate => ({ kind: 'unknown' })],
  ] as const) {
    it(`stops no account when another instance outbid it while this one was suspended, ${what}`, async () => {
      const world = await signingWorld({ payments: ['b'] });
      await accepted(world.sign({ paymentId: 'b' }));
      const before = liveAttempts((await world.load('b')).payout as never);
      await accepted(world.sign({ paymentId: 'b' }));
      const [, outbid] = liveAttempts((await world.load('b')).payout as never);
      assert.ok(outbid);
      world.pass(20 * minute_ms);
      [world.around.minedNonce, world.around.canLand] = [8n, false];
      world.around.fate = () => seen(outbid.hash);
      const deps = { handle: world.start(), clock: world.clock, rail: world.rail, owners: world.owners() };
      assert.deepEqual(await knownFate(deps, keyOf('b'), before, signal), { kind: 'pending', mined: true });
      assert.equal((await world.typesIn(treasuryStream)).includes('NonceTaken'), false);
    });
  }
});
