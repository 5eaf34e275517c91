import type { DomainEvent } from '../../../domain/decider.ts';
import { deliveryIdOf } from '../../../domain/webhook.ts';
import {
  attempt,
  baseUsdc,
  confirmed,
  created,
  customerWallet,
  depositAddress,
  detected,
  digits,
  ethereumUsdc,
  funded,
  hashOf,
  merchantWallet,
  minute,
  payin,
  payoutRequested,
  refundAttempt,
  refundRequested,
  refundSettled,
  refundSigned,
  settled,
  signed,
  treasuryAccount,
} from '../../support/payments.ts';
import { block, type Ground, idAt, type Said, type Shown } from './world.ts';

export const thief = '0x1111111111111111111111111111111111111111';
export const vault = '0x2222222222222222222222222222222222222222';
export const [paymentA, paymentB] = [
  'payment-0198f3c2-0000-8000-8000-000000000001',
  'payment-0198f3c2-0000-8000-8000-00000000000b',
];
export const treasuryStream = `treasury-1-${treasuryAccount}`;
/** Id of A's PayoutConfirmed, which causes a webhook. */
export const eventId = idAt(paymentA, 6n);
/** Id of A's PaymentFunded, which caused an earlier webhook. */
export const fundedId = idAt(paymentA, 3n);
/** The stream of the webhook about the payout. */
export const hook = `webhook-${deliveryIdOf(eventId)}`;
const webhookUrl = 'https://shop.example/hook';
export const usdc = ethereumUsdc.token;
export const gas = 21_000n;
export const cost = { payer: treasuryAccount, fee: gas.toString() };

export const withCost = (event: DomainEvent): DomainEvent => ({ ...event, data: { ...event.data, cost } });
export const on = (stream: string, ...events: readonly DomainEvent[]): Said[] =>
  events.map((event) => ({ stream, event }));

export const late = payin({ tx: 'late', amount: '12.01', block: 120 });
export const payout = attempt(1);
export const back = refundAttempt(1, '2.00', { nonce: '8' });
export const withdrawal = attempt(1, { nonce: '9', amount: '50.00', receiver: vault });
export const own = { chainId: 1, address: vault, memo: null, by: 'ada' };
export const at = minute(1);

export const books = (chainId: number, balances: object, account = treasuryAccount): Said[] =>
  on(`books-${chainId}-${account}`, {
    type: 'BooksOpened',
    data: {
      chainId,
      account,
      blockNumber: '10',
      blockHash: hashOf('block', 10),
      balances,
      openedAt: minute(0),
    },
  });

/** Two payments: one overpaid by another payer, a refund of the excess, an empty sweep, a withdrawal, two webhooks of A. */
export const honest: readonly Said[] = [
  ...books(1, { [usdc.address]: digits('1000.00'), coin: '1000000' }),
  ...books(8453, { [baseUsdc.token.address]: digits('1000.00'), coin: '1000000' }),
  ...on('addressBook-treasury', {
    type: 'AddressAdded',
    data: { ...own, label: 'vault', usableFrom: minute(0), addedAt: minute(0) },
  }),
  ...on(
    paymentA,
    createdAs(paymentA),
    detected(),
    confirmed(),
    funded(),
    payoutRequested(),
    signed(payout),
    withCost(settled(payout)),
  ),
  ...on(
    paymentB,
    createdAs(paymentB),
    confirmed(late),
    funded([late], { received: '12.01', excess: '2.00', rule: 'overpaid' }),
    payoutRequested(),
    signed(attempt(1, { nonce: '10' })),
    withCost(settled(attempt(1, { nonce: '10' }), 210)),
    refundRequested('2.00', { reason: 'excess' }),
    refundSigned(1, back),
    withCost(refundSettled(1, back)),
  ),
  ...on(
    'operation-w1',
    {
      type: 'OperationOrdered',
      data: {
        kind: 'withdrawal',
        chainId: 1,
        account: treasuryAccount,
        token: usdc,
        receiver: vault,
        receiverMemo: null,
        amount: digits('50.00'),
        value_microUsd: '50000000',
        approvals: 0,
        reason: 'salaries',
        by: 'ada',
        orderedAt: at,
      },
    },
    { type: 'OperationSigned', data: { ...withdrawal, signedAt: minute(8) } },
    withCost({ type: 'OperationConfirmed', data: { ...landedData(withdrawal, 220) } }),
  ),
  ...on(`webhook-${deliveryIdOf(fundedId)}`, {
    type: 'WebhookSendStarted',
    data: {
      ...webhookStart(deliveryIdOf(fundedId)).data,
      eventType: 'payment_payin_completed',
      eventId: fundedId,
      eventRevision: '3',
    },
  }),
  ...on(hook, webhookStart(deliveryIdOf(eventId))),
];

/** A's events cause webhooks. */
export function createdAs(stream: string): DomainEvent {
  const { data } = created({ webhookUrl: stream === paymentA ? webhookUrl : null });
  return { type: 'PaymentCreated', data: { ...data, paymentId: stream.slice('payment-'.length) } };
}
export function landedData({ hash }: { readonly hash: string }, number: number) {
  return { attempt: 1, hash, blockNumber: String(number), blockHash: hashOf('block', number), confirmedAt: minute(9) };
}
export function webhookStart(deliveryId: string): DomainEvent {
  return {
    type: 'WebhookSendStarted',
    data: {
      deliveryId,
      kind: 'automatic',
      firstDeliveryId: null,
      ordinal: 0,
      paymentId: paymentA.slice(8),
      appId: 'wallet_demo',
      eventType: 'payment_payout_completed',
      url: webhookUrl,
      eventId,
      eventRevision: '6',
      startedAt: minute(10),
    },
  };
}

export function testStart(deliveryId: string): DomainEvent {
  const { data } = webhookStart(deliveryId);
  return {
    type: 'WebhookSendStarted',
    data: { ...data, kind: 'test', eventType: 'webhook_test', paymentId: null, eventId: null, eventRevision: null },
  };
}

export const moved = (
  txHash: string,
  number: number,
  amount: string,
  counterparty: string,
  over: Partial<Shown> = {},
): Shown => {
  const units = BigInt(digits(amount.replace('-', ''))) * (amount.startsWith('-') ? -1n : 1n);
  return {
    account: treasuryAccount,
    txHash,
    ...block(number),
    nonce: null,
    outgoing: units < 0n,
    succeeded: true,
    fee: units < 0n ? gas : 0n,
    changes: [{ asset: usdc.address, amount: units, counterparty }],
    ...over,
  };
};
export const onBase = (shown: Shown): Shown => ({
  ...shown,
  changes: shown.changes.map((change) => ({ ...change, asset: baseUsdc.token.address })),
});

/** The chains' data for it. */
export const shown: readonly [Ground, Ground] = [
  {
    chainId: 1,
    transactions: [
      moved(payout.hash, 200, '-10.00', merchantWallet),
      moved(attempt(1, { nonce: '10' }).hash, 210, '-10.00', merchantWallet),
      moved(withdrawal.hash, 220, '-50.00', vault),
    ],
    holds: { [usdc.address]: BigInt(digits('930.00')), coin: 1_000_000n - 3n * gas },
  },
  {
    chainId: 8453,
    transactions: [
      onBase(moved(payin().txHash, 100, '10.01', customerWallet, { account: depositAddress })),
      onBase(moved(late.txHash, 120, '12.01', customerWallet, { account: depositAddress })),
      onBase(moved(back.hash, 200, '-2.00', customerWallet)),
    ],
    holds: { [baseUsdc.token.address]: BigInt(digits('998.00')), coin: 1_000_000n - gas },
  },
];

/** Replaces the transaction with the same hash on a ground, or adds it. */
export function showing(
  [ethereum, base]: readonly [Ground, Ground],
  chainId: 1 | 8453,
  extra: Shown,
): readonly [Ground, Ground] {
  const change = (ground: Ground): Ground =>
    ground.chainId === chainId
      ? { ...ground, transactions: [...ground.transactions.filter(({ txHash }) => txHash !== extra.txHash), extra] }
      : ground;
  return [change(ethereum), change(base)];
}

/** Replaces the first event of a type in a stream. */
export function instead(said: readonly Said[], stream: string, type: string, change: (data: never) => object): Said[] {
  return said.map((each) =>
    each.stream === stream && each.event.type === type
      ? { stream, event: { type, data: { ...each.event.data, ...change(each.event.data as never) } } }
      : each,
  );
}

export const without = (said: readonly Said[], stream: string, ...types: readonly string[]): Said[] =>
  said.filter((each) => each.stream !== stream || !types.includes(each.event.type));
