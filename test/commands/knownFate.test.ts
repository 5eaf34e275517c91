import assert from 'node:assert/strict';
import { type Fate, PayoutBlocked } from '../../commands/chainPorts.ts';
import { knownFate } from '../../commands/knownFate.ts';
import { settlePayout } from '../../commands/makePayout.ts';
import { explainNoncesOf } from '../../commands/treasuryAccount.ts';
import { isRefusal } from '../../domain/decider.ts';
import { liveAttempts } from '../../domain/payment/transfer.ts';
import { died, hashOf, held, treasuryAccount } from '../support/payments.ts';
import { accepted } from '../support/processes.ts';
import { signingWorld } from './signing.ts';

const { signal } = new AbortController();
const usedUp = (detail: string): Fate => ({ kind: 'dead', attempts: [1], proof: { reason: 'nonceUsed', detail } });

describe('a nonce that another transaction has used', () => {
  /** Payment b has the nonce; the log has lost that payment a was signed and sent with it. */
  async function restored() {
    const world = await signingWorld({ payments: ['a', 'b'] });
    await accepted(world.sign({ paymentId: 'b' }));
    const deps = () => ({ handle: world.start(), clock: world.clock, rail: world.rail });
    const fateOf = async (paymentId: string) => {
      const { payout } = await world.load(paymentId);
      return knownFate(deps(), payout ? liveAttempts(payout) : [], signal);
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

  it('ends it once an operator has explained it, and held what it paid', async () => {
    const world = await restored();
    await world.fateOf('b');
    await world.record('a', [held()]);
    const account = { chainId: 1, account: treasuryAccount } as const;
    const told = { minedNonce: 8n, reason: 'it paid a' };
    await accepted(explainNoncesOf(world.deps(), account, told, { cause: 'operator:ada' }));
    const fate = await world.fateOf('b');
    assert.ok(!isRefusal(fate) && fate.kind === 'dead');
    await accepted(settlePayout(world.deps(), await world.load('b'), fate));
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
    const known = await world.load('b');
    await assert.rejects(world.sign({ paymentId: 'b', known }), PayoutBlocked);
    const [attempt] = known.payout?.attempts ?? [];
    assert.ok(attempt);
    world.around.fate = (sent) => {
      const cancel = sent.find((each) => each.attempt === 0);
      if (!cancel) return usedUp('another one did');
      return { kind: 'final', attempt: 0, hash: cancel.hash, blockNumber: 9n, blockHash: hashOf(9) };
    };
    const fate = () => knownFate(world.deps(), [attempt.signed], signal);
    assert.deepEqual(await fate(), usedUp('another one did'));
    await world.tend();
    assert.deepEqual(await fate(), usedUp('another one did'));
  });
});
