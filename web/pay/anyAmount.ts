/** A field for the sum if any amount is accepted, so that the code and the links contain it. It needs no script. GET: amount, lang. */
import type { VNode } from 'preact';
import { formatAmount } from '../../domain/money.ts';
import { limitsOf, readChosen } from '../../domain/payment/chosenAmount.ts';
import type { PayerFacts } from '../../queries/payerFacts.ts';
import { emptyForm, type FormState, textField } from '../parts/field.ts';
import { html } from '../parts/html.ts';
import type { PayModel } from './model.ts';

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
