/** Asks before an irreversible or disruptive action. POST to the page's own URL. */
import type { VNode } from 'preact';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import { amountText, paymentName, when } from '../parts/cells.ts';
import { linkButton, submit } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, type Content, html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import { appPage, type Section } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import type { WalletFields } from './settlementForm.ts';
import { walletPairs } from './settlementForm.ts';

/** The action to confirm. */
export type Danger =
  | {
      readonly kind: 'revokeKey';
      readonly keyId: string;
      readonly name: string;
      readonly hint: string;
      readonly lastUsedAt: Instant | null;
    }
  | { readonly kind: 'closeLink'; readonly linkId: string; readonly name: string }
  | {
      readonly kind: 'withdrawCashback';
      /** In dollars. */
      readonly amount: string;
      /** Specific to this confirmation: a repeated one is the same withdrawal. */
      readonly withdrawalId: string;
      readonly wallet: WalletFields;
    }
  | { readonly kind: 'cancelPayment'; readonly payment: PaymentView }
  | { readonly kind: 'removeMember'; readonly memberId: string; readonly name: string }
  | { readonly kind: 'leaveTeam' }
  | { readonly kind: 'rotateSecret' }
  | { readonly kind: 'removeWebhook'; readonly webhookUrl: string }
  | { readonly kind: 'cancelSettlement'; readonly wallet: WalletFields; readonly effectiveAt: Instant };

export interface ConfirmModel extends Frame {
  readonly danger: Danger;
}

export const confirmPage = (model: ConfirmModel): VNode => {
  const {
    title,
    text,
    action,
    button,
    section,
    fields = {},
    back = appPaths(model.app.appId)[section],
  } = wordsOf(model);
  return appPage(
    model,
    { title, section },
    html`<div class="narrow"><section class="card ask">
      <div class="inside">
        <p class="sign">${icon('alert')}</p>
        <div class="rows">${text}</div>
        <form class="controls" method="post" action=${action}>${Object.entries(fields).map(
          ([name, value]) => html`<input type="hidden" name=${name} value=${value} />`,
        )}${submit(button, 'danger')}
        ${linkButton(back, sayContent('leaveIt'))}</form>
      </div>
    </section></div>`,
  );
};

interface Words {
  readonly title: string;
  readonly text: Content;
  readonly action: string;
  readonly button: string;
  /** Section to return to on cancel. */
  readonly section: Section;
  /** Path without the action. Default: the section. */
  readonly back?: string;
  /** Sent with the confirmation. */
  readonly fields?: Readonly<Record<string, string>>;
}

function wordsOf({ app, danger }: ConfirmModel): Words {
  const to = appPaths(app.appId);
  switch (danger.kind) {
    case 'revokeKey':
      return {
        title: 'Revoke this key?',
        text: html`<div class="rows"><p>Key <strong>${bdi(danger.name)}</strong> (<span class="mono">${danger.hint}
        </span>), ${
          danger.lastUsedAt === null
            ? 'never used'
            : html`<span>last used ${when(danger.lastUsedAt)}
        </span>`
        }.</p>
          <p>Whatever uses it is refused within a second, for good. Payments made with it go on: what was paid is paid
          out.</p></div>`,
        action: to.revokeKey(danger.keyId),
        button: 'Revoke the key',
        section: 'keys',
      };
    case 'closeLink':
      return {
        title: 'Close this link?',
        text: html`<div class="rows"><p>Whoever opens <strong>${bdi(danger.name)}</strong> from now on is told that it is
        closed, for good. A link of the same kind has another address.</p>
          <p>Payments that were made with it go on: what is paid is paid out.</p></div>`,
        action: to.closeLink(danger.linkId),
        button: 'Close the link',
        section: 'links',
      };
    case 'withdrawCashback':
      return {
        title: `Withdraw ${amountText(danger.amount, 'USD')}?`,
        text: html`<div class="rows"><p>It is taken out of the balance and paid out to this wallet, less the fee of any
        payment. It cannot be called back.</p>${walletPairs(danger.wallet)}</div>`,
        action: to.withdrawCashback,
        button: 'Withdraw',
        section: 'cashback',
        fields: { amount: danger.amount, withdrawalId: danger.withdrawalId },
      };
    case 'cancelPayment': {
      const { paymentId, missing, amountReceived, sourceTokenSymbol } = danger.payment;
      return {
        title: 'Cancel this payment?',
        text: html`<div class="rows"><p>The time to pay <strong>${bdi(paymentName(danger.payment))}</strong> ends now, for good. Its
          page says that it is over; the order needs a new payment.</p>
          ${
            missing !== null &&
            html`<p>${amountText(amountReceived, sourceTokenSymbol)} came and ${amountText(missing, sourceTokenSymbol)} is missing: your
            rule for too little decides what happens with it, as at the end of any payment.</p>`
          }
          <p>A transfer that its chain holds by now still counts. Money that comes later is held and can be
          refunded, also where your rule accepts late money.</p></div>`,
        action: to.cancelPayment(paymentId),
        button: 'Cancel the payment',
        section: 'payments',
        back: to.payment(paymentId),
      };
    }
    case 'removeMember':
      return {
        title: sayText('removeTitle'),
        text: html`<div class="rows"><p>${sayContent('removeText', { name: html`<strong>${bdi(danger.name)}</strong>` })}</p>
          <p>${sayContent('removeKeysText')}</p></div>`,
        action: to.removeMember(danger.memberId),
        button: sayText('removeTheMember'),
        section: 'team',
      };
    case 'leaveTeam':
      return {
        title: sayText('leaveTitle'),
        text: html`<div class="rows"><p>${sayContent('leaveText')}</p></div>`,
        action: to.leaveTeam,
        button: sayText('leaveTheTeam'),
        section: 'team',
      };
    case 'rotateSecret':
      return {
        title: 'Make a new webhook secret?',
        text: html`<div class="rows">
          <p>The old secret stops <strong>at once</strong>. Until your server has the new one, it takes our webhooks
          for forged, and they are not sent again by themselves.</p>
          <p>The new secret is shown once, on the next page. Have your server’s settings open.</p></div>`,
        action: to.rotateSecret,
        button: 'Make a new secret',
        section: 'webhooks',
      };
    case 'removeWebhook':
      return {
        title: 'Remove the webhook?',
        text: html`<div class="rows"><p>Your server at <span class="mono">${danger.webhookUrl}
          </span> is told nothing about payments created from now on. Those that exist keep it.</p>
          <p>Money is paid out as before.</p></div>`,
        action: to.removeWebhook,
        button: 'Remove the webhook',
        section: 'webhooks',
      };
    case 'cancelSettlement':
      return {
        title: sayText('cancelChangeTitle'),
        text: html`<div class="rows">
          <p>${sayContent('cancelChangeText', { time: when(danger.effectiveAt) })}</p>${walletPairs(danger.wallet)}</div>`,
        action: to.cancelSettlement,
        button: sayText('cancelTheChange'),
        section: 'settlement',
      };
  }
}
