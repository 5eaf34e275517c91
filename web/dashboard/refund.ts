/** Orders a refund in two steps. POST: scope, asset, amount, reason; then the same with key, challenge and the code that was mailed. */
import type { VNode } from 'preact';
import { formatAmount } from '../../domain/money.ts';
import type { Held, PricedRefund } from '../../domain/payment/refundQuote.ts';
import { address } from '../parts/address.ts';
import { card, inside, pairs } from '../parts/boxes.ts';
import { linkButton, submit } from '../parts/button.ts';
import { amount } from '../parts/cells.ts';
import { choiceField, problems, selectField, textField } from '../parts/field.ts';
import type { FormState } from '../parts/form.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { notice } from '../parts/notice.ts';
import { appPaths } from '../parts/paths.ts';
import { chainName } from '../parts/words.ts';
import { mailboxNote } from './code.ts';
import { heldTable } from './refunds.ts';

export interface RefundFormModel extends Frame {
  readonly paymentId: string;
  readonly held: readonly Held[];
  /** Fields: scope, asset, amount, reason. */
  readonly form: FormState;
}

/** As the form sends it: `8453 0x833…`. */
export const assetValue = ({ chainId, token }: Pick<Held, 'chainId' | 'token'>): string =>
  `${chainId} ${token.address}`;

const scopes = [
  { value: 'all', label: 'All of it', hint: 'Everything that has a proven address.' },
  { value: 'excess', label: 'What was too much', hint: 'What came over what was due, of a payment that was paid.' },
  { value: 'part', label: 'A part', hint: 'An amount of one token.' },
] as const;

export function refundFormPage(model: RefundFormModel): VNode {
  const { app, paymentId, held, form } = model;
  const to = appPaths(app.appId);
  return appPage(
    model,
    { title: 'Send money back', section: 'payments', up: { href: to.payment(paymentId), label: 'Payment' } },
    html`<div class="stack narrow">
      ${card({ title: 'What is held' }, heldTable(held))}
      ${card(
        { title: 'What goes back' },
        html`<form class="inside" method="post" action=${to.refund(paymentId)}>
          ${problems(form)}
          ${choiceField({ form, name: 'scope', label: 'How much', options: scopes })}
          ${selectField({ form, name: 'asset', label: 'Of a part: the token', options: held.map((each) => ({ value: assetValue(each), label: `${each.token.symbol} on ${chainName(each.chainId)}` })) })}
          ${textField({ form, name: 'amount', label: 'Of a part: the amount', hint: 'In whole tokens, what sending it costs included.', inputmode: 'decimal', maxlength: 40, optional: true, mono: true })}
          ${textField({ form, name: 'reason', label: 'Why', hint: 'For whoever asks later; the payer does not see it.', maxlength: 400, optional: true })}
          <p class="small muted">It goes to where its senders have proven, and what sending it costs is taken off. The next page shows
          both, and asks for a code that is mailed to you.</p>
          ${submit('Go on')}
        </form>`,
      )}
    </div>`,
  );
}

export interface ConfirmRefundModel extends Frame {
  readonly paymentId: string;
  readonly planned: readonly PricedRefund[];
  /** What the code stands for, as it is sent again. */
  readonly order: Readonly<Record<string, string>>;
  /** Fields: code. */
  readonly form: FormState;
  /** Where the sandbox's mails can be read. */
  readonly mailboxUrl: string | null;
}

export function confirmRefundPage(model: ConfirmRefundModel): VNode {
  const { app, paymentId, planned, order, form, mailboxUrl } = model;
  const to = appPaths(app.appId);
  return appPage(
    model,
    { title: 'Confirm the refund', section: 'payments', up: { href: to.payment(paymentId), label: 'Payment' } },
    html`<div class="stack narrow">
      ${planned.map((each) => card({ title: `Refund on ${chainName(each.chainId)}` }, inside(plannedPairs(each))))}
      <section class="card"><form class="inside" method="post" action=${to.confirmRefund(paymentId)}>
        ${problems(form)}
        ${notice('wait', html`<p>What is sent cannot be fetched back. The code was mailed to you, and is good for this refund alone.</p>`)}
        ${Object.entries(order).map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`)}
        ${textField({ form, name: 'code', label: 'Code', autocomplete: 'one-time-code', inputmode: 'numeric', pattern: ' *([0-9] *){6,8}', maxlength: 16, mono: true, focus: true, hint: 'The digits of the mail. They work for ten minutes, for this refund only.' })}
        <div class="controls">${submit('Send it back', 'danger')}${linkButton(to.payment(paymentId), 'Leave it as it is')}</div>
      </form>${mailboxUrl !== null && mailboxNote(mailboxUrl)}</section>
    </div>`,
  );
}

const plannedPairs = ({ amount: all, networkFee, token, receiver }: PricedRefund): VNode =>
  pairs([
    ['Is sent', amount(formatAmount(all - networkFee, token.decimals), token.symbol)],
    ['Sending it costs', amount(formatAmount(networkFee, token.decimals), token.symbol)],
    ['To', address(receiver.address)],
    receiver.memo === null ? null : ['Memo', html`<span class="mono">${receiver.memo}</span>`],
  ]);
