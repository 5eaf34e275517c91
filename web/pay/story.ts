/** Progress of the money for its payer: sent, final, paid out. */
import type { VNode } from 'preact';
import type { PaymentTransaction } from '../../domain/payment/transactions.ts';
import { type StoryStep, steps } from '../parts/boxes.ts';
import { chainName, explorerUrl, shortText } from '../parts/cells.ts';
import { type Content, html } from '../parts/html.ts';
import { type PayModel, shopName } from './model.ts';
import { sum } from './sum.ts';

/** Empty while no money has arrived. */
export function story(model: PayModel): VNode {
  const { say, facts } = model;
  const list = stepsOf(model);
  if (
    list.length === 0 ||
    facts.payment.status === 'payment_payout_completed' ||
    facts.payment.status === 'payment_completed'
  )
    return html`<div id="story" data-live="part"></div>`;
  const spoken = {
    done: say.text('stepDone'),
    now: say.text('stepNow'),
    next: say.text('stepNext'),
    problem: say.text('stepProblem'),
  };
  return html`<div id="story" data-live="part"><div class="story">${steps(list, spaced(spoken))}</div></div>`;
}

const spaced = <K extends string>(words: Readonly<Record<K, string>>): Readonly<Record<K, string>> =>
  Object.fromEntries(Object.entries<string>(words).map(([stage, word]) => [stage, `${word} `])) as Record<K, string>;

function stepsOf(model: PayModel): readonly StoryStep[] {
  const { payment, situation, transactions } = model.facts;
  const counted = transactions.filter(
    ({ kind, standing, status }) => kind === 'payin' && standing === 'counted' && status !== 'orphaned',
  );
  if (counted.length === 0) return [];
  const sent = counted.map((transaction) => sentStep(model, transaction));
  if (['tooLow', 'tooHigh', 'unpayable', 'refunding', 'refunded', 'timeUp'].includes(situation.kind)) return sent;
  // Money on another of the payer's chains does not count here: the head of the page mentions it.
  const own = counted.filter(
    ({ chainId, tokenSymbol }) => chainId === payment.sourceChainId && tokenSymbol === payment.sourceTokenSymbol,
  );
  if (own.length === 0) return [];
  const ownSent = own.map((transaction) => sentStep(model, transaction));
  return [...ownSent, finalStep(model), payoutStep(model, payment.destinationChainId)];
}

/** A transaction with its public details. */
export function seen(
  { say, mode }: PayModel,
  { chainId, txHash }: Pick<PaymentTransaction, 'chainId' | 'txHash'>,
  what: string,
): Content {
  const url = explorerUrl(mode, chainId, txHash);
  const hash = html`<span class="mono" dir="ltr" title=${txHash}>${shortText(txHash)}</span>`;
  return url === null
    ? hash
    : html`<a href=${url} rel="noopener noreferrer" target="_blank">${hash}<span class="visually-hidden"> ${say.text('seeWhat', { what })}</span></a>`;
}

function sentStep(model: PayModel, transaction: PaymentTransaction): StoryStep {
  const { say } = model;
  const { amount, tokenSymbol, fromAddress } = transaction;
  return {
    stage: 'done',
    title: say('stepSent', {
      address: html`<span class="mono" dir="ltr" title=${fromAddress}>${shortText(fromAddress)}</span>`,
    }),
    detail: html`<span>${sum(amount, tokenSymbol)} · ${seen(model, transaction, say.text('transaction'))}</span>`,
  };
}

function finalStep({ say, facts }: PayModel): StoryStep {
  const { situation, payment } = facts;
  const chain = chainName(payment.sourceChainId);
  const { depth } = situation;
  if (payment.payinConfirmedAt !== null) return { stage: 'done', title: say('stepFinal', { chain }) };
  if (depth === null) return { stage: 'next', title: say('stepFinal', { chain }) };
  const count = html`<bdi dir="ltr">${depth.confirmations}</bdi>`;
  return {
    stage: 'now',
    title: say('stepSeen', { chain }),
    detail:
      depth.needed === null
        ? say('depthOnly', { count })
        : say('depth', { count, needed: html`<bdi dir="ltr">${depth.needed}</bdi>` }),
  };
}

function payoutStep(model: PayModel, chainId: number): StoryStep {
  const { say, facts } = model;
  const { kind } = facts.situation;
  const merchant = shopName(model);
  const chain = chainName(chainId);
  return {
    stage: kind === 'paid' || kind === 'payingOut' ? 'now' : 'next',
    title: say('stepPayout', { merchant, chain }),
  };
}
