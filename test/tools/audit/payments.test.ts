/** Payments whose events no decision wrote, as the log alone reveals: the audit finds each, and names stream and event. */
import assert from 'node:assert/strict';
import {
  attempt,
  digits,
  hashOf,
  merchantWallet,
  payin,
  refundAttempt,
  refundRequested,
  refundSigned,
  signed,
} from '../../support/payments.ts';
import { honest, instead, moved, on, paymentA, paymentB, showing, shown } from './honest.ts';
import { audit, type Ground, pointed, type Said, written } from './world.ts';

const tell = async (said: readonly Said[], grounds: readonly Ground[] = shown) =>
  pointed(await audit({ log: written(said), grounds }));
const funding = (said: object) => instead(honest, paymentA, 'PaymentFunded', () => said);

describe('the audit of payments finds', () => {
  it('one that is funded with more than arrived, twice with the same, or by no payin', async () => {
    const { txHash } = payin();
    const [own, other] = [`8453:${txHash}:0`, `8453:${hashOf('none')}:0`];
    const twice = { transferIds: [own, own], received: digits('20.02'), excess: digits('10.01'), rule: 'overpaid' };
    assert.deepEqual(await tell(funding({ received: digits('20.02'), excess: digits('10.01'), rule: 'overpaid' })), [
      `fundingWrong ${paymentA} 3`,
    ]);
    assert.deepEqual(await tell(funding(twice)), [`fundingWrong ${paymentA} 3`]);
    assert.deepEqual(await tell(funding({ transferIds: [other] })), [`fundingWrong ${paymentA} 3`]);
  });

  it('one that is funded before its money is final', async () => {
    const said = honest.filter(({ stream, event }) => stream !== paymentA || event.type !== 'PayinConfirmed');
    assert.ok((await tell(said)).includes(`fundingWrong ${paymentA} 2`));
  });

  it('a unit that is in no part of the received amount, and an excess where none is allowed', async () => {
    assert.deepEqual(await tell(funding({ dust: '1' })), [`splitWrong ${paymentA} 3`]);
    const kept = { received: digits('10.01'), payout: digits('9.00'), excess: digits('1.00') };
    assert.ok((await tell(funding(kept))).includes(`splitWrong ${paymentA} 3`));
  });

  it('a payout below the agreed amount', async () => {
    const less = { payout: digits('9.00'), dust: digits('1.00') };
    assert.ok((await tell(funding(less))).includes(`payoutWrong ${paymentA} 3`));
  });

  it('a second signature under another number while the first one can land', async () => {
    const at = honest.findIndex(({ stream, event }) => stream === paymentA && event.type === 'PayoutConfirmed');
    const second = signed(attempt(2, { nonce: '12' }));
    const found = await tell(honest.toSpliced(at, 0, ...on(paymentA, second)));
    assert.ok(found.includes(`signedTwice ${paymentA} 6`), found.join());
  });

  it('a signature behind a payout that has landed', async () => {
    const found = await tell([...honest, ...on(paymentA, signed(attempt(2, { nonce: '12' })))]);
    assert.deepEqual(found, [`signedTwice ${paymentA} 7`]);
  });

  it('a payout that is settled by a transaction that nobody signed', async () => {
    const other = hashOf('somebody’s');
    const said = instead(honest, paymentA, 'PayoutConfirmed', () => ({ hash: other }));
    const found = await tell(said, showing(shown, 1, moved(other, 205, '-10.00', merchantWallet)));
    assert.ok(found.includes(`illegalEvent ${paymentA} 6`), found.join());
  });

  it('a payment that is created or funded twice, and a payout without an order', async () => {
    const [created] = honest.filter(({ stream }) => stream === paymentA);
    const funded = honest.find(({ stream, event }) => stream === paymentA && event.type === 'PaymentFunded');
    assert.ok(created && funded);
    assert.deepEqual(await tell([...honest, created]), [`illegalEvent ${paymentA} 7`]);
    assert.deepEqual(await tell([...honest, funded]), [`illegalEvent ${paymentA} 7`]);
    const unordered = honest.filter(({ stream, event }) => stream !== paymentA || event.type !== 'PayoutRequested');
    assert.ok((await tell(unordered)).includes(`illegalEvent ${paymentA} 4`));
  });

  it('a refund to another receiver than ordered, or with another number', async () => {
    const elsewhere = { ...refundAttempt(1, '2.00', { nonce: '8' }), receiver: merchantWallet };
    const said = instead(honest, paymentB, 'RefundSigned', () => refundSigned(1, elsewhere).data);
    assert.ok((await tell(said)).includes(`payoutWrong ${paymentB} 7`));
    const skipped = [...honest, ...on(paymentB, refundRequested('0.00', { refund: 3, reason: 'excess' }))];
    assert.ok((await tell(skipped)).includes(`illegalEvent ${paymentB} 9`));
  });
});
