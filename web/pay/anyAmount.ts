/** A field for the sum if any amount is accepted, so that the code and the links contain it. It needs no script. GET: amount, lang. */
import type { VNode } from 'preact';
import { chainOf, tokenAt } from '../../domain/chains.ts';
import { convert, usCent } from '../../domain/dollars.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import { anyAmountLimits } from '../../domain/payment/sources.ts';
import type { PayerFacts } from '../../queries/payerFacts.ts';
import { emptyForm, type FormState, textField } from '../parts/field.ts';
import { html } from '../parts/html.ts';
import type { PayModel } from './model.ts';

/** Longest text that states an amount. */
export const wantedMax = 40;

/** In whole tokens of the present source. */
export function limitsOf({ payment, situation }: Pick<PayerFacts, 'payment' | 'situation'>) {
  const { max } = anyAmountLimits;
  return {
    min: situation.missing?.amount ?? '0.02',
    max: formatAmount(convert(max.value, max, usCent), usCent.decimals),
    decimals: tokenAt(chainOf(payment.sourceChainId), payment.sourceTokenAddress)?.decimals ?? 0,
  };
}

/** Reads the sum that the payer wants to pay. @param text as it was typed; a comma is a decimal point */
export function readWanted(facts: Pick<PayerFacts, 'payment' | 'situation'>, text: string | undefined): FormState {
  if (text === undefined || facts.payment.sourceAmount !== null) return emptyForm;
  const { min, max, decimals } = limitsOf(facts);
  const typed = text.trim().replace(',', '.');
  const [units, least, most] = [typed, min, max].map((each) => parseAmount(each, decimals));
  const isAmount = typeof units === 'bigint' && typeof least === 'bigint' && typeof most === 'bigint';
  if (!isAmount || units < least || units > most)
    return { values: { amount: text.slice(0, wantedMax) }, errors: { amount: 'wrong' } };
  return { values: { amount: formatAmount(units, decimals) }, errors: {} };
}

/** The sum that is wanted and can be paid; null for none. */
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
