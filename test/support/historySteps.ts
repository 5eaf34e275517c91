import { type Decision, isRefusal } from '../../domain/decider.ts';
import type { LinkTerms } from '../../domain/link.ts';
import { register, requestSettlement, setKeylessCreation } from '../../domain/merchant/app.ts';
import type { MerchantEvent } from '../../domain/merchant/events.ts';
import { issueKey, renameKey, revokeKey } from '../../domain/merchant/keys.ts';
import { defaultChoice, setNotifications } from '../../domain/merchant/notifications.ts';
import type { MerchantState } from '../../domain/merchant/state.ts';
import { acceptInvitation, inviteMember, removeMember } from '../../domain/merchant/team.ts';
import { rotateSecret, setWebhookUrl } from '../../domain/merchant/webhook.ts';
import { expire } from '../../domain/payment/close.ts';
import { createPayment } from '../../domain/payment/create.ts';
import type { PaymentEvent, Transfer } from '../../domain/payment/events.ts';
import { type Fundable, fundable, orderFundedRefund } from '../../domain/payment/fundedRefund.ts';
import { orphanPayin, recordPayin, registerPayin } from '../../domain/payment/payins.ts';
import { payoutLeg, requestPayout } from '../../domain/payment/payout.ts';
import { nextNumber, setRefundAddress } from '../../domain/payment/refundAddress.ts';
import { requestRefunds } from '../../domain/payment/refundOrder.ts';
import type { PaymentState } from '../../domain/payment/state.ts';
import { type Instant, minute_ms } from '../../domain/time.ts';
import { liveAttempts } from '../../domain/transfer/leg.ts';
import { assign, requestRefund, see, type UnmatchedState } from '../../domain/unmatched.ts';
import * as p from './payments.ts';

export const kinds = [
  'create',
  'register',
  'detect',
  'confirm',
  'orphanPayin',
  'requestPayout',
  'sign',
  'bury',
  'confirmPayout',
  'confirmPayout',
  'orphanPayout',
  'expire',
  'refund',
  'webhook',
  'settings',
  'key',
  'unmatched',
  'earn',
  'spend',
  'receive',
  'withdraw',
  'operate',
] as const;

export interface Step {
  readonly kind: (typeof kinds)[number];
  /** Index among a few payments and apps. */
  readonly who: number;
  readonly n: number;
}

const assets = [p.baseUsdc, p.ethereumUsdt, p.bnbUsdc, p.polygonUsdc] as const;
export const pick = <T>(from: readonly T[], n: number): T => from[n % from.length] as T;

export const paymentIdOf = (who: number): string => `0198f3c2-0000-8000-8000-00000000000${who}`;
export const appIdOf = (who: number): string => pick(['wallet_demo', 'merchant_shop'], who);
const addressOf = (who: number): string =>
  `0x90F79bf6EB2c4f870365E785982E1f101E93b9${who.toString(16).padStart(2, '0')}`;

/** Policy that refunds excess money once its sender has proven an address. */
const sendsBack = { under: 'refund', over: 'refund', late: 'refund' } as const;

export const termsOf = ({ who, n }: Step, now: Instant) => {
  const terms = p.terms({
    type: pick(['exactOut', 'exactIn', 'anyAmount'], who),
    from: pick(assets, who),
    to: pick(assets, who + 1),
    fee: { basisPoints: n },
    webhookUrl: pick(['https://shop.example/hook', null], who >> 1),
    keyless: who === 3,
    ...(who % 2 === 0 && { policy: sendsBack }),
  });
  return {
    ...terms,
    cashback_basisPoints: who === 1 ? 0 : 500,
    paymentId: paymentIdOf(who),
    appId: appIdOf(who),
    orderId: who % 2 ? `order ${who} \0\ud800 "\\u0000"` : null,
    metadata:
      who % 3 ? null : { b: '2', a: `käse ${who}`, cart: { lines: [{ n: who, price: 2.5, gift: true }, null] }, 7: '' },
    deposit: { ...terms.deposit, address: addressOf(who) },
    now,
  };
};

export const transferOf = (state: PaymentState, { who, n }: Step) => {
  const source = state?.terms.source;
  const asset = n === 5 ? p.bnbUsdc : (assets.find(({ chain }) => chain.id === source?.chainId) ?? p.baseUsdc);
  const amount = n === 4 ? '3.50' : '20.000';
  return { ...p.payin({ tx: `tx ${who} ${n}`, block: 100 + n, amount, in: asset }), to: addressOf(who) };
};

export const named = (step: Step) => ({ ...step, appId: appIdOf(step.who), paymentId: paymentIdOf(step.who) });

/** Detected first, then decided. */
export function onUnmatched(state: UnmatchedState, { who, n }: Step, transfer: Transfer, now: Instant) {
  if (!state) return see(state, transfer, now);
  const order = { receiverAddress: transfer.from, receiverMemo: null, reason: 'no order', networkFee: 1n };
  return n > 2
    ? requestRefund(state, order, now)
    : assign(state, { paymentId: paymentIdOf(who), appId: appIdOf(who) }, now);
}

export function onPayment(state: PaymentState, step: Step, now: Instant): Decision<PaymentEvent> {
  if (step.kind === 'create') return createPayment(state, termsOf(step, now));
  if (!state) return [];
  const [live] = state.payout ? liveAttempts(state.payout).slice(-1) : [];
  switch (step.kind) {
    case 'register':
      return registerPayin(state, { txHash: p.hashOf('hint', step.n), senderAddress: p.customerWallet, now });
    case 'detect':
    case 'confirm':
      return recordPayin(state, { transfer: transferOf(state, step), final: step.kind === 'confirm', now });
    case 'orphanPayin': {
      const known = pick(state.payins, step.n);
      return known ? orphanPayin(state, { transferId: known.id, blockHash: known.transfer.blockHash }) : [];
    }
    case 'requestPayout':
      return requestPayout(state, now);
    case 'sign':
      return sign(state, step, now);
    case 'bury':
      return live ? payoutLeg.bury(state, 1, [live.attempt], p.nonceUsed) : [];
    case 'confirmPayout':
      return live ? payoutLeg.conclude(state, 1, p.final(p.landed(live, 200 + step.n)), now) : [];
    case 'orphanPayout': {
      const settled = state.payout?.settled;
      return settled ? payoutLeg.orphan(state, 1, { hash: settled.hash, blockHash: settled.blockHash }) : [];
    }
    case 'expire':
      return step.n > 3 ? expire(state, { scannedTo: () => p.minute(61), now }) : [];
    default: {
      const transfer = state.payins[0]?.transfer;
      if (!transfer) return [];
      const proof = p.signedAddress(p.customerWallet, { transfer });
      const set = { address: p.customerWallet, memo: null, number: nextNumber(state, proof.sender), proof, now };
      if (state.refundAddresses.length === 0) return setRefundAddress(state, set);
      const [own] = fundable(state);
      if (own) return fundRefund(state, own, now);
      const decided = requestRefunds(state, p.refundOrder({ to: 'proven', by: 'key' }), p.refundCost, now);
      return isRefusal(decided) ? [] : decided;
    }
  }
}

/** Half of what a sender can be refunded with new money. */
function fundRefund(state: NonNullable<PaymentState>, { sender, amount }: Fundable, now: Instant) {
  const fundingIdOf = (refund: number) => `funding-${refund}-${state.terms.paymentId}`;
  const order = { sender, amount: amount / 2n, signers: [], note: null, key: `fund-${state.fundedRefunds.length}` };
  const decided = orderFundedRefund(state, { ...order, fundingIdOf }, now);
  return isRefusal(decided) ? [] : decided;
}

function sign(state: NonNullable<PaymentState>, { who, n }: Step, now: Instant): Decision<PaymentEvent> {
  if (!state.payout) return [];
  const { chainId, token, receiver, amount } = state.payout.order;
  const number = state.payout.attempts.length + 1;
  const attempt = p.attempt(number, { nonce: `${who}${number}${n}`, receiver });
  return payoutLeg.sign(state, 1, {
    ...attempt,
    chainId: chainId as never,
    token,
    hash: p.hashOf('attempt', who, number),
    amount: amount.toString(),
    signedAt: now,
  });
}

/** Invites, admits and removes one person in turn. */
function teamStep(state: MerchantState, now: Instant): Decision<MerchantEvent> {
  const developerId = 'member-1';
  if (state.members.length > 0) return removeMember(state, developerId);
  if (state.invitations.length > 0) return acceptInvitation(state, developerId, now);
  return inviteMember(state, { developerId, role: 'developer' }, now);
}

export function settings(state: MerchantState, step: Step, now: Instant): Decision<MerchantEvent> {
  const { who, n } = step;
  const appId = appIdOf(who);
  const sealed = { ciphertext: `sealed ${who}`, fingerprint: `sha256:${'ab'.repeat(32)}` };
  if (!state.registration) {
    return register(state, {
      appId,
      developerId: `developer-${who % 2}`,
      idSalt: 'ab'.repeat(32),
      webhookUrl: 'https://shop.example/hook',
      secret: { ...sealed, ciphertext: 'first' },
      settlement: null,
      profile: null,
      now,
    });
  }
  const keyId = `key-${who}`;
  if (step.kind === 'key') {
    const hash = p.hashOf(keyId).slice(2);
    const key = { keyId, scope: 'orders', hash, hint: 'pi_live_…', name: 'till', expiresAt: null } as const;
    if (n === 4) return revokeKey(state, keyId);
    if (n === 5 || n === 2) return teamStep(state, now);
    if (n === 3 && state.notifications.length === 0 && state.developerId !== null)
      return setNotifications(state, state.developerId, { ...defaultChoice, mail: ['largePayment'] });
    return n === 3 ? renameKey(state, keyId, 'new till') : issueKey(state, key, now);
  }
  switch (n) {
    case 0:
      return setWebhookUrl(state, who % 2 ? null : 'https://shop.example/other');
    case 1:
      return rotateSecret(state, { ...sealed, fingerprint: `sha256:${'cd'.repeat(32)}`, rotatedAt: now });
    case 2:
      return setKeylessCreation(state, who % 2 === 0);
    default: {
      const { chain, token } = p.baseUsdc;
      const receiverAddress = n === 3 ? p.merchantWallet : p.customerWallet;
      const wallet = { chainId: chain.id, token, receiverAddress, receiverMemo: null };
      return requestSettlement(state, { changeId: `change-${n}-${now}`, wallet, now, coolDown_ms: minute_ms });
    }
  }
}

export const linkTerms = (linkId: string, appId: string, now: Instant): LinkTerms => ({
  linkId,
  appId,
  type: 'exactOut',
  amount_microUsd: '12500000',
  limits_microUsd: null,
  title: 'Tea',
  description: null,
  source: { chainId: 8453, tokenSymbol: 'USDC' },
  createdAt: now,
});
