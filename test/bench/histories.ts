/** The ordinary life of a payment, decided by the product's own commands and decisions. */
import { createHash } from 'node:crypto';
import { createPayment } from '../../commands/createPayment.ts';
import type { Handle } from '../../commands/handle.ts';
import type { Clock } from '../../commands/ports.ts';
import { signWebhook } from '../../commands/sendWebhook.ts';
import { chainOf } from '../../domain/chains.ts';
import { type Decision, isRefusal } from '../../domain/decider.ts';
import type { PaymentEvent, Transfer } from '../../domain/payment/events.ts';
import { recordPayin } from '../../domain/payment/payins.ts';
import { payoutLeg, requestPayout } from '../../domain/payment/payout.ts';
import { type Payment, type PaymentState, paymentDecider } from '../../domain/payment/state.ts';
import { epochMs } from '../../domain/time.ts';
import type { SignedAttempt } from '../../domain/transfer/shapes.ts';
import {
  deliveryIdOf,
  recordOutcome,
  sentByItself,
  startSend,
  type WebhookState,
  webhook,
} from '../../domain/webhook.ts';
import { createEvmDeposits } from '../../src/chains/evm/addresses.ts';
import { familyAddresses } from '../../src/chains/families.ts';
import { randomIds } from '../../src/process/system.ts';
import { freePayouts } from '../support/payoutCosts.ts';

export interface Histories {
  /** Steps of each payment, in order; each step is one append. */
  readonly steps: readonly ((n: number) => Promise<void>)[];
}

const appId = 'wallet_demo';
const treasury = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const customer = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const receiver = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const facts = { cause: 'worker:bench', appId } as const;
const chain = chainOf(8453);

const hashOf = (...parts: readonly unknown[]): string => `0x${createHash('sha256').update(parts.join()).digest('hex')}`;

/** Events that cause webhooks: their type and revision in each payment's stream. */
const news = {
  PaymentFunded: { eventType: 'payment_payin_completed', eventRevision: '3' },
  PayoutConfirmed: { eventType: 'payment_payout_completed', eventRevision: '6' },
} as const;
const isTold = (n: number): boolean => n % 4 === 0;

/** Eight events on average: every fourth payment causes two webhooks. @param idOf returns the id of a stream's event of a type */
export function histories(handle: Handle, clock: Clock, idOf: (stream: string, type: string) => string): Histories {
  const ids = new Map<number, string>();
  const deps = {
    handle,
    clock,
    ids: randomIds,
    addresses: familyAddresses,
    deposits: { evm: createEvmDeposits({ treasury }) },
    canReceive: {},
    feeOf: () => ({ fixed_microUsd: 10_000n, basisPoints: 10 }),
    payoutCostOf: freePayouts,
    offers: () => true,
    checkRoute: () => undefined,
  };
  const token = chain.tokens[0];
  if (!token) throw new Error(`${chain.name} has a token`);

  async function create(n: number): Promise<void> {
    const side = { chainId: chain.id, tokenSymbol: token?.symbol ?? '' };
    const webhookUrl = isTold(n) ? 'https://shop.example/hook' : null;
    const app = { appId, idSalt: 'ab'.repeat(32), webhookUrl, settlement: null };
    const created = await createPayment(
      deps,
      {
        appId,
        orderId: `order-${n}`,
        type: 'exactOut',
        intent: null,
        display: { title: 'Coffee beans', description: null, currency: 'USD' },
        metadata: { table: '7' },
        source: side,
        destination: { ...side, amount: `${(n % 90) + 10}.00`, receiverAddress: receiver },
      },
      app,
      { keyless: false, cause: facts.cause },
    );
    if (isRefusal(created)) throw new Error(created.message);
    ids.set(n, created.payment.terms.paymentId);
  }

  const decide = (decision: (payment: Payment, n: number) => Decision<PaymentEvent>) => async (n: number) => {
    const onState = (state: PaymentState) => (state ? decision(state, n) : []);
    const handled = await handle(paymentDecider, ids.get(n) ?? '', onState, facts);
    if (isRefusal(handled)) throw new Error(handled.message);
  };

  const seen = (final: boolean) =>
    decide((p, n) => recordPayin(p, { transfer: transferTo(p, n, token, clock), final, now: clock.now() }));

  const tell = (type: keyof typeof news, outcome: boolean) => async (n: number) => {
    if (!isTold(n)) return;
    const paymentId = ids.get(n) ?? '';
    const eventId = idOf(`payment-${paymentId}`, type);
    const deliveryId = deliveryIdOf(eventId);
    const start = {
      deliveryId,
      ...sentByItself,
      paymentId,
      appId,
      ...news[type],
      url: 'https://shop.example/hook',
      eventId,
      startedAt: clock.now(),
    };
    const request = signWebhook({ deliveryId, body: Buffer.from('{}'), secret: 'secret' }, epochMs(clock.now()));
    const got = { statusCode: 200, error: null, responsePreview: 'ok', duration_ms: 31 };
    const answer = { ...got, request, finishedAt: clock.now() };
    const write = (s: WebhookState) => (outcome ? recordOutcome(s, answer) : startSend(s, start));
    await handle(webhook, deliveryId, write, { ...facts, expectNew: !outcome });
  };

  return {
    steps: [
      create,
      seen(false),
      seen(true),
      decide((p) => requestPayout(p, clock.now())),
      decide((p, n) => payoutLeg.sign(p, 1, attemptOf(p, n, clock))),
      decide((p, n) =>
        payoutLeg.conclude(
          p,
          1,
          { kind: 'final', ...landed(n), blockNumber: BigInt(landed(n).blockNumber) },
          clock.now(),
        ),
      ),
      ...(['PaymentFunded', 'PayoutConfirmed'] as const).flatMap((type) => [tell(type, false), tell(type, true)]),
    ],
  };
}

function transferTo({ terms }: Payment, n: number, token: Transfer['token'], clock: Clock): Transfer {
  return {
    chainId: chain.id,
    txHash: hashOf('payin', n),
    index: 0,
    blockNumber: String(1_000 + n),
    blockHash: hashOf('block', n),
    blockTime: clock.now(),
    token,
    from: customer,
    to: terms.deposit.address,
    amount: (terms.source.amount ?? 0n).toString(),
  };
}

function attemptOf({ payout }: Payment, n: number, clock: Clock): SignedAttempt {
  if (!payout) throw new Error('the payout was requested');
  const { chainId, token, receiver, amount } = payout.order;
  return {
    attempt: 1,
    chainId: chainId as SignedAttempt['chainId'],
    account: treasury,
    nonce: String(n),
    hash: hashOf('payout', n),
    bytes: `0x${'02f8b0'.repeat(60)}`,
    validUntil: null,
    fee: { maxFeePerGas: '1000000', maxPriorityFeePerGas: '1000', gas: '65000' },
    token,
    receiver,
    receiverMemo: null,
    amount: amount.toString(),
    signedAt: clock.now(),
  };
}

const landed = (n: number) => ({
  attempt: 1,
  hash: hashOf('payout', n),
  blockNumber: String(2_000 + n),
  blockHash: hashOf('landed', n),
});

/** Chain data of a payment's payout. */
export const paidOut = (n: number) => ({
  ...landed(n),
  account: treasury,
  receiver,
  units: BigInt((n % 90) + 10) * 10n ** BigInt(chain.tokens[0]?.decimals ?? 0),
});
