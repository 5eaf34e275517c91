import assert from 'node:assert/strict';
import { refundOwner } from '../../../commands/transfers/owners/payments.ts';
import { acceptRefund, callOffRefund, retryRefund } from '../../../commands/transfers/refundsByHand.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import {
  bounced,
  confirmed,
  minute,
  payin,
  refundAttempt,
  refundRequested,
  terms,
  unpaid,
} from '../../support/payments.ts';
import { accepted, processes } from '../../support/processes.ts';

const { paymentId } = terms();
const by = { cause: 'operator:ada' } as const;
const said = { paymentId, refund: 1, reason: 'its address is frozen' };
const key = { kind: 'refund', id: paymentId, part: 1 } as const;
const attempt = refundAttempt(1, '3.00');

async function world() {
  const { start, clock, store, typesIn } = processes({ now: minute(80) });
  const handle = start();
  const history = [
    ...unpaid,
    confirmed(payin({ amount: '3.00' })),
    bounced('amountTooLow', '3.00'),
    refundRequested('3.00'),
  ];
  await accepted(handle(paymentDecider, paymentId, () => history, { cause: 'worker:payins', appId: null }));
  const owner = refundOwner({ handle: start(), clock, proveFunding: async () => async () => {} });
  return { deps: { handle, clock }, owner, store, types: () => typesIn(`payment-${paymentId}`) };
}

const refusal = async (answer: Promise<unknown>) => {
  const outcome = await answer;
  return isRefusal(outcome) ? outcome.refused : 'none';
};

describe('an operator', () => {
  it('calls a refund off that cannot be sent; whoever is about to sign it then does not', async () => {
    const { deps, owner, store } = await world();
    assert.equal((await owner.load(key))?.step.do, 'sign');
    await accepted(callOffRefund(deps, said, by));
    assert.equal((await store.read(`payment-${paymentId}`)).at(-1)?.metadata.cause, 'operator:ada');
    assert.equal(await refusal(owner.sign(key, attempt)), 'illegalStep');
    assert.equal((await owner.load(key))?.step.do, 'done');
    assert.equal((await accepted(callOffRefund(deps, said, by))).appended, 0);
  });

  it('calls none off that was signed a moment before, and none that there is not', async () => {
    const { deps, owner, types } = await world();
    await accepted(owner.sign(key, attempt));
    assert.equal(await refusal(callOffRefund(deps, said, by)), 'illegalStep');
    assert.equal(await refusal(callOffRefund(deps, { ...said, refund: 2 }, by)), 'illegalStep');
    assert.equal(await refusal(callOffRefund(deps, { ...said, paymentId: 'none' }, by)), 'paymentNotFound');
    assert.equal((await types()).at(-1), 'RefundSigned');
  });

  it('has a refund go on that brought nothing, or counts it as sent', async () => {
    const { deps, owner } = await world();
    await accepted(owner.sign(key, attempt));
    const landed = { attempt: 1, hash: attempt.hash, blockNumber: 9n, blockHash: '0x09' };
    await accepted(owner.conclude(key, { ...landed, kind: 'short', arrived: 0n }));
    assert.equal(await refusal(callOffRefund(deps, said, by)), 'illegalStep');
    await accepted(retryRefund(deps, said, by));
    assert.equal((await owner.load(key))?.step.do, 'sign');
    assert.equal(await refusal(acceptRefund(deps, said, by)), 'illegalStep');
  });
});
