/** The head of a payment's page: where it stands, in a few words, and what happens with the money. */
import type { VNode } from 'preact';
import type { Held, SituationKind } from '../../domain/payment/situation.ts';
import { type Content, html } from '../parts/html.ts';
import { type IconName, icon } from '../parts/icon.ts';
import { notice } from '../parts/notice.ts';
import { chainName } from '../parts/words.ts';
import { isDue, type PayModel, shopName } from './model.ts';
import { sum } from './sum.ts';

/** Amber waits, green is final, red needs somebody, grey is over. None while the amount stands there. */
const signs: Readonly<Record<SituationKind, readonly [state: string, drawing: IconName] | null>> = {
  waiting: null,
  timeUp: ['wait', 'clock'],
  detected: ['wait', 'clock'],
  confirming: ['wait', 'clock'],
  underpaid: ['wait', 'alert'],
  paid: ['ok', 'check'],
  payingOut: ['ok', 'check'],
  completed: ['ok', 'check'],
  expired: ['idle', 'over'],
  late: ['bad', 'alert'],
  wrongToken: ['bad', 'alert'],
  wrongChain: ['bad', 'alert'],
  otherSender: ['bad', 'alert'],
  tooLow: ['bad', 'alert'],
  tooHigh: ['bad', 'alert'],
  unpayable: ['bad', 'alert'],
  refunding: ['wait', 'clock'],
  refunded: ['idle', 'check'],
};

/** The page's title: what happened, in words without markup. */
export function titleOf(model: PayModel): string {
  const { say, facts } = model;
  const { kind, missing } = facts.situation;
  const merchant = shopName(model);
  if (kind === 'underpaid')
    return say.text('underpaidTitle', { amount: missing ? `${missing.amount} ${missing.tokenSymbol}` : '' });
  if (kind !== 'waiting') return say.text(`${kind}Title`);
  const { sourceAmount, sourceTokenSymbol } = facts.payment;
  if (sourceAmount === null) return say.text('payAnyTitle', { merchant });
  return say.text('payTitle', { amount: `${sourceAmount} ${sourceTokenSymbol}`, merchant });
}

export function asked(model: PayModel): VNode {
  const { situation } = model.facts;
  const sign = signs[situation.kind];
  return html`<section class="ask" id="asked" data-live="part">
    ${sign && html`<span class=${`sign ${sign[0]}`}>${icon(sign[1])}</span>`}
    ${headline(model)}
    ${situation.gone && notice('wait', html`<p>${model.say('gone')}</p>`)}
    ${shownHeld(model).map((held) => notice('wait', html`<p>${heldText(model, held)}</p>`))}
  </section>`;
}

function headline(model: PayModel): VNode {
  const { say, facts } = model;
  const { payment, situation } = facts;
  const title = titleOf(model);
  const chain = html`<strong>${chainName(payment.sourceChainId)}</strong>`;
  if (situation.kind === 'waiting') {
    const { sourceAmount, sourceTokenSymbol: token, sourceFee, destinationAmount } = payment;
    const split = sourceFee !== null && destinationAmount !== null && payment.destinationTokenSymbol === token;
    return html`<div><h1 class="visually-hidden">${title}</h1>
      <p class="amount">${sourceAmount === null ? html`<span>${say('anyAmount')} <small>${token}</small></span>` : sum(sourceAmount, token)}</p>
      <p class="on">${say('on', { chain })}${split && html`<span> · ${say('split', { amount: html`<bdi dir="ltr">${destinationAmount}</bdi>`, fee: html`<bdi dir="ltr">${sourceFee}</bdi>` })}</span>`}</p></div>`;
  }
  if (situation.kind === 'underpaid' && situation.missing) {
    const { missing } = situation;
    const of = payment.sourceAmount ?? missing.amount;
    return html`<div><h1 class="visually-hidden">${title}</h1>
      <p class="amount">${sum(missing.amount, missing.tokenSymbol)}</p>
      <p class="on">${say('underpaidText', { amount: sum(of, payment.sourceTokenSymbol) })}</p></div>`;
  }
  return html`<div><h1>${title}</h1><p class="on">${happened(model)}</p>
    ${isDue(situation) && html`<p class="on">${say('stillOpen')}</p>`}</div>`;
}

/** What becomes of the money. */
function happened(model: PayModel): Content {
  const { say, facts } = model;
  const { payment, situation } = facts;
  const merchant = shopName(model);
  const chain = html`<strong>${chainName(payment.sourceChainId)}</strong>`;
  const received = situation.received
    ? sum(situation.received.amount, situation.received.tokenSymbol)
    : sum(payment.amountReceived ?? '0', payment.sourceTokenSymbol);
  switch (situation.kind) {
    case 'detected':
    case 'confirming':
      return say(`${situation.kind}Text`, { chain });
    case 'payingOut':
      return say('payingOutText', { merchant, chain: chainName(payment.destinationChainId) });
    case 'tooLow':
    case 'tooHigh':
      return say(`${situation.kind}Text`, { received, merchant });
    case 'wrongToken':
      return say('wrongTokenText', { token: payment.sourceTokenSymbol, merchant });
    case 'wrongChain':
      return say('wrongChainText', { token: payment.sourceTokenSymbol, chain, merchant });
    case 'expired':
      return say(model.madeWith?.closed === false ? 'expiredAgainText' : 'expiredText', { merchant });
    case 'paid':
    case 'completed':
    case 'late':
    case 'otherSender':
    case 'unpayable':
      return say(`${situation.kind}Text`, { merchant });
    case 'timeUp':
    case 'refunding':
    case 'refunded':
      return say(`${situation.kind}Text`);
    case 'waiting':
    case 'underpaid':
      return null;
  }
}

/** Of the money that does not count, what the headline does not say already. */
const shownHeld = ({ facts: { situation } }: PayModel): readonly Held[] =>
  situation.held.filter(({ reason }) => reason !== situation.kind);

const heldMessages = {
  excess: 'heldExcess',
  elsewhere: 'heldElsewhere',
  surplus: 'heldSurplus',
  late: 'heldLate',
  wrongToken: 'heldWrongToken',
  wrongChain: 'heldWrongChain',
  otherSender: 'heldOtherSender',
} as const satisfies Record<Held['reason'], string>;

const heldText = (model: PayModel, { reason, amount, tokenSymbol, chainId }: Held): Content =>
  model.say(heldMessages[reason], {
    amount: sum(amount, tokenSymbol),
    chain: chainName(chainId),
    merchant: shopName(model),
  });
