/** The payer's choice of chain and token, grouped by the wallets that reach them, with the usual time and cost of each. */
import type { VNode } from 'preact';
import { type ChainFamily, type ChainId, chainOf } from '../../domain/chains.ts';
import { formatAmount } from '../../domain/money.ts';
import { limitsOf, readChosen } from '../../domain/payment/choose.ts';
import type { PaymentView, SourceView } from '../../domain/payment/view.ts';
import type { PayerFacts } from '../../queries/payerFacts.ts';
import type { NetworkFacts } from '../../src/api/networks.ts';
import { notice } from '../parts/boxes.ts';
import { chainName } from '../parts/cells.ts';
import { emptyForm, type FormState, textField } from '../parts/field.ts';
import { type Content, html } from '../parts/html.ts';
import { chainMark } from '../parts/icon.ts';
import { costText, type DurationUnit, type Say } from './language.ts';
import type { PayModel } from './model.ts';

const familyNames = { evm: 'withEvm', solana: 'withSolana', stellar: 'withStellar' } as const satisfies Record<
  ChainFamily,
  string
>;
const families = Object.keys(familyNames) as ChainFamily[];

const familyIn = ({ chainId }: SourceView): ChainFamily => chainOf(chainId).family;

/** A form of buttons, one for each chain and token that the payer may choose. Empty without a choice. POST: source, lang. */
export function payFrom(model: PayModel): VNode {
  const { say, facts, path, refused } = model;
  const { payment, choiceOpen } = facts;
  const sources = payment.payFrom;
  const amount = wantedAmount(model.wanted);
  if (!choiceOpen || !sources) return html`<div id="pay-from" data-live="part"></div>`;
  const groups = families
    .map((family) => ({ family, own: sources.filter((source) => familyIn(source) === family) }))
    .filter(({ own }) => own.length > 0);
  return html`<div id="pay-from" data-live="part"><form class="from" method="post" action=${path}>
    ${refused && notice('wait', html`<p>${say('payFromRefused')}</p>`)}
    <input type="hidden" name="lang" value=${say.language} />
    ${amount !== null && html`<input type="hidden" name="amount" value=${amount} />`}
    <fieldset><legend>${say('payFrom')}</legend><div class="groups">${groups.map(({ family, own }) => group(model, family, own, groups.length > 1))}</div></fieldset>
  </form></div>`;
}

/** @param isNamed true if there are others */
function group(model: PayModel, family: ChainFamily, sources: readonly SourceView[], isNamed: boolean): VNode {
  const id = `from-${family}`;
  const isNarrow = isNamed && sources.length === 1;
  return html`<div class=${isNarrow ? 'group one' : 'group'} role="group" aria-labelledby=${isNamed ? id : undefined}>
    ${isNamed && html`<p class="small muted" id=${id}>${model.say(familyNames[family])}</p>`}
    <div class="sources">${sources.map((source) => button(model, source))}</div>
  </div>`;
}

function button(model: PayModel, { chainId, tokenSymbol, tokenAddress, amount }: SourceView): VNode {
  const { payment } = model.facts;
  const current = isCurrent(payment, chainId, tokenAddress);
  const differs = amount !== null && amount !== payment.sourceAmount;
  return html`<button class="button small source" name="source" value=${`${chainId} ${tokenSymbol}`} aria-current=${current ? 'true' : undefined}>
    ${chainMark(chainId)}<span class="what"><span><bdi>${chainName(chainId)}</bdi> <small>${tokenSymbol}</small></span>
    <small class="muted">${usual(model, model.networkOf(chainId, amount))}${differs && html`<bdi class="whole" dir="ltr">${amount}</bdi>`}</small></span></button>`;
}

const isCurrent = (payment: PaymentView, chainId: ChainId, tokenAddress: string): boolean =>
  chainId === payment.sourceChainId && tokenAddress === payment.sourceTokenAddress;

/** As signs on screen, as words for screen readers. */
function usual({ say }: PayModel, facts: NetworkFacts): Content {
  const { final_ms, cost_microUsd } = facts;
  const [count, unit] = rounded(final_ms);
  const cost = cost_microUsd === null ? null : costText(say, cost_microUsd);
  return [
    html`<span class="usual" aria-hidden="true"><bdi class="whole">≈ ${say.short(count, unit)}</bdi>${cost && html`<bdi class="whole" dir="ltr">${cost.sign}</bdi>`}</span>`,
    html`<span class="visually-hidden"> ${networkText(say, facts)}</span>`,
  ];
}

/** Usual time and cost in words: `final in about 20 seconds, network cost less than $0.01`. */
export function networkText(say: Say, { final_ms, cost_microUsd }: NetworkFacts): Content {
  const cost = cost_microUsd === null ? null : costText(say, cost_microUsd);
  return [
    say.text('finalIn', { time: say.duration(...rounded(final_ms)) }),
    cost && html`<span>, ${say('networkCost', { cost: cost.words })}</span>`,
  ];
}

/** Seconds are rounded up to five, longer times to minutes. */
function rounded(length_ms: number): readonly [count: number, unit: DurationUnit] {
  const seconds = Math.max(5, Math.ceil(length_ms / 5_000) * 5);
  return seconds < 60 ? [seconds, 'second'] : [Math.ceil(length_ms / 60_000), 'minute'];
}

// A field for the sum if any amount is accepted, so that the code and the links contain it. It needs no script. GET:
// amount, lang.

/** Longest text that states an amount. */
export const wantedMax = 40;

/** Reads the payer's sum. @param text as it was typed; a comma is a decimal point */
export function readWanted(facts: Pick<PayerFacts, 'payment' | 'situation'>, text: string | undefined): FormState {
  if (text === undefined || facts.payment.sourceAmount !== null) return emptyForm;
  const units = readChosen(facts, text.trim().replace(',', '.'));
  if (units === null) return { values: { amount: text.slice(0, wantedMax) }, errors: { amount: 'wrong' } };
  return { values: { amount: formatAmount(units, limitsOf(facts).decimals) }, errors: {} };
}

/** The typed sum if it can be paid; null otherwise. */
export const wantedAmount = ({ values, errors }: FormState): string | null =>
  errors['amount'] === undefined ? (values['amount'] ?? null) : null;

export function amountForm({ say, facts, path, wanted }: PayModel): VNode {
  const { min, max } = limitsOf(facts);
  const wrong = wanted.errors['amount'] !== undefined;
  const form = { ...wanted, errors: wrong ? { amount: say.text('linkAmountWrong', { min, max }) } : {} };
  return html`<form class="choose any" method="get" action=${path}>
    <input type="hidden" name="lang" value=${say.language} />
    ${textField({
      form,
      name: 'amount',
      label: say.text('amountIn', { token: facts.payment.sourceTokenSymbol }),
      hint: say.text('linkAmountHint', { min, max }),
      inputmode: 'decimal',
      maxlength: 20,
      mono: true,
    })}
    <button class=${wantedAmount(wanted) === null ? 'button primary' : 'button'}>${say('amountShow')}</button>
  </form>`;
}
