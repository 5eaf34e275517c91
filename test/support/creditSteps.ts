/** Steps of generated histories in which buyers earn and spend credit, and merchants get and withdraw it. */
import { type CashbackEvent, type CashbackState, orderedWithdrawal, receive, withdraw } from '../../domain/cashback.ts';
import { type CreditEvent, type CreditState, earn, spend } from '../../domain/credit.ts';
import type { Decision } from '../../domain/decider.ts';
import type { Instant } from '../../domain/time.ts';
import * as p from './payments.ts';

export const buyer = p.customerWallet;

interface CreditStep {
  readonly kind: string;
  readonly who: number;
  readonly n: number;
  readonly appId: string;
  readonly paymentId: string;
}

export function onCredit(state: CreditState, step: CreditStep, now: Instant): Decision<CreditEvent> {
  const { kind, who, n, appId, paymentId } = step;
  if (kind === 'earn') {
    const earning = { account: buyer, appId, paymentId, chainId: 8453, basisPoints: 500, cents: 100n } as const;
    return earn(state, earning, now);
  }
  const isOrder = n % 2 === 1;
  const order = {
    account: buyer,
    appId,
    digest: p.hashOf('message', who, state.entries.length).slice(2),
    orderId: isOrder ? `order ${n}` : null,
    cents: 1n,
    amountLocal: isOrder ? '0.85' : null,
    currencyLocal: isOrder ? 'EUR' : null,
    about: isOrder ? 'käse "\\u0000"' : null,
    signedAt: now,
  };
  return spend(state, order, 'key', now).events;
}

/** Any payment may arrive here: another spec checks whether it was spent. */
export function onCashback(state: CashbackState, { kind, who }: CreditStep, now: Instant): Decision<CashbackEvent> {
  const { received, open, withdrawn_cents } = state;
  if (kind === 'receive') {
    const digest = p.hashOf('message', who, received + 1).slice(2);
    return receive(state, { ordinal: received + 1, account: buyer, digest, orderId: null, cents: 5n }, now);
  }
  const [oldest] = open;
  if (oldest && open.length > 1) return orderedWithdrawal(state, oldest.paymentId, now);
  const asked = {
    paymentId: `withdrawal ${who} ${withdrawn_cents}`,
    cents: '1',
    chainId: 8453 as const,
    token: p.baseUsdc.token,
    receiverAddress: p.merchantWallet,
    receiverMemo: null,
    fee: { fixed: '0', basisPoints: 0 },
  };
  return withdraw(state, asked, { seen: state, now });
}
