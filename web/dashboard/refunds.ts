/** Money of a payment that is held or goes back: a card of its page, and the form that orders it. */
import type { VNode } from 'preact';
import { formatAmount } from '../../domain/money.ts';
import type { Held } from '../../domain/payment/refundQuote.ts';
import type { RefundStatus } from '../../domain/payment/refundView.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import { shortAddress } from '../parts/address.ts';
import { card, inside } from '../parts/boxes.ts';
import { linkButton } from '../parts/button.ts';
import { amount } from '../parts/cells.ts';
import { chip, type State } from '../parts/chip.ts';
import { transactionLink } from '../parts/explorer.ts';
import type { Frame } from '../parts/frame.ts';
import { type Content, html } from '../parts/html.ts';
import { notice } from '../parts/notice.ts';
import { appPaths } from '../parts/paths.ts';
import { copyable } from '../parts/secret.ts';
import { table } from '../parts/table.ts';
import { when } from '../parts/time.ts';
import { chainName } from '../parts/words.ts';

export interface RefundsModel extends Frame {
  readonly payment: PaymentView;
  readonly held: readonly Held[];
  /** The page on which the payer says where it goes back to. */
  readonly link: string | null;
}

/** Empty where nothing is held and nothing goes back. */
export function refundsCard(model: RefundsModel): VNode {
  const { app, payment, held } = model;
  const some = held.length > 0 || payment.refunds.length > 0;
  if (!some) return html`<div id="refunds" data-live="part"></div>`;
  const can = !payment.keyless && held.some(({ proven }) => proven > 0n);
  const controls = can && linkButton(appPaths(app.appId).refund(payment.paymentId), 'Send back…');
  return card(
    { title: 'Held and sent back', live: 'refunds', controls },
    html`<div>
      ${held.length > 0 && heldTable(held)}
      ${held.length > 0 && !can && inside(whatToDo(model))}
      ${payment.refunds.length > 0 && refundTable(model)}
    </div>`,
  );
}

const reasons: Readonly<Record<Held['reason'], string>> = {
  bounced: 'Ended without a payout',
  excess: 'More than was due',
  held: 'Did not count',
};

export const heldTable = (held: readonly Held[]): VNode =>
  table(
    'Held money',
    [
      { head: 'Why', kind: 'title' },
      { head: 'On', kind: 'detail' },
      { head: 'With a proven address', kind: 'detail' },
      { head: 'Sending it costs', kind: 'detail' },
      { head: 'Held', kind: 'number' },
    ],
    held.map(({ reason, chainId, token, amount: all, proven, networkFee }) => [
      html`<strong>${reasons[reason]}</strong>`,
      chainName(chainId),
      amount(formatAmount(proven, token.decimals), token.symbol),
      networkFee === null ? 'not known now' : amount(formatAmount(networkFee, token.decimals), token.symbol),
      amount(formatAmount(all, token.decimals), token.symbol),
    ]),
  );

function whatToDo({ payment, link }: RefundsModel): Content {
  if (payment.keyless)
    return notice(
      'wait',
      html`<p>This payment was created without a key: the operator alone can send its money back.</p>`,
    );
  return notice(
    'wait',
    html`<div><p><strong>Nobody has proven where it goes back to.</strong> The sender may be an exchange, which credits nobody. Send the
    payer the payment’s page: there he gives an address, and signs with the account that paid.</p>
    ${link !== null && html`<p>${copyable(html`<span class="mono">${link}</span>`, link, 'Link')}</p>`}</div>`,
  );
}

const states: Readonly<Record<RefundStatus, readonly [State, string]>> = {
  ordered: ['wait', 'Ordered'],
  sent: ['wait', 'Sent'],
  completed: ['ok', 'Final'],
  calledOff: ['idle', 'Called off'],
};

const refundTable = ({ payment, mode }: RefundsModel): VNode =>
  table(
    'Refunds',
    [
      { head: 'Refund', kind: 'title' },
      { head: 'To', kind: 'detail' },
      { head: 'Transaction', kind: 'detail' },
      { head: 'State', kind: 'chip' },
      { head: 'Ordered', kind: 'when' },
      { head: 'Amount', kind: 'number' },
    ],
    payment.refunds.map((refund) => [
      html`<strong>Refund ${refund.refund}</strong>`,
      html`<span>${shortAddress(refund.receiverAddress)} on ${chainName(refund.chainId)}</span>`,
      refund.txHash === null ? null : transactionLink(mode, refund.chainId, refund.txHash),
      chip(...states[refund.status]),
      when(refund.requestedAt),
      html`<span>${amount(refund.amount, refund.tokenSymbol)} <small class="muted">less ${refund.networkFee} to send it</small></span>`,
    ]),
  );
