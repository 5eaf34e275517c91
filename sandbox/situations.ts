/** Possible outcomes of a payment, and the steps that cause them. */
import type { PaymentStatus } from '../domain/payment/view.ts';
import type { PublicPayment, Sent } from './customer.ts';

/** Steps of a situation. Each prints its effect. */
export interface Acts {
  /** An order of the demo merchant. */
  create(more?: Order): Promise<PublicPayment>;
  pay(payment: PublicPayment, sent?: Sent): Promise<void>;
  /** Waits until the payment has one of these statuses, or a later one before the payout. @throws Error if it ends otherwise */
  until(payment: PublicPayment, ...statuses: readonly PaymentStatus[]): Promise<void>;
  /** Waits until this amount has arrived, in the spelling of the API's `amounts.received`. */
  received(payment: PublicPayment, amount: string): Promise<void>;
  /** The payer signs a refund address, and the merchant refunds everything to it. */
  sendBack(payment: PublicPayment): Promise<void>;
  /** EVM chains that run, with a second token where `tokens` is 2. */
  chains(tokens?: number): readonly string[];
  /** True if Stellar runs. */
  hasStellar(): boolean;
}

export interface Order {
  /** In seconds. Default: one hour. */
  readonly life_s?: number;
  readonly chainId?: string;
  /** Paid on another chain than it is paid out on. */
  readonly elsewhere?: boolean;
  /** For the demo wallet, without a key, with equal source and destination chains. */
  readonly keyless?: boolean;
}

export interface Situation {
  readonly name: string;
  readonly says: string;
  /** Final status of the payment, and its errorCode. */
  readonly ends: PaymentStatus;
  readonly errorCode?: string;
  readonly webhooks: 0 | 1 | 2;
  run(acts: Acts): Promise<PublicPayment>;
}

export const price = '2.00';
const half = '1.00';
const more = '3.00';
const stellar = '1500';
/** An address that receives no payment. */
const strangeMemo = '1';
/** Enough time to pay, and short enough to wait for. */
const shortLife_s = 15;

/** Pays once, the requested amount by default, and waits for a status. */
const paid = (
  name: string,
  ends: PaymentStatus,
  webhooks: Situation['webhooks'],
  says: string,
  { order, sent }: { readonly order?: Order; readonly sent?: Sent } = {},
): Situation => ({
  name,
  says,
  ends,
  webhooks,
  async run({ create, pay, until }) {
    const payment = await create(order);
    await pay(payment, sent);
    await until(payment, ends);
    return payment;
  },
});

/** Pays money that does not count, and waits for the end. */
const wrong = (
  name: string,
  errorCode: string,
  says: string,
  order: (acts: Acts) => Order,
  sent: (acts: Acts, payment: PublicPayment) => Sent,
): Situation => ({
  name,
  says,
  ends: 'payment_bounced',
  errorCode,
  webhooks: 0,
  async run(acts) {
    const payment = await acts.create({ life_s: shortLife_s, ...order(acts) });
    await acts.pay(payment, sent(acts, payment));
    await acts.until(payment, 'payment_bounced');
    return payment;
  },
});

const first = (names: readonly string[], what: string): string => {
  const [name] = names;
  if (name === undefined) throw new Error(`this sandbox has no ${what}: name more in SANDBOX_CHAINS`);
  return name;
};

export const situations: readonly Situation[] = [
  {
    name: 'payment_unpaid',
    says: 'an order that nobody has paid yet',
    ends: 'payment_unpaid',
    webhooks: 0,
    run: ({ create }) => create(),
  },
  paid('payment_started', 'payment_started', 0, 'money is seen, not final yet'),
  paid('payment_payin_completed', 'payment_payin_completed', 1, 'the money is final: the first webhook'),
  paid('payment_bridging', 'payment_bridging', 1, 'the payout is ordered on another chain, and not signed yet', {
    order: { elsewhere: true },
  }),
  paid('payment_payout_started', 'payment_payout_started', 1, 'the payout is signed'),
  paid('payment_payout_completed', 'payment_payout_completed', 2, 'the payout is final: the second webhook'),
  paid('payment_completed', 'payment_completed', 2, 'a payment without a key whose two chains are one', {
    order: { keyless: true },
  }),
  {
    name: 'payment_expired',
    says: 'nobody pays in time',
    ends: 'payment_expired',
    webhooks: 0,
    async run({ create, until }) {
      const payment = await create({ life_s: shortLife_s });
      await until(payment, 'payment_expired');
      return payment;
    },
  },
  {
    name: 'payment_refunded',
    says: 'too little came; its payer signs where to, and the merchant sends it back',
    ends: 'payment_refunded',
    errorCode: 'amountTooLow',
    webhooks: 0,
    async run({ create, pay, until, sendBack }) {
      const payment = await create({ life_s: shortLife_s });
      await pay(payment, { amount: half });
      await until(payment, 'payment_bounced');
      await sendBack(payment);
      await until(payment, 'payment_refunded');
      return payment;
    },
  },
  {
    name: 'underpaid',
    says: 'half of it comes, the rest may follow',
    ends: 'payment_started',
    webhooks: 0,
    async run({ create, pay, received }) {
      const payment = await create();
      await pay(payment, { amount: half });
      await received(payment, half);
      return payment;
    },
  },
  wrong(
    'underpaid_bounced',
    'amountTooLow',
    'half of it comes, and then the time is over',
    () => ({}),
    () => ({ amount: half }),
  ),
  {
    name: 'split',
    says: 'two transfers that add up',
    ends: 'payment_payout_completed',
    webhooks: 2,
    async run({ create, pay, received, until }) {
      const payment = await create();
      await pay(payment, { amount: half });
      await received(payment, half);
      await pay(payment, { amount: half });
      await until(payment, 'payment_payout_completed');
      return payment;
    },
  },
  paid('overpaid', 'payment_payout_completed', 2, 'more than it asks for: what was agreed is paid out, the rest held', {
    sent: { amount: more },
  }),
  {
    name: 'paid_twice',
    says: 'the same again after it was paid: held',
    ends: 'payment_payout_completed',
    webhooks: 2,
    async run({ create, pay, until, received }) {
      const payment = await create();
      await pay(payment);
      await until(payment, 'payment_payout_completed');
      await pay(payment);
      await received(payment, '4.00');
      return payment;
    },
  },
  {
    name: 'late',
    says: 'all of it, when the time is over',
    ends: 'payment_bounced',
    errorCode: 'latePayin',
    webhooks: 0,
    async run({ create, pay, until }) {
      const payment = await create({ life_s: shortLife_s });
      await until(payment, 'payment_expired');
      await pay(payment);
      await until(payment, 'payment_bounced');
      return payment;
    },
  },
  wrong(
    'wrong_token',
    'wrongToken',
    'USDT instead of USDC',
    ({ chains }) => ({ chainId: first(chains(2), 'chain with two tokens') }),
    () => ({ tokenSymbol: 'USDT' }),
  ),
  wrong(
    'wrong_chain',
    'wrongChain',
    'the right token and address, on another chain',
    () => ({}),
    ({ chains }, { source }) => ({
      chainId: first(
        chains().filter((id) => id !== source.chainId),
        'second EVM chain',
      ),
    }),
  ),
  {
    name: 'unmatched',
    says: 'on Stellar, with a memo that is no payment’s: npm run unmatched shows it',
    ends: 'payment_unpaid',
    webhooks: 0,
    async run({ create, pay, hasStellar }) {
      if (!hasStellar()) throw new Error('this sandbox has no Stellar: name 1500 in SANDBOX_CHAINS');
      const payment = await create({ chainId: stellar });
      await pay(payment, { memo: strangeMemo });
      return payment;
    },
  },
];
