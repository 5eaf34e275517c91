/** Wrong webhooks: sent twice, or about events that never happened. The audit names their stream. */
import assert from 'node:assert/strict';
import type { Instant } from '../../../domain/time.ts';
import { deliveryIdOf, endpointDeliveryIdOf } from '../../../domain/webhook.ts';
import { minute } from '../../support/payments.ts';
import {
  eventId,
  fundedId,
  honest,
  hook,
  instead,
  on,
  paymentA,
  paymentB,
  shown,
  testStart,
  webhookStart,
  without,
} from './honest.ts';
import { audit, idAt, pointed, type Said, told, written } from './world.ts';

const tell = async (said: readonly Said[]) => told(await audit({ log: written(said), grounds: shown }));
const wrong = [`webhookWrong ${hook}`];
const hookOfFunds = `webhook-${deliveryIdOf(fundedId)}`;
/** The honest log with another content of its webhook. */
const saying = (said: object) => instead(honest, hook, 'WebhookSendStarted', () => said);
/** The honest log with one more webhook in a separate stream. */
const besides = (deliveryId: string, said: object = {}) => [
  ...honest,
  ...on(`webhook-${deliveryId}`, {
    type: 'WebhookSendStarted',
    data: { ...webhookStart(deliveryId).data, ...said },
  }),
];
const other = '0198f3c2-0000-8000-8000-0000000000ee';

describe('the audit of webhooks', () => {
  it('finds one that was sent automatically twice', async () => {
    const found = await tell(besides(other));
    assert.ok(found.includes(`webhookTwice webhook-${other}`), found.join());
    const claimedAgain = await tell([...honest, ...on(hook, webhookStart(deliveryIdOf(eventId)))]);
    assert.deepEqual(claimedAgain, [`webhookTwice ${hook}`]);
  });

  it('finds one that was never sent, once it is a day too late', async () => {
    const unsent = without(honest, hookOfFunds, 'WebhookSendStarted');
    const at = (now: Instant) => audit({ log: written(unsent), grounds: shown, now });
    assert.deepEqual(pointed(await at(minute(10_000))), [`webhookNeverSent ${paymentA} 3`]);
    const happened = unsent.findIndex(({ stream, event }) => stream === paymentA && event.type === 'PaymentFunded');
    // These audits wait one minute for a webhook.
    assert.deepEqual(told(await at(minute(happened + 1 + 1_440))), []);
    assert.deepEqual(told(await at(minute(happened + 1 + 1_441))), [`webhookNeverSent ${paymentA}`]);
  });

  it('finds one that was never sent automatically, though its owner had it sent', async () => {
    const byHand = { kind: 'manual', firstDeliveryId: deliveryIdOf(eventId), ordinal: 1 };
    const said = without(besides(other, byHand), hook, 'WebhookSendStarted');
    assert.deepEqual(await tell(said), [`webhookNeverSent ${paymentA}`]);
  });

  it('finds none missing for other events, or for a payment without an address', async () => {
    const deaf = instead(honest, paymentA, 'PaymentCreated', () => ({ webhookUrl: null }));
    const silent = deaf.filter(({ event }) => event.type !== 'WebhookSendStarted');
    assert.deepEqual(await tell(silent), []);
  });

  it('finds nothing in one that its owner had sent again, nor in a test', async () => {
    const again = { kind: 'manual', firstDeliveryId: deliveryIdOf(eventId), ordinal: 1 };
    assert.deepEqual(await tell(besides(other, again)), []);
    assert.deepEqual(await tell([...honest, ...on(`webhook-${other}`, testStart(other))]), []);
  });

  it('finds one of an event that does not exist', async () => {
    const invented = '0198f3c2-0000-4000-8000-0000000000dd';
    const found = await tell(besides(deliveryIdOf(invented), { eventId: invented }));
    assert.deepEqual(found, [`webhookWrong webhook-${deliveryIdOf(invented)}`]);
  });

  it('finds one of an event that causes no webhook', async () => {
    const signed = idAt(paymentA, 5n);
    const found = await tell(besides(deliveryIdOf(signed), { eventId: signed, eventRevision: '5' }));
    assert.deepEqual(found, [`webhookWrong webhook-${deliveryIdOf(signed)}`]);
  });

  it('finds one of a payment that was never made, and of another one than the event’s', async () => {
    assert.deepEqual(await tell(saying({ paymentId: '0198f3c2-0000-8000-8000-0000000000cc' })), wrong);
    assert.deepEqual(await tell(saying({ paymentId: paymentB.slice('payment-'.length) })), wrong);
  });

  it('finds one that states more than happened: paid out where it was funded, or at another place of the stream', async () => {
    const saidPaidOut = () => ({ eventType: 'payment_payout_completed' });
    assert.deepEqual(await tell(instead(honest, hookOfFunds, 'WebhookSendStarted', saidPaidOut)), [
      `webhookWrong ${hookOfFunds}`,
    ]);
    assert.deepEqual(await tell(saying({ eventRevision: '5' })), wrong);
  });

  it('finds one under another id than its event’s', async () => {
    const said = [...without(honest, hook, 'WebhookSendStarted'), ...on(`webhook-${other}`, webhookStart(other))];
    assert.deepEqual(await tell(said), [`webhookWrong webhook-${other}`]);
    assert.deepEqual(await tell(saying({ deliveryId: other })), wrong);
  });

  it('finds one that went to another address, or in another app’s name', async () => {
    assert.deepEqual(await tell(saying({ url: 'https://thief.example/hook' })), wrong);
    assert.deepEqual(await tell(saying({ appId: 'merchant_other' })), wrong);
  });

  it('finds one of a payment without an address for webhooks', async () => {
    const found = await tell(instead(honest, paymentA, 'PaymentCreated', () => ({ webhookUrl: null })));
    assert.deepEqual(found.toSorted(), [...wrong, `webhookWrong ${hookOfFunds}`].toSorted());
  });

  it('finds one that was sent before its event happened', async () => {
    const start = honest.filter(({ stream }) => stream === hook);
    const rest = honest.filter(({ stream }) => stream !== hook);
    assert.deepEqual(await tell([...start, ...rest]), wrong);
  });

  it('finds one that is falsely marked as a test, or as manual', async () => {
    assert.deepEqual(await tell(besides(other, { kind: 'test', eventType: 'webhook_test' })), [
      `webhookWrong webhook-${other}`,
    ]);
    const invented = { kind: 'manual', firstDeliveryId: other, ordinal: 1, eventId: other };
    assert.deepEqual(await tell(besides(other, invented)), [`webhookWrong webhook-${other}`]);
  });

  it('finds none missing where a payout was confirmed twice: the first one is reported', async () => {
    const confirmed = honest.filter(({ stream, event }) => stream === paymentA && event.type === 'PayoutConfirmed');
    const gone = { type: 'PayoutOrphaned', data: { attempt: 1, blockHash: '0x' } };
    const id = idAt(paymentA, 8n);
    const said = [...honest, ...on(paymentA, gone), ...confirmed];
    assert.ok(!(await tell(said)).some((each) => each.startsWith('webhook')));
    const toldAgain = { ...webhookStart(deliveryIdOf(id)).data, eventId: id, eventRevision: '8' };
    const found = await tell([
      ...said,
      ...on(`webhook-${deliveryIdOf(id)}`, { type: 'WebhookSendStarted', data: toldAgain }),
    ]);
    assert.ok(found.includes(`webhookWrong webhook-${deliveryIdOf(id)}`), found.join());
  });

  describe('further endpoints', () => {
    const endpointId = '4b1c4e2f-97d0-4a3b-8c6e-8f214f1a77b2';
    const books = { endpointId, url: 'https://books.example/', types: ['payment_payout_completed'] };
    const withBooks = instead(honest, paymentA, 'PaymentCreated', () => ({ webhookEndpoints: [books] }));
    const toBooks = (said: readonly Said[], more: object = {}, id = endpointDeliveryIdOf(eventId, endpointId)) => [
      ...said,
      ...on(`webhook-${id}`, {
        type: 'WebhookSendStarted',
        data: { ...webhookStart(id).data, url: books.url, endpointId, ...more },
      }),
    ];
    const stream = `webhook-${endpointDeliveryIdOf(eventId, endpointId)}`;

    it('finds nothing in a delivery to each', async () => {
      assert.deepEqual(await tell(toBooks(withBooks)), []);
    });

    it('finds the one that was never sent', async () => {
      assert.deepEqual(await tell(withBooks), [`webhookNeverSent ${paymentA}`]);
    });

    it('finds one to an endpoint that the payment does not have, or to another address', async () => {
      assert.deepEqual(await tell(toBooks(honest)), [`webhookWrong ${stream}`]);
      assert.deepEqual(await tell(toBooks(withBooks, { url: 'https://thief.example/' })), [`webhookWrong ${stream}`]);
    });

    it('finds one of a type that the endpoint did not choose', async () => {
      const id = endpointDeliveryIdOf(fundedId, endpointId);
      const funded = { eventType: 'payment_payin_completed', eventId: fundedId, eventRevision: '3' };
      assert.deepEqual(await tell(toBooks(toBooks(withBooks), funded, id)), [`webhookWrong webhook-${id}`]);
    });

    it('finds a second one of the same event', async () => {
      const found = await tell(toBooks(toBooks(withBooks), {}, other));
      assert.ok(found.includes(`webhookTwice webhook-${other}`), found.join());
    });
  });

  describe('chosen types', () => {
    const chosen = instead(honest, paymentB, 'PaymentCreated', () => ({
      webhookUrl: 'https://shop.example/hook',
      webhookTypes: ['payment_held', 'payment_refunded'],
    }));
    /** The honest log with a delivery of B's event at that revision. */
    const reporting = (said: readonly Said[], revision: bigint, eventType: string): readonly Said[] => {
      const id = idAt(paymentB, revision);
      const deliveryId = deliveryIdOf(id);
      const place = { eventId: id, eventRevision: String(revision), paymentId: paymentB.slice('payment-'.length) };
      const { data } = webhookStart(deliveryId);
      return [
        ...said,
        ...on(`webhook-${deliveryId}`, { type: 'WebhookSendStarted', data: { ...data, ...place, eventType } }),
      ];
    };
    const refundAt = 8n;
    const payinAt = 1n;
    const streamOf = (revision: bigint): string => `webhook-${deliveryIdOf(idAt(paymentB, revision))}`;
    const webhookFindings = async (said: readonly Said[]) =>
      (await tell(said)).filter((each) => each.endsWith(streamOf(refundAt)) || each.endsWith(streamOf(payinAt)));

    it('finds nothing in a refund that was reported', async () => {
      assert.deepEqual(await webhookFindings(reporting(chosen, refundAt, 'payment_refunded')), []);
    });

    it('finds one of a type that the app did not choose', async () => {
      assert.deepEqual(await webhookFindings(reporting(honest, refundAt, 'payment_refunded')), [
        `webhookWrong ${streamOf(refundAt)}`,
      ]);
    });

    it('finds one that reports money as held which funded the payment', async () => {
      assert.deepEqual(await webhookFindings(reporting(chosen, payinAt, 'payment_held')), [
        `webhookWrong ${streamOf(payinAt)}`,
      ]);
    });
  });
});
