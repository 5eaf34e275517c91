/** What somebody has to send, while nothing has come. */
import type { VNode } from 'preact';
import type { PaymentView, SourceView } from '../../domain/payment/view.ts';
import { address } from '../parts/address.ts';
import { card, inside, pairs } from '../parts/boxes.ts';
import { amount, amountText } from '../parts/cells.ts';
import { html } from '../parts/html.ts';
import { copyable } from '../parts/secret.ts';
import { sharing } from '../parts/sharing.ts';
import { when } from '../parts/time.ts';
import { chainName, nameOf } from '../parts/words.ts';

/** @param link the hosted page to pay at; null without one */
export function toPay(payment: PaymentView, link: string | null): VNode {
  const chain = chainName(payment.sourceChainId);
  const { depositAddress, depositMemo, depositContract, depositContractMemo, sourceAmount, sourceTokenSymbol } =
    payment;
  return card(
    { title: 'To be paid', note: html`<span>until ${when(payment.expiresAt)}</span>` },
    inside(html`<div class="rows">
      ${
        link !== null &&
        html`<div class="rows"><p>Send this page to whoever pays:</p>${sharing(link, mailSubject(payment))}</div>`
      }
      ${pairs([
        [
          'Amount',
          sourceAmount === null
            ? amount(null, sourceTokenSymbol)
            : copyable(html`<span>exactly ${amount(sourceAmount, sourceTokenSymbol)}</span>`, sourceAmount, 'Amount'),
        ],
        ['Chain', chain],
        payment.payFrom === null ? null : ['Or, as the payer chooses', othersOf(payment, payment.payFrom)],
        ['Address', copyable(address(depositAddress), depositAddress, 'Address')],
        depositMemo === null
          ? null
          : ['Memo', copyable(html`<strong class="mono">${depositMemo}</strong>`, depositMemo, 'Memo')],
        depositContract === null ? null : ['Contract', copyable(address(depositContract), depositContract, 'Contract')],
        depositContractMemo === null || depositContractMemo === depositMemo
          ? null
          : [
              'Contract’s memo',
              copyable(html`<span class="mono">${depositContractMemo}</span>`, depositContractMemo, 'Contract’s memo'),
            ],
      ])}
      <p class="small muted">${warning(payment)}</p>
    </div>`),
  );
}

const othersOf = ({ sourceChainId, sourceTokenAddress }: PaymentView, sources: readonly SourceView[]): string =>
  sources
    .filter(({ chainId, tokenAddress }) => chainId !== sourceChainId || tokenAddress !== sourceTokenAddress)
    .map(({ chainId, tokenSymbol }) => `${tokenSymbol} on ${chainName(chainId)}`)
    .join(', ');

const mailSubject = (payment: PaymentView): string => payment.title ?? `Payment ${nameOf(payment)}`;

function warning({ sourceTokenSymbol, sourceChainId, depositMemo, sourceAmount }: PaymentView): string {
  const memo = depositMemo === null ? '' : ', and with the memo: without it the money cannot be told apart';
  const only = `Only ${sourceTokenSymbol}, only on ${chainName(sourceChainId)}${memo}.`;
  if (sourceAmount === null) return only;
  return `${only} Less than ${amountText(sourceAmount, sourceTokenSymbol)} is held, not paid out; it can be sent back.`;
}
