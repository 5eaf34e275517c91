/** What to pay from, where the payer may choose: a form of buttons, one for each chain and token. POST: source, lang. */
import type { VNode } from 'preact';
import type { PaymentView, SourceView } from '../../domain/payment/view.ts';
import { html } from '../parts/html.ts';
import { notice } from '../parts/notice.ts';
import { chainName } from '../parts/words.ts';
import type { PayModel } from './model.ts';

/** Empty where there is no choice, or none any more. */
export function payFrom(model: PayModel): VNode {
  const { say, facts, path, refused } = model;
  const { payment, choiceOpen } = facts;
  if (!choiceOpen || !payment.payFrom) return html`<div id="pay-from" data-live="part"></div>`;
  return html`<div id="pay-from" data-live="part"><form class="from" method="post" action=${path}>
    ${refused && notice('wait', html`<p>${say('payFromRefused')}</p>`)}
    <input type="hidden" name="lang" value=${say.language} />
    <fieldset><legend>${say('payFrom')}</legend><div class="sources">${payment.payFrom.map((source) => button(payment, source))}</div></fieldset>
  </form></div>`;
}

function button(payment: PaymentView, { chainId, tokenSymbol, tokenAddress }: SourceView): VNode {
  const current = chainId === payment.sourceChainId && tokenAddress === payment.sourceTokenAddress;
  return html`<button class="button small" name="source" value=${`${chainId} ${tokenSymbol}`} aria-current=${current ? 'true' : undefined}>
    <span><bdi>${chainName(chainId)}</bdi> <small>${tokenSymbol}</small></span></button>`;
}
