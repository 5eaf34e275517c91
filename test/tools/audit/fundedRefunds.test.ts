/** Refunds that an app funds: the refunded payment and the one that pays the refund must say the same. */
import assert from 'node:assert/strict';
import type { DomainEvent } from '../../../domain/decider.ts';
import { transferId } from '../../../domain/payment/events.ts';
import {
  baseUsdc,
  created,
  customerWallet,
  digits,
  event,
  minute,
  payin,
  refundAddressSet,
} from '../../support/payments.ts';
import { honest, on, paymentA, shown, thief, vault } from './honest.ts';
import { audit, pointed, type Said, written } from './world.ts';

const tell = async (said: readonly Said[]) => pointed(await audit({ log: written(said), grounds: shown }));
const fundingId = '0198f3c2-0000-8000-8000-0000000000f1';
const funding = `payment-${fundingId}`;
const refunded = paymentA.slice('payment-'.length);

const signed = refundAddressSet(vault);
const ordered = (change: object = {}): DomainEvent => {
  const known = event('FundedRefundOrdered', {
    ...{ refund: 1, fundingPaymentId: fundingId, chainId: 8453, token: baseUsdc.token, receiverAddress: vault },
    ...{ receiverMemo: null, amount: digits('4.00'), proof: { sender: customerWallet, by: 'signature' } },
    ...{ requestKey: 'key-1', requestedAt: minute(30) },
  });
  return { ...known, data: { ...known.data, ...change } };
};
const ended = (outcome: 'paid' | 'unpaid') => event('FundedRefundEnded', { refund: 1, outcome, endedAt: minute(40) });
/** The payment that funds the refund, before anything came. */
const fundedBy = (change: object = {}, refundOf: object = {}): DomainEvent => {
  const { data } = created({ from: baseUsdc, to: baseUsdc, amount: '4.00' });
  const { destination } = data as unknown as { readonly destination: object };
  return {
    type: 'PaymentCreated',
    data: {
      ...data,
      paymentId: fundingId,
      destination: { ...destination, receiverAddress: vault, ...change },
      refundOf: { paymentId: refunded, refund: 1, ...refundOf },
    },
  };
};
const log = (onA: readonly DomainEvent[], onFunding: readonly DomainEvent[] = []): readonly Said[] => [
  ...honest,
  ...on(paymentA, ...onA),
  ...on(funding, ...onFunding),
];

describe('the audit of refunds with new money', () => {
  it('finds nothing where both payments say the same, or the refund ended before its payment existed', async () => {
    assert.deepEqual(await tell(log([signed, ordered()], [fundedBy()])), []);
    assert.deepEqual(await tell(log([signed, ordered(), ended('unpaid')])), []);
    assert.deepEqual(await tell(log([signed, ordered(), ended('unpaid')], [fundedBy()])), []);
  });

  it('finds a refund without the payment that funds it, once it is a day late', async () => {
    assert.deepEqual(await tell(log([signed, ordered()])), [`refundUnfunded ${paymentA} 8`]);
  });

  it('finds a refund that counts as paid and that no payment has paid', async () => {
    assert.deepEqual(await tell(log([signed, ordered(), ended('paid')], [fundedBy()])), [
      `refundUnfunded ${paymentA} 9`,
    ]);
  });

  it('finds a payment that claims a refund that nobody ordered, or pays somebody else or more', async () => {
    assert.deepEqual(await tell(log([], [fundedBy()])), [`refundUnfunded ${funding} 0`]);
    const wrong = [
      fundedBy({ receiverAddress: thief }),
      fundedBy({ amount: digits('4.01') }),
      fundedBy({}, { refund: 2 }),
    ];
    for (const each of wrong)
      assert.deepEqual(await tell(log([signed, ordered()], [each])), [`refundUnfunded ${funding} 0`]);
  });

  it('finds a refund above the price, before the payout, or out of turn', async () => {
    const more = await tell(
      log([signed, ordered({ amount: digits('10.02') })], [fundedBy({ amount: digits('10.02') })]),
    );
    assert.deepEqual(more, [`refundBeyondCap ${paymentA} 8`]);
    const twice = await tell(log([signed, ordered(), ended('unpaid'), ended('unpaid')]));
    assert.deepEqual(twice, [`illegalEvent ${paymentA} 10`]);
    const skipped = await tell(log([signed, ordered({ refund: 2 })], [fundedBy({}, { refund: 2 })]));
    assert.deepEqual(skipped, [`illegalEvent ${paymentA} 8`]);
  });

  it('finds a refund to an address that nobody proved, or confirmed less than the delay before', async () => {
    assert.deepEqual(await tell(log([ordered()], [fundedBy()])), [`refundElsewhere ${paymentA} 7`]);
    const confirmed = (effectiveAt: number) =>
      event('RefundAddressConfirmed', {
        ...{ number: 1, sender: customerWallet, transferId: transferId(payin()), address: vault, memo: null },
        ...{ confirmedBy: 'developer:ann', confirmedAt: minute(9), effectiveAt: minute(effectiveAt) },
      });
    const withdrawn = event('RefundAddressWithdrawn', {
      number: 1,
      withdrawnBy: 'developer:ann',
      withdrawnAt: minute(29),
    });
    const byMerchant = ordered({ proof: { sender: customerWallet, by: 'merchant' } });
    assert.deepEqual(await tell(log([confirmed(30), byMerchant], [fundedBy()])), []);
    assert.deepEqual(await tell(log([confirmed(31), byMerchant], [fundedBy()])), [`refundElsewhere ${paymentA} 8`]);
    assert.deepEqual(await tell(log([confirmed(30), withdrawn, byMerchant], [fundedBy()])), [
      `refundElsewhere ${paymentA} 9`,
    ]);
  });
});
