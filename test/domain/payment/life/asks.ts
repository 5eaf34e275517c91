/** Every request to a payment, valid or not, as fast-check draws it. */
import fc from 'fast-check';
import { chainOf } from '../../../../domain/chains.ts';
import type { Decision } from '../../../../domain/decider.ts';
import { larger } from '../../../../domain/money.ts';
import type { AmountPolicy } from '../../../../domain/payment/amountPolicy.ts';
import { nextStep } from '../../../../domain/payment/backing.ts';
import { chooseSource } from '../../../../domain/payment/choose.ts';
import { bounceImpossible, expire } from '../../../../domain/payment/close.ts';
import { type PaymentEvent, type Transfer, transferId } from '../../../../domain/payment/events.ts';
import {
  endFundedRefund,
  fundable,
  openFundedRefund,
  orderFundedRefund,
} from '../../../../domain/payment/fundedRefund.ts';
import { findRegisteredEmpty, orphanPayin, recordPayin, registerPayin } from '../../../../domain/payment/payins.ts';
import * as payouts from '../../../../domain/payment/payout.ts';
import * as refunding from '../../../../domain/payment/payout.ts';
import {
  confirmRefundAddress,
  nextNumber,
  setRefundAddress,
  withdrawRefundAddress,
} from '../../../../domain/payment/refundAddress.ts';
import { type RefundOrder, requestRefunds } from '../../../../domain/payment/refundOrder.ts';
import type { Payment, PaymentState } from '../../../../domain/payment/state.ts';
import { annotatePayment, cancelPayment } from '../../../../domain/payment/tending.ts';
import type { Instant } from '../../../../domain/time.ts';
import { liveAttempts, type TransferLeg } from '../../../../domain/transfer/leg.ts';
import type { SignedAttempt } from '../../../../domain/transfer/shapes.ts';
import {
  type Asset,
  asset,
  baseUsdc,
  bnbUsdc,
  customerWallet,
  depositOn,
  ethereumUsdt,
  feeCaps,
  final,
  hashOf,
  landed,
  merchantWallet,
  minute,
  nonceUsed,
  payin,
  polygonUsdc,
  refundCost,
  refundOrder,
  reverted,
  signedAddress,
  solanaUsdc,
  type TermsSketch,
  treasuryAccount,
} from '../../../support/payments.ts';
import * as batching from './batching.ts';

/** Reads the payment and asks for a decision. The same question can be repeated. */
export interface Ask {
  readonly says: string;
  readonly of: (p: Payment, now: Instant) => (state: PaymentState) => Decision<PaymentEvent>;
}

/** Names the question in a counterexample. */
const ask = (says: string, of: Ask['of']): Ask => Object.assign({ says, of }, { [fc.toStringMethod]: () => says });

const bnbUsdt = asset(56, 'USDT');

const takesAll: AmountPolicy = {
  tolerance: { basisPoints: 100, most_microUsd: '50000' },
  under: 'accept',
  over: 'refund',
  late: 'accept',
  lateWithin_minutes: 30,
  wrongToken: 'accept',
  wrongChain: 'accept',
};

const sendsBack: AmountPolicy = {
  tolerance: { basisPoints: 0, most_microUsd: '0' },
  under: 'refund',
  over: 'refund',
  late: 'refund',
  lateWithin_minutes: 0,
  wrongToken: 'refund',
  wrongChain: 'refund',
};

/** Payments with different rules: decimals, chains, type, key, policy. */
export const sketches: readonly TermsSketch[] = [
  { type: 'exactOut', amount: '10.00' },
  { type: 'exactIn', amount: '10.00', from: bnbUsdc, to: polygonUsdc, fee: { fixed: '0.01', basisPoints: 30 } },
  { type: 'exactOut', amount: '9.99', from: baseUsdc, to: baseUsdc, keyless: true },
  { type: 'anyAmount', from: bnbUsdc, to: ethereumUsdt, fee: { fixed: '0.01', basisPoints: 7 } },
  { type: 'exactOut', amount: '10.00', alternatives: [polygonUsdc, solanaUsdc] },
  { type: 'anyAmount', from: bnbUsdc, to: ethereumUsdt, alternatives: [solanaUsdc, polygonUsdc] },
  { type: 'exactOut', amount: '10.00', policy: takesAll, watched: [polygonUsdc, bnbUsdc] },
  {
    type: 'exactIn',
    amount: '10.00',
    from: bnbUsdc,
    fee: { fixed: '0.01', basisPoints: 30 },
    policy: takesAll,
    watched: [baseUsdc],
  },
  { type: 'anyAmount', from: bnbUsdc, to: ethereumUsdt, policy: takesAll, watched: [polygonUsdc, bnbUsdt] },
  { type: 'exactOut', amount: '10.00', policy: sendsBack, alternatives: [polygonUsdc, solanaUsdc] },
];

/** Possible transfers: each has a separate hash and a fixed amount. */
const comings: readonly { amount: string; at?: Instant; in?: Asset }[] = [
  { amount: '10.02' },
  { amount: '5' },
  { amount: '5.05' },
  { amount: '12.34' },
  { amount: '0.000001' },
  { amount: '10.10', at: minute(75) },
  { amount: '7', in: polygonUsdc },
  { amount: '10.01', in: polygonUsdc },
  { amount: '4', in: solanaUsdc },
  { amount: '6.01', in: solanaUsdc },
  { amount: '10001' },
  { amount: '9.97' },
  { amount: '3', in: bnbUsdt },
  { amount: '5', at: minute(80) },
  { amount: '10.01', at: minute(95) },
];

function coming(p: Payment, which: number, block: number): Transfer {
  const { amount = '1', at = minute(20), in: elsewhere } = comings[which % comings.length] ?? {};
  const source = [baseUsdc, bnbUsdc].find(({ chain }) => chain.id === p.sources[0].chainId) as Asset;
  const asset = elsewhere ?? source;
  return payin({ amount, tx: `tx${which}`, block: 100 + block, at, in: asset });
}

const see = (which: number, block: number, final: boolean): Ask =>
  ask(`see ${which} in block ${block}${final ? ', final' : ''}`, (p, now) => {
    const transfer = coming(p, which, block);
    return (state) => recordPayin(state, { transfer, final, now });
  });

const lose = (which: number, block: number): Ask =>
  ask(`block ${block} with ${which} leaves`, (p) => {
    const transfer = coming(p, which, block);
    return (state) => orphanPayin(state, { transferId: transferId(transfer), blockHash: transfer.blockHash });
  });

/** Ways to sign an attempt: according to the rules, or against one of them. */
const manners = ['right', 'right', 'right', 'cheaper', 'freshNonce', 'usedNonce', 'staleCount', 'otherAmount'] as const;
type Manner = (typeof manners)[number];

function attemptOn(leg: TransferLeg, manner: Manner): SignedAttempt {
  const { order, attempts } = leg;
  const live = liveAttempts(leg).at(-1);
  const used = attempts.map(({ signed }) => Number(signed.nonce));
  const fresh = Math.max(6, ...used) + 1;
  const wantsFresh = manner === 'freshNonce' || (live === undefined && manner !== 'usedNonce');
  const nonce = String(wantsFresh ? fresh : (live?.nonce ?? used[0] ?? fresh));
  const fee = feeCaps(manner === 'cheaper' ? 1 : 100 + attempts.length);
  const amount = manner === 'otherAmount' ? order.amount + 1n : order.amount;
  return {
    attempt: attempts.length + (manner === 'staleCount' ? 0 : 1),
    chainId: order.chainId as SignedAttempt['chainId'],
    account: treasuryAccount,
    nonce,
    hash: hashOf(order.receiver, String(order.amount), manner, nonce, fee),
    bytes: '0x02',
    validUntil: null,
    fee: { ...fee },
    token: order.token,
    receiver: order.receiver,
    receiverMemo: order.receiverMemo,
    amount: String(amount),
    signedAt: minute(30),
  };
}

const none: SignedAttempt = {
  ...attemptOn(
    {
      order: { chainId: 1, token: baseUsdc.token, receiver: merchantWallet, receiverMemo: null, amount: 1n },
      attempts: [],
      settled: null,
      short: null,
      attemptsMax: 100,
      everSettled: false,
    },
    'right',
  ),
};

const signPayout = (manner: Manner): Ask =>
  ask(`sign payout, ${manner}`, (p) => {
    const attempt = p.payout ? attemptOn(p.payout, manner) : none;
    return (state) => payouts.payoutLeg.sign(state, 1, attempt);
  });

const landedOf = (leg: TransferLeg | null | undefined, n: number, block: number) => {
  const signed = leg?.attempts.find((known) => known.signed.attempt === n)?.signed ?? { ...none, attempt: n };
  return landed(signed, 200 + block);
};

const confirmPayout = (n: number, block: number): Ask =>
  ask(`payout attempt ${n} is final in block ${block}`, (p) => {
    const settled = landedOf(p.payout, n, block);
    return (state) => payouts.payoutLeg.conclude(state, 1, final(settled), settled.confirmedAt);
  });

/** Reports that nothing, or half of it, arrived. */
const reportShort = (n: number, arrives: boolean): Ask =>
  ask(`payout attempt ${n} brought ${arrives ? 'half' : 'nothing'}`, (p) => {
    const landed = landedOf(p.payout, n, 0);
    const arrived = arrives ? (p.payout?.order.amount ?? 0n) / 2n : 0n;
    return (state) =>
      payouts.payoutLeg.conclude(state, 1, { ...final(landed), kind: 'short', arrived }, landed.confirmedAt);
  });

/** All attempts of a nonce die together; a mistaken caller may name other ones. */
const buryPayout = (n: number, together: boolean): Ask =>
  ask(`payout attempt ${n} is dead${together ? ' with its nonce' : ''}`, (p) => {
    const nonce = p.payout?.attempts[n - 1]?.signed.nonce;
    const same = (p.payout?.attempts ?? []).filter(({ signed }) => signed.nonce === nonce);
    const numbers = together ? same.map(({ signed }) => signed.attempt) : [n];
    return (state) => payouts.payoutLeg.bury(state, 1, numbers, together ? nonceUsed : reverted);
  });

const orphanPayout = (block: number): Ask =>
  ask(`block ${block} with the payout leaves`, (p) => {
    const { hash } = p.payout?.settled ?? none;
    return (state) => payouts.payoutLeg.orphan(state, 1, { hash, blockHash: hashOf('block', 200 + block) });
  });

const refundLeg = (p: Payment, refund: number) => p.refunds.find((leg) => leg.refund === refund);
const signRefund = (refund: number, manner: Manner): Ask =>
  ask(`sign refund ${refund}, ${manner}`, (p) => {
    const leg = refundLeg(p, refund);
    const attempt = leg ? attemptOn(leg, manner) : none;
    return (state) => refunding.refundLeg.sign(state, refund, attempt);
  });
const buryRefund = (refund: number, n: number): Ask =>
  ask(
    `refund ${refund} attempt ${n} is dead`,
    () => (state) => refunding.refundLeg.bury(state, refund, [n], nonceUsed),
  );
const confirmRefund = (refund: number, n: number): Ask =>
  ask(`refund ${refund} attempt ${n} is final`, (p) => {
    const settled = landedOf(refundLeg(p, refund), n, 0);
    return (state) => refunding.refundLeg.conclude(state, refund, final(settled), settled.confirmedAt);
  });

const shortRefund = (refund: number, n: number, arrives: boolean): Ask =>
  ask(`refund ${refund} attempt ${n} brought ${arrives ? 'half' : 'nothing'}`, (p) => {
    const leg = refundLeg(p, refund);
    const landed = landedOf(leg, n, 0);
    const arrived = arrives ? (leg?.order.amount ?? 0n) / 2n : 0n;
    return (state) =>
      refunding.refundLeg.conclude(state, refund, { ...final(landed), kind: 'short', arrived }, landed.confirmedAt);
  });
const orphanRefund = (refund: number): Ask =>
  ask(`the block with refund ${refund} leaves`, (p) => {
    const { hash, blockHash } = refundLeg(p, refund)?.settled ?? { ...none, blockHash: '' };
    return (state) => refunding.refundLeg.orphan(state, refund, { hash, blockHash });
  });
const decideRefund = (refund: number, what: 'accept' | 'retry' | 'callOff'): Ask =>
  ask(`${what} refund ${refund}`, (_, now) => {
    const { refundLeg, callOffRefund } = refunding;
    const decide = { ...refundLeg, callOff: callOffRefund }[what];
    return (state) => decide(state, refund, 'by hand', now);
  });

/** The subscribers' next step, without failures. */
export const advance: Ask = ask('advance', (p, now) => {
  const step = nextStep(p, now);
  switch (step.do) {
    case 'wait':
      return see(0, 0, true).of(p, now);
    case 'expire':
      return (state) => expire(state, { scannedTo: () => now, now });
    case 'order':
      return (state) => payouts.requestPayout(state, now);
    case 'sign':
      return signPayout('right').of(p, now);
    case 'broadcast':
      return confirmPayout(step.attempts.at(-1)?.attempt ?? 0, 0).of(p, now);
    case 'hold':
      if (p.payout?.short) return (p.payout.short.arrived > 0n ? accept : retry).of(p, now);
      return p.payoutHeld === null ? backAgain(p, now) : retry.of(p, now);
    case 'batched':
      return batching.release(p, now);
    case 'tell':
    case 'done':
      return () => [];
  }
});

/** The transfers that left return in another block and become final there. */
function backAgain({ payins, funded }: Payment, now: Instant): (state: PaymentState) => Decision<PaymentEvent> {
  const lost = payins.find(({ id, phase }) => phase !== 'confirmed' && funded?.transferIds.includes(id));
  return (state) => (lost ? recordPayin(state, { transfer: lost.transfer, final: true, now }) : []);
}

const findEmpty = ask(
  'find the registered payin empty',
  (p, now) => (state) => findRegisteredEmpty(state, p?.registered?.txHash ?? '', now),
);
const register = (which: number): Ask =>
  ask(`register ${which}`, (_, now) => {
    const hint = { txHash: hashOf(`tx${which}`), senderAddress: customerWallet, now };
    return (state) => registerPayin(state, hint);
  });
const address = (which: number): Ask =>
  ask(`refund to ${which}`, (p, now) => {
    const to = which ? customerWallet : merchantWallet;
    const transfer = p.payins[0]?.transfer ?? payin();
    const number = nextNumber(p, customerWallet);
    const signed = { address: to, memo: null, number, proof: signedAddress(to, { transfer, number }), now };
    return (state) => setRefundAddress(state, signed);
  });
const choose = (which: number): Ask =>
  ask(`choose ${which}`, (p, now) => {
    const { chainId, token } = p.sources[which] ?? p.sources[0];
    const deposit = depositOn(chainOf(chainId).family);
    return (state) => chooseSource(state, { chainId, tokenAddress: token.address, deposit, now });
  });
const cancel = ask('cancel', (_, now) => (state) => cancelPayment(state, now));
const annotate = ask(
  'annotate',
  (_, now) => (state) => annotatePayment(state, { note: 'call back', tags: ['vip'] }, now),
);
const confirmAddress = ask('confirm an address', (p, now) => {
  const [first] = p.payins;
  const own = { sender: first?.transfer.from ?? customerWallet, transferId: first?.id ?? '' };
  const asked = { ...own, address: merchantWallet, memo: null, by: 'developer:ann', delay_ms: 60_000, now };
  return (state) => confirmRefundAddress(state, asked);
});
const withdrawAddress = ask('withdraw an address', (p, now) => {
  const number = p.confirmedAddresses.at(-1)?.number ?? 1;
  return (state) => withdrawRefundAddress(state, number, 'developer:ann', now);
});
const fundRefund = ask('fund a refund', (p, now) => {
  const [own] = fundable(p);
  const amount = larger((own?.amount ?? 2n) / 2n, 1n);
  const asked = { amount, signers: [], note: null, key: `fund-${p.fundedRefunds.length}` };
  const sender = own?.sender ?? customerWallet;
  const whole = { ...asked, sender, fundingIdOf: (refund: number) => `funding-${refund}` };
  return (state) => orderFundedRefund(state, whole, now);
});
const endFunding = (outcome: 'paid' | 'unpaid'): Ask =>
  ask(`the funding ends ${outcome}`, (p, now) => {
    const refund = openFundedRefund(p)?.refund ?? 1;
    return (state) => endFundedRefund(state, { refund, outcome, now });
  });
/** Refunds a completed payment with new money, one step of it. */
const advanceFunded: Ask = ask('advance funded refunds', (p, now) => {
  if (openFundedRefund(p)) return endFunding('paid').of(p, now);
  return (p.refundAddresses.length === 0 ? address(1) : fundRefund).of(p, now);
});
const expiry = ask('expire', (_, now) => (state) => expire(state, { scannedTo: () => now, now }));
const hold = ask('hold the payout', (_, now) => (state) => payouts.holdPayout(state, 'paid by hand', now));
const retry = ask('retry the payout', (_, now) => (state) => payouts.payoutLeg.retry(state, 1, 'it was not', now));
const accept = ask('accept the payout', (_, now) => (state) => payouts.payoutLeg.accept(state, 1, 'by hand', now));
const order = ask('order the payout', (_, now) => (state) => payouts.requestPayout(state, now));
const bounce = ask('bounce', (_, now) => (state) => bounceImpossible(state, 'frozen', now));
const asking = (order: RefundOrder, now: Instant) => (state: PaymentState) =>
  requestRefunds(state, order, refundCost, now);
const proven: Partial<RefundOrder> = { to: 'proven', by: 'key' };
const refundAll = ask('refund', (_, now) => asking(refundOrder(), now));
const refundProven = ask('refund to a proven address', (_, now) => asking(refundOrder(proven), now));
const refundExcess = ask('refund the excess', (_, now) => asking(refundOrder({ scope: 'excess' }), now));
const refundPart = (which: number, cents: number): Ask =>
  ask(`refund ${cents} cents of ${which}`, (p, now) => {
    const { chainId, token } = p.payins[which]?.transfer ?? p.sources[0];
    const amount = BigInt(cents) * 10n ** BigInt(token.decimals - 2);
    const scope = { chainId, tokenAddress: token.address, amount };
    return asking(refundOrder({ scope, key: `${p.refunds.length}`, ...(which > 0 && proven) }), now);
  });

/** Takes the next step of each refund. */
const advanceRefunds: Ask = ask('advance refunds', (p, now) => {
  const open = p.refunds.find(({ settled }) => !settled);
  if (p.refundAddresses.length === 0) return address(1).of(p, now);
  if (!open) return refundAll.of(p, now);
  if (open.short) return decideRefund(open.refund, open.short.arrived > 0n ? 'accept' : 'retry').of(p, now);
  const live = liveAttempts(open).at(-1);
  return (live ? confirmRefund(open.refund, live.attempt) : signRefund(open.refund, 'right')).of(p, now);
});

const joinBatch = ask('leave the payout to a batch', batching.join);
const releaseBatch = ask('the batch lets it go', batching.release);

const transfer = fc.nat(comings.length - 1);
const block = fc.nat(1);
const manner = fc.constantFrom(...manners);
const small = fc.integer({ min: 1, max: 3 });

export const asks: fc.Arbitrary<Ask> = fc.oneof(
  { weight: 5, arbitrary: fc.constant(advance) },
  { weight: 5, arbitrary: fc.tuple(transfer, block, fc.boolean()).map((t) => see(...t)) },
  { weight: 2, arbitrary: fc.tuple(transfer, block).map((t) => lose(...t)) },
  { weight: 1, arbitrary: fc.nat(1).map(register) },
  { weight: 1, arbitrary: fc.constant(findEmpty) },
  { weight: 2, arbitrary: fc.nat(2).map(choose) },
  { weight: 2, arbitrary: fc.constant(expiry) },
  { weight: 1, arbitrary: fc.constant(cancel) },
  { weight: 1, arbitrary: fc.constant(annotate) },
  { weight: 1, arbitrary: fc.constantFrom(confirmAddress, confirmAddress, withdrawAddress) },
  { weight: 2, arbitrary: fc.constant(advanceFunded) },
  { weight: 1, arbitrary: fc.constantFrom('paid' as const, 'unpaid' as const).map(endFunding) },
  { weight: 1, arbitrary: fc.constant(order) },
  { weight: 3, arbitrary: manner.map(signPayout) },
  { weight: 2, arbitrary: fc.tuple(small, block).map((t) => confirmPayout(...t)) },
  { weight: 2, arbitrary: fc.tuple(small, fc.boolean()).map((t) => buryPayout(...t)) },
  { weight: 2, arbitrary: block.map(orphanPayout) },
  { weight: 1, arbitrary: fc.constant(bounce) },
  { weight: 2, arbitrary: fc.constantFrom(joinBatch, joinBatch, releaseBatch) },
  { weight: 2, arbitrary: fc.constantFrom(hold, retry, accept) },
  { weight: 2, arbitrary: fc.tuple(small, fc.boolean()).map((t) => reportShort(...t)) },
  { weight: 4, arbitrary: fc.constant(advanceRefunds) },
  { weight: 1, arbitrary: fc.nat(1).map(address) },
  { weight: 1, arbitrary: fc.constantFrom(refundAll, refundProven, refundExcess) },
  { weight: 2, arbitrary: fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 600 })).map((t) => refundPart(...t)) },
  { weight: 3, arbitrary: fc.tuple(small, manner).map((t) => signRefund(...t)) },
  { weight: 3, arbitrary: fc.tuple(small, small).map((t) => buryRefund(...t)) },
  { weight: 2, arbitrary: fc.tuple(small, small).map((t) => confirmRefund(...t)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant(1), fc.constant(1), fc.boolean()).map((t) => shortRefund(...t)) },
  { weight: 1, arbitrary: small.map(orphanRefund) },
  { weight: 1, arbitrary: small.map((refund) => decideRefund(refund, 'callOff')) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constant(1), fc.constantFrom('accept' as const, 'retry' as const))
      .map((t) => decideRefund(...t)),
  },
);
