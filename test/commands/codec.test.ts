import assert from 'node:assert/strict';
import { eventCodec, streamPrefixes } from '../../commands/codec.ts';
import { knownEvent, NewerEvent, Unavailable } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { categories } from '../../domain/streams.ts';
import { created, done, event, minute, payin } from '../support/payments.ts';

const broken = { name: 'InvariantBroken' };
const stored = (over: Partial<StoredEvent>): StoredEvent => ({
  stream: 'payment-p',
  revision: 0n,
  position: 0n,
  id: 'id',
  type: 'PaymentCreated',
  data: created().data,
  metadata: { prev: null, at: minute(0), cause: 'test', appId: null, schemaVersion: 1 },
  ...over,
});

/** Returns the event with the field at the path replaced. */
function having({ type, data }: PaymentEvent, path: string, value: unknown) {
  const copy = structuredClone(data) as Record<string, unknown>;
  const fields = path.split('.');
  const last = fields.pop() ?? '';
  const holder = fields.reduce((part, field) => part[field] as Record<string, unknown>, copy);
  holder[last] = value;
  return { type, data: copy };
}

describe('the codec', () => {
  it('knows each category of streams', () => {
    const kinds = [
      'payment',
      'payoutBatch',
      'treasury',
      'operation',
      'relay',
      'relayGas',
      'rebalance',
      'floatPlan',
      'books',
      'addressBook',
      'allowance',
      'merchant',
      'webhook',
      'unmatched',
      'webhookTypes',
      'sealing',
      'heads',
      'credit',
      'cashback',
      'link',
      'signature',
      'fundingUse',
      'moneyUse',
      'signingHour',
    ];
    assert.deepEqual(
      streamPrefixes,
      kinds.map((kind) => `${kind}-`),
    );
    const versions = categories.map((category) => eventCodec.schemaVersion(category));
    assert.deepEqual(versions, [12, 1, 7, 4, 3, 1, 2, 2, 2, 1, 1, 8, 3, 4, 1, 2, 1, 1, 3, 1, 1, 1, 1, 1]);
    assert.throws(() => eventCodec.schemaVersion('nothing'), broken);
    assert.throws(() => eventCodec.schemaVersion('toString'), broken);
  });

  describe('stores nothing', () => {
    it('except events that fit their schema', () => {
      for (const fit of done) eventCodec.check('payment', fit);
    });

    it('with an unknown type or category', () => {
      assert.throws(() => eventCodec.check('payment', { type: 'PaymentForgotten', data: {} }), broken);
      assert.throws(() => eventCodec.check('treasury', created()), broken);
      assert.throws(() => eventCodec.check('credit', created()), broken);
    });

    it('with a missing field, an additional one, or one of another kind', () => {
      const confirmed = event('PayinConfirmed', { transfer: payin(), confirmedAt: minute(6) });
      const strays: [PaymentEvent, string, unknown][] = [
        [created(), 'deposit.address', undefined],
        [created(), 'customerName', 'Ada'],
        [created(), 'source.amount', 10_010_000],
        [created(), 'source.amount', '-1'],
        [created(), 'source.amount', '10.01'],
        [created(), 'source.amount', '007'],
        [created(), 'source.amount', '1'.repeat(79)],
        [created(), 'source.chainId', 2],
        [created(), 'source.chainId', '8453'],
        [created(), 'source.token.symbol', 'EURC'],
        [created(), 'source.token.decimals', 6.5],
        [created(), 'type', 'exact'],
        [created(), 'expiresAt', 1_795_252_800_000],
        [created(), 'display.title', 'x'.repeat(201)],
        [created(), 'metadata', 'order 7'],
        [created(), 'metadata', ['order', 7]],
        [created(), 'fee.basisPoints', 10_001],
        [confirmed, 'transfer.index', -1],
        [confirmed, 'transfer.blockNumber', 100],
        [confirmed, 'transfer.token.name', 'USD Coin'],
      ];
      for (const [fit, path, value] of strays) {
        const unfit = having(fit, path, value);
        assert.throws(() => eventCodec.check('payment', unfit), broken, `${path} = ${JSON.stringify(value)}`);
      }
    });
  });

  describe('reads', () => {
    it('stored events', () => {
      assert.deepEqual(eventCodec.read(stored({})), created());
    });

    it('nothing of foreign streams', () => {
      assert.equal(eventCodec.read(stored({ stream: '$metadata' })), undefined);
      assert.equal(eventCodec.read(stored({ stream: 'constructor-1' })), undefined);
    });

    it('no event of a newer version: its meaning is unknown, so nothing may be decided without it', () => {
      const newer = [
        { type: 'PaymentForgotten' },
        { type: 'NonceAssigned' },
        { stream: 'credit-1' },
        { metadata: { ...stored({}).metadata, schemaVersion: eventCodec.schemaVersion('payment') + 1 } },
      ].map(stored);
      for (const event of newer) {
        assert.throws(() => eventCodec.read(event), NewerEvent);
        assert.equal(knownEvent(event, eventCodec.read), undefined);
      }
      assert.ok(new NewerEvent(stored({})) instanceof Unavailable, 'the API answers 503, and workers wait');
      const newest = { metadata: { ...stored({}).metadata, schemaVersion: eventCodec.schemaVersion('payment') } };
      assert.equal(eventCodec.read(stored(newest))?.type, 'PaymentCreated');
    });

    it('unknown fields, and passes them on', () => {
      const data = { ...created().data, colour: 'red' };
      assert.deepEqual(eventCodec.read(stored({ data })), { type: 'PaymentCreated', data });
    });
  });
});
