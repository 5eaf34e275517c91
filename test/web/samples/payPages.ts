/** Payment pages, one for each situation, from real histories. */
import type { VNode } from 'preact';
import { isChoiceOpen, isDue } from '../../../domain/payment/choose.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { ownersOf } from '../../../domain/payment/refundOrder.ts';
import { situationOf } from '../../../domain/payment/situation.ts';
import { transactionsOf } from '../../../domain/payment/transactions.ts';
import { viewOf } from '../../../domain/payment/view.ts';
import type { Instant } from '../../../domain/time.ts';
import { walletLinkOf, walletOfferOf } from '../../../src/chains/families.ts';
import { emptyForm } from '../../../web/parts/field.ts';
import type { Mode } from '../../../web/parts/frame.ts';
import type { Language } from '../../../web/parts/language.ts';
import { readWanted, wantedAmount } from '../../../web/pay/choice.ts';
import { troublePage } from '../../../web/pay/layout.ts';
import { sayIn } from '../../../web/pay/messages/index.ts';
import type { PayModel, Shop } from '../../../web/pay/model.ts';
import { payPage } from '../../../web/pay/page.ts';
import { receiptPage } from '../../../web/pay/receipt.ts';
import { refundPage } from '../../../web/pay/refund.ts';
import * as p from '../../support/payments.ts';
import { linkPages, linkPath } from './linkPages.ts';
import type { Say } from './payments.ts';

interface Story {
  readonly history: readonly PaymentEvent[];
  readonly at?: Instant;
  readonly head?: bigint;
  readonly needed?: number | null;
}

const half = p.payin({ amount: '7.50', tx: 'half' });
const much = p.payin({ amount: '12.00', tx: 'much' });
const late = p.payin({ at: p.minute(61), tx: 'late' });
const usdtOnEthereum = p.payin({ in: p.ethereumUsdt, tx: 'usdt' });
const otherToken = { ...p.payin({ tx: 'token' }), token: { ...p.ethereumUsdt.token } };
const some = [...p.unpaid, p.detected(half), p.confirmed(half)];
const tooLow = [...some, p.bounced('amountTooLow', '7.50')];
const overpaid = [
  ...p.unpaid,
  p.detected(much),
  p.confirmed(much),
  p.funded([much], { received: '12.00', excess: '1.99', rule: 'overpaid' }),
];
const refund = p.refundAttempt(1, '7.50');
const refunding = [...tooLow, p.refundAddressSet(), p.refundRequested('7.50'), p.refundSigned(1, refund)];
const closed = p.minute(63);

const solanaDeposit = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';

const onStellar = (history: readonly PaymentEvent[], contract: boolean): readonly PaymentEvent[] =>
  history.map((event) => {
    if (event.type !== 'PaymentCreated') return event;
    const memo = contract ? '00112233445566778899aabbccdd' : '4611686018427387904';
    const deposit = {
      ...event.data.deposit,
      address: 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN',
      memo,
      contract: contract ? 'CCW67TSZV3SSS2HXMBQ5JFGCKJNXKZM7UQUWUZPUTHXSTZLEO7SJMI75' : null,
      contractMemo: contract ? memo : null,
    };
    const source = {
      ...event.data.source,
      senderAddress: contract ? 'GBRPYHIL2CI3FNQ4BXLFMNDLFJUNPU2HY3ZMFSHONUCEOASW7QC7OX2H' : null,
    };
    return {
      ...event,
      data: { ...event.data, deposit, source, intent: contract ? ('stellar_payin_contracts' as const) : null },
    };
  });

const toStellar = [p.created({ from: p.stellarUsdc })];
const toSolana = [p.created({ from: p.solanaUsdc })].map((event) =>
  event.type === 'PaymentCreated'
    ? { ...event, data: { ...event.data, deposit: { ...event.data.deposit, address: solanaDeposit } } }
    : event,
);

/** The buyer pays exactly the price; the merchant bears the fee. */
const priced: p.TermsSketch = {
  type: 'exactIn',
  amount: '18.50',
  fee: { fixed: '0.01', basisPoints: 10 },
  alternatives: [p.polygonUsdc, p.ethereumUsdt, p.bnbUsdc, p.solanaUsdc, p.stellarUsdc],
};
const whole = p.payin({ amount: '18.50', tx: 'whole' });

/** An order of 10.00 with this number of lines. */
const listed = (count: number): readonly PaymentEvent[] =>
  p.unpaid.map((event) => {
    if (event.type !== 'PaymentCreated') return event;
    const lineItems = Array.from({ length: count }, (_, nth) => ({
      name: nth === 0 ? 'Darjeeling First Flush, 250 g, in a tin' : `Shipping and handling, part ${nth}`,
      quantity: nth === 0 ? 2 : 1,
      amount: nth === 0 ? (10 - (count - 1) * 0.5).toFixed(2) : '0.50',
    }));
    return { ...event, data: { ...event.data, display: { ...event.data.display, lineItems } } };
  });

const choosable = [p.created({ alternatives: [p.polygonUsdc, p.ethereumUsdt, p.solanaUsdc, p.stellarUsdc] })];
const chosenSolana = p.chose(p.solanaUsdc, { ...p.terms().deposit, address: solanaDeposit });
const onSolana = p.payin({ in: p.solanaUsdc, tx: 'solana' });

export const stories = {
  waiting: { history: p.unpaid },
  waitingForAny: { history: [p.created({ type: 'anyAmount' })] },
  waitingOnStellar: { history: onStellar(toStellar, false) },
  waitingOnSolana: { history: toSolana },
  waitingForCall: { history: onStellar(toStellar, true) },
  choosing: { history: choosable },
  chosenElsewhere: { history: [...choosable, p.detected(half), chosenSolana] },
  firstFunded: {
    history: [
      ...choosable,
      p.detected(half),
      p.confirmed(half),
      chosenSolana,
      p.detected(onSolana),
      p.confirmed(onSolana),
      p.funded([onSolana], { source: p.solanaUsdc, fromAlternative: true }),
      p.payoutRequested(),
      p.signed(),
      p.settled(),
    ],
  },
  exactIn: { history: [p.created(priced)] },
  exactInElsewhere: { history: [p.created(priced), p.chose(p.polygonUsdc, p.terms().deposit)] },
  exactInCompleted: {
    history: [
      p.created(priced),
      p.detected(whole),
      p.confirmed(whole),
      p.funded([whole], { received: '18.50', sourceAmount: '18.50', fee: '0.0285', payout: '18.4715' }),
      p.payoutRequested('18.4715'),
      p.signed(),
      p.settled(),
    ],
  },
  itemised: { history: listed(3) },
  itemisedLong: { history: listed(12) },
  timeUp: { history: p.unpaid, at: p.minute(61) },
  detected: { history: [...p.unpaid, p.detected()], head: 100n },
  confirming: { history: [...p.unpaid, p.detected()], head: 103n },
  confirmingByTag: { history: [...p.unpaid, p.detected()], head: 103n, needed: null },
  underpaid: { history: some },
  gone: { history: [...p.unpaid, p.detected(), p.orphaned()] },
  paid: { history: p.paid },
  overpaid: { history: [...overpaid, p.payoutRequested(), p.signed(), p.settled()] },
  payingOut: { history: p.sent },
  completed: { history: p.done },
  expired: { history: [...p.unpaid, p.expired()], at: closed },
  late: {
    history: [...p.unpaid, p.expired(), p.detected(late), p.confirmed(late), p.bounced('latePayin', '10.01')],
    at: closed,
  },
  wrongToken: { history: [...p.unpaid, p.detected(otherToken)] },
  wrongChain: { history: [...p.unpaid, p.detected(usdtOnEthereum)] },
  otherSender: { history: [...onStellar(toStellar, true), p.detected(p.payin({ in: p.stellarUsdc, amount: '0.02' }))] },
  wrongChainOver: {
    history: [
      ...p.unpaid,
      p.detected(usdtOnEthereum),
      p.confirmed(usdtOnEthereum),
      p.expired(),
      p.bounced('wrongChain', '10.01'),
    ],
    at: closed,
  },
  tooLow: { history: tooLow, at: closed },
  tooHigh: {
    history: [p.created({ type: 'anyAmount' }), p.detected(), p.confirmed(), p.bounced('amountTooHigh', '10.01')],
  },
  refundAddressKnown: { history: [...tooLow, p.refundAddressSet(p.merchantWallet, { transfer: half })], at: closed },
  unpayable: { history: [...p.paid, p.bounced('payoutImpossible', '10.01')] },
  refunding: { history: refunding, at: closed },
  refunded: { history: [...refunding, p.refundSettled(1, refund)], at: closed },
} as const satisfies Record<string, Story>;
export type StoryName = keyof typeof stories;

export const shop = (say: Say = (text) => text): Shop => ({
  name: say('Tea House'),
  logoUrl: null,
  colour: '#b3541e',
  supportContact: 'help@teahouse.example',
  returnUrl: 'https://teahouse.example/orders/A-1042?status=done',
});

/** @param say returns the texts of other people */
export function payModel(story: Story, language: Language, say: Say = (text) => text, mode: Mode = 'live'): PayModel {
  const { history, at = p.minute(46), head = 103n, needed = 10 } = story;
  const payment = p.paymentAfter(history);
  const view = viewOf(payment, at);
  const situation = situationOf(payment, at, { head, needed });
  const shown = {
    ...view,
    orderId: say('A-1042'),
    title: say('Two pounds of Darjeeling'),
    description: say('First flush'),
    lineItems: view.lineItems?.map((item) => ({ ...item, name: say(item.name) })) ?? null,
  };
  const left = view.sourceAmount === null ? null : (situation.missing?.amount ?? view.sourceAmount);
  return {
    say: sayIn(language),
    mode,
    path: `/pay/${'s'.repeat(43)}`,
    facts: {
      payment: shown,
      situation,
      choiceOpen: isChoiceOpen(payment, at),
      owners: ownersOf(payment),
      transactions: transactionsOf(payment),
      version: `${history.length} ${situation.kind}`,
      now: at,
    },
    shop: shop(say),
    sites: ['https://shop.teahouse.example'],
    walletLink: situation.open ? walletLinkOf(shown, left) : null,
    networkOf: (chainId) => ({
      final_ms: chainId === 1 ? 150_000 : 15_000,
      cost_microUsd: chainId === 1 ? 340_000n : 4_000n,
    }),
    wanted: emptyForm,
    walletOffer: isDue(situation) ? walletOfferOf(shown, left) : null,
    gasFree: false,
    url: `https://pay.example/pay/${'s'.repeat(43)}`,
    refused: false,
    madeWith: null,
  };
}

/** A payment of any amount, after its payer has typed a sum. */
function wanting(language: Language, say: Say | undefined, text: string): PayModel {
  const model = payModel(stories.waitingForAny, language, say);
  const wanted = readWanted(model.facts, text);
  return { ...model, wanted, walletLink: walletLinkOf(model.facts.payment, wantedAmount(wanted)) };
}

function refundPages(model: PayModel): Readonly<Record<string, VNode>> {
  const asking = { ...model, toSign: null, form: emptyForm };
  const { text, sender } = p.signedAddress(p.merchantWallet);
  const toSign = { text, number: 1, sender, address: p.merchantWallet, memo: null, chainId: 8453 as const };
  return {
    refundAsked: refundPage(asking),
    refundWrong: refundPage({ ...asking, form: { values: { to: '0x12' }, errors: { to: 'wrong' } } }),
    refundSigned: refundPage({ ...model, toSign, form: emptyForm }),
    refundUnsigned: refundPage({ ...model, toSign, form: { values: {}, errors: { signature: 'wrong' } } }),
    refundLater: refundPage({ ...model, toSign, form: { values: {}, errors: { '': 'later' } } }),
  };
}

/** Pages by name. @param say returns the texts of other people: specs replace them by hostile ones */
export function payPages(language: Language, say?: Say, mode?: Mode): Readonly<Record<string, VNode>> {
  const models = Object.entries<Story>(stories).map(
    ([name, story]) => [name, payModel(story, language, say, mode)] as const,
  );
  const around = payModel(stories.waiting, language, say, mode);
  const expired = payModel(stories.expired, language, say, mode);
  const low = payModel(stories.tooLow, language, say, mode);
  const bare = { ...around, shop: { name: null, logoUrl: null, colour: null, supportContact: null, returnUrl: null } };
  return {
    ...Object.fromEntries(models.map(([name, model]) => [name, payPage(model)])),
    expiredAgain: payPage({ ...expired, madeWith: { path: linkPath, closed: false } }),
    expiredOfClosed: payPage({ ...expired, madeWith: { path: linkPath, closed: true } }),
    waitingBare: payPage(bare),
    anyAmountWanted: payPage(wanting(language, say, '25.00')),
    anyAmountWrong: payPage(wanting(language, say, 'abc')),
    receipt: receiptPage(payModel(stories.completed, language, say, mode)),
    noReceipt: receiptPage(around),
    ...refundPages(low),
    ...linkPages(around, around.shop, say),
    linkUnknown: troublePage({ ...around, path: linkPath }, 'linkUnknown'),
    unknown: troublePage(around, 'unknown'),
    trouble: troublePage(around, 'trouble', { requestId: 'request-1', again_s: 60 }),
  };
}
