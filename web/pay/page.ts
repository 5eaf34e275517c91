/** The payment page: one screen for each situation of its payer. */

import type { VNode } from 'preact';
import { isDue } from '../../domain/payment/choose.ts';
import type { HeldMoney, SituationKind } from '../../domain/payment/situation.ts';
import { notice } from '../parts/boxes.ts';
import { between, chainName, shortText } from '../parts/cells.ts';
import { type Content, html } from '../parts/html.ts';
import { type IconName, icon } from '../parts/icon.ts';
import { withQuery } from '../parts/paths.ts';
import { payFrom, wantedAmount } from './choice.ts';
import { payDocument } from './layout.ts';
import { isFeeOfMerchant, type PayModel, shopName } from './model.ts';
import { outcome, story } from './outcome.ts';
import { bought, help, orderShown, sum } from './parts.ts';
import { toPay } from './toPay.ts';
import { walletOffer, wallets } from './wallets.ts';

/** Amber waits, green is final, red needs a person, grey is over. None while the amount is displayed. */
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

/** The page's title: what happened, as plain text. */
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

/** Head of a payment's page: its status in a few words, and the next step of the money. */
export function statusHead(model: PayModel): VNode {
  const { situation } = model.facts;
  const sign = signs[situation.kind];
  return html`<section class="ask" id="asked" data-live="part">
    ${sign === null && bought(model)}
    ${sign && html`<span class=${`sign ${sign[0]}`}>${icon(sign[1])}</span>`}
    ${headline(model)}
    ${sign && bought(model)}
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
    const amount = sourceAmount ?? wantedAmount(model.wanted);
    // The fee of an exactIn payment is its merchant's: the buyer pays the price.
    const split =
      !isFeeOfMerchant(payment) &&
      sourceFee !== null &&
      destinationAmount !== null &&
      payment.destinationTokenSymbol === token;
    return html`<div><h1 class="visually-hidden">${title}</h1>
      <p class="amount">${amount === null ? html`<span>${say('anyAmount')} <small>${token}</small></span>` : sum(amount, token)}</p>
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

/** Next step of the money. */
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

/** Held money that the headline does not mention. */
const shownHeld = ({ facts: { situation } }: PayModel): readonly HeldMoney[] =>
  situation.held.filter(({ reason }) => reason !== situation.kind);

const heldMessages = {
  excess: 'heldExcess',
  elsewhere: 'heldElsewhere',
  surplus: 'heldSurplus',
  late: 'heldLate',
  wrongToken: 'heldWrongToken',
  wrongChain: 'heldWrongChain',
  otherSender: 'heldOtherSender',
} as const satisfies Record<HeldMoney['reason'], string>;

const heldText = (model: PayModel, { reason, amount, tokenSymbol, chainId }: HeldMoney): Content =>
  model.say(heldMessages[reason], {
    amount: sum(amount, tokenSymbol),
    chain: chainName(chainId),
    merchant: shopName(model),
  });

/** The script replaces it with the remaining time: `14:32`. */
const place = '%';

/**
 * Displays the expiry of the payment. A script (client/pay.js) counts down by the service's clock; without a script the time itself is
 * displayed.
 */
export function countdown({ say, facts }: PayModel): VNode {
  const { situation, payment, now } = facts;
  if (!isDue(situation)) return html`<div id="left" data-live="part"></div>`;
  const { createdAt, expiresAt } = payment;
  const [whole, left] = [between(createdAt, expiresAt), between(now, expiresAt)].map((length_ms) =>
    Math.max(0, Math.round(length_ms / 1_000)),
  );
  return html`<div id="left" data-live="part"><div class="left" data-now=${now} data-until=${expiresAt} data-left=${say.text('left', { time: place })}>
    <span class="small muted">${say(situation.kind === 'underpaid' ? 'sendRest' : 'waiting')}</span>
    <span class="small" role="timer">${say('until', { time: html`<time datetime=${expiresAt} data-local="minutes" dir="auto">${say.time(expiresAt)}</time>` })}</span>
    <progress max=${whole} value=${left} aria-hidden="true"></progress>
  </div></div>`;
}

/** Displays the payer's refund address for held money, or a link to the page that sets it. Empty without permanently held money. */
export function moneyBack(model: PayModel): VNode {
  const { say, facts, path } = model;
  const { owners } = facts;
  if (owners.length === 0) return html`<div id="money-back" data-live="part"></div>`;
  const known = new Map(owners.flatMap(({ sender, receiver }) => (receiver ? [[sender, receiver.address]] : [])));
  const all = owners.every(({ receiver }) => receiver !== null);
  const where = withQuery(`${path}/refund`, { lang: say.language });
  return html`<div id="money-back" data-live="part"><section class="ways">
    ${[...known.values()].map((address) => html`<p class="small">${say('refundKnown', { address: shown(address), merchant: shopName(model) })}</p>`)}
    <a class="button" href=${where}>${say(all ? 'refundChange' : 'refundSay')}</a>
  </section></div>`;
}

const shown = (address: string): VNode =>
  html`<span class="mono" dir="ltr" title=${address}>${shortText(address)}</span>`;

/** Reload intervals without a script: short if a change is near; never for final situations. */
const refresh_s = { soon: 5, open: 15 } as const;

export function payPage(model: PayModel): VNode {
  const { facts, shop, path } = model;
  const { kind } = facts.situation;
  const title = titleOf(model);
  const over = ['completed', 'expired', 'refunded', 'tooLow', 'tooHigh', 'unpayable'].includes(kind);
  const refresh = kind === 'waiting' ? refresh_s.open : refresh_s.soon;
  const live = { from: `${path}/live`, refresh_s: over ? null : refresh };
  return payDocument(
    model,
    {
      title: shop.name === null ? title : `${title} · ${shop.name}`,
      shop,
      order: orderShown(facts.payment),
      live,
      sites: model.sites,
    },
    html`<div class="card">
      ${statusHead(model)}
      ${payFrom(model)}
      ${countdown(model)}
      ${walletOffer(model)}
      ${wallets(model)}
      ${toPay(model)}
      ${story(model)}
      ${outcome(model)}
      ${moneyBack(model)}
      ${help(model)}
      <p class="visually-hidden" id="said" data-say=${title}></p>
      <p hidden id="version" data-live="part" data-standing=${kind}>${facts.version}</p>
    </div>`,
  );
}
