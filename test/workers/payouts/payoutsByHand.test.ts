import assert from 'node:assert/strict';
import type { Fate } from '../../../commands/transferPorts.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { attemptsMax } from '../../../domain/transfer/leg.ts';
import {
  acceptPayout,
  bouncePayout,
  buryPayout,
  holdPayout,
  retryPayout,
} from '../../../src/workers/payouts/byHand.ts';
import { attempt, died, feeCaps, hashOf, landed, short, signed } from '../../support/payments.ts';
import { accepted } from '../../support/processes.ts';
import { first, signingWorld } from './signing.ts';

const by = { cause: 'operator:ada' } as const;
const { signal } = new AbortController();
const said = { paymentId: first, reason: 'no explorer has it' };

/** A payout on a chain without nonces. */
async function world() {
  const signing = await signingWorld();
  signing.around.minedNonce = null;
  const around = { canLand: false, fate: { kind: 'pending', mined: true } as Fate };
  const rail = { canLand: async () => around.canLand, fate: async () => around.fate };
  const deps = () => ({ handle: signing.start(), clock: signing.clock, rail });
  const refusal = async (answer: Promise<unknown>) => {
    const outcome = await answer;
    return isRefusal(outcome) ? outcome.refused : 'none';
  };
  return { ...signing, chain: around, deps, refusal };
}

describe('an operator', () => {
  it('buries an attempt that no node remembers, and the payout is signed again', async () => {
    const { sign, deps, load, store } = await world();
    await accepted(sign());
    await accepted(buryPayout(deps(), said, by, signal));
    const event = (await store.read(`payment-${first}`)).at(-1);
    assert.deepEqual(event?.data, { attempt: 1, proof: { reason: 'declared', detail: said.reason } });
    assert.equal(event?.metadata.cause, 'operator:ada');
    await accepted(sign());
    assert.deepEqual(
      (await load()).payout?.attempts.map(({ fate }) => fate),
      ['dead', 'live'],
    );
  });

  it('buries none that can still land, or whose result the nodes know', async () => {
    const { sign, deps, chain, refusal } = await world();
    assert.equal(await refusal(buryPayout(deps(), said, by, signal)), 'illegalStep');
    await accepted(sign());
    chain.canLand = true;
    assert.equal(await refusal(buryPayout(deps(), said, by, signal)), 'illegalStep');
    chain.canLand = false;
    chain.fate = { ...landed(attempt()), kind: 'final', blockNumber: 9n, blockHash: hashOf(9) };
    assert.equal(await refusal(buryPayout(deps(), said, by, signal)), 'illegalStep');
    chain.fate = { kind: 'dead', attempts: [1], proof: { reason: 'reverted', detail: 'in block 9' } };
    assert.equal(await refusal(buryPayout(deps(), said, by, signal)), 'illegalStep');
  });

  it('has a payout tried again after a hundred attempts, which reports before that it needs an operator', async () => {
    const { sign, deps, record, refusal, around } = await world();
    const nth = (n: number) => attempt(n, { nonce: null, fee: feeCaps(n) });
    for (let n = 1; n <= attemptsMax; n += 1)
      await record(first, [signed(nth(n)), died(n, { reason: 'validityPassed', detail: 'height 9' })]);
    assert.equal(await refusal(sign()), 'attemptsSpent');
    assert.equal(around.signatures, 0);
    await accepted(retryPayout(deps(), said, by));
    await accepted(sign());
  });

  it('accepts one that fell short, or has it paid again if nothing arrived', async () => {
    const { sign, deps, record, load, refusal } = await world();
    await accepted(sign());
    const { attempts = [] } = (await load()).payout ?? {};
    const signing = attempts[0]?.signed ?? attempt();
    await record(first, [short('9.90', signing)]);
    assert.equal(await refusal(sign()), 'illegalStep');
    assert.equal(await refusal(retryPayout(deps(), said, by)), 'illegalStep');
    await accepted(acceptPayout(deps(), said, by));
    assert.equal((await load()).payout?.settled?.hash, signing.hash);
  });

  it('gives a payout up whose receiver cannot receive it, and nothing more is signed; not while an attempt can land', async () => {
    const { sign, deps, load, record, refusal, store } = await world();
    await accepted(sign());
    assert.equal(await refusal(bouncePayout(deps(), said, by)), 'illegalStep');
    await record(first, [died(1, { reason: 'validityPassed', detail: 'height 9' })]);
    await accepted(bouncePayout(deps(), said, by));
    const event = (await store.read(`payment-${first}`)).at(-1);
    assert.partialDeepStrictEqual(event?.data, { code: 'payoutImpossible', note: said.reason });
    assert.equal((await load()).closed?.kind, 'bounced');
    assert.equal(await refusal(sign()), 'illegalStep');
  });

  it('holds a payout, and reports one that does not exist', async () => {
    const { sign, deps, refusal } = await world();
    await accepted(holdPayout(deps(), said, by));
    assert.equal(await refusal(sign()), 'illegalStep');
    assert.equal(await refusal(holdPayout(deps(), { ...said, paymentId: 'nobody' }, by)), 'paymentNotFound');
  });
});
