/** Asks before an irreversible or disruptive action. POST to the page's own URL. */
import type { VNode } from 'preact';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import { amountText, hourFrom, paymentName, when } from '../parts/cells.ts';
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
        title: sayText('revokeTitle'),
        text: html`<div class="rows"><p>${keyText(danger)}</p>
          <p>${sayContent('revokeText')}</p></div>`,
        action: to.revokeKey(danger.keyId),
        button: sayText('revokeTheKey'),
        section: 'keys',
      };
    case 'closeLink':
      return {
        title: sayText('closeTitle'),
        text: html`<div class="rows"><p>${sayContent('closeText', { name: html`<strong>${bdi(danger.name)}</strong>` })}</p>
          <p>${sayContent('paymentsGoOn')}</p></div>`,
        action: to.closeLink(danger.linkId),
        button: sayText('closeTheLink'),
        section: 'links',
      };
    case 'withdrawCashback':
      return {
        title: sayText('withdrawTitle', { amount: amountText(danger.amount, 'USD') }),
        text: html`<div class="rows"><p>${sayContent('withdrawText')}</p>${walletPairs(danger.wallet)}</div>`,
        action: to.withdrawCashback,
        button: sayText('withdraw'),
        section: 'cashback',
        fields: { amount: danger.amount, withdrawalId: danger.withdrawalId },
      };
    case 'cancelPayment': {
      const { paymentId, missing, amountReceived, sourceTokenSymbol } = danger.payment;
      return {
        title: sayText('cancelTitle'),
        text: html`<div class="rows"><p>${sayContent('cancelText', { name: html`<strong>${bdi(paymentName(danger.payment))}</strong>` })}</p>
          ${
            missing !== null &&
            html`<p>${sayContent('cancelPart', { received: amountText(amountReceived, sourceTokenSymbol), missing: amountText(missing, sourceTokenSymbol) })}</p>`
          }
          <p>${sayContent('cancelCounts')}</p></div>`,
        action: to.cancelPayment(paymentId),
        button: sayText('cancelPayment'),
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
        title: sayText('rotateTitle'),
        text: html`<div class="rows">
          <p>${sayContent('rotateText', { atOnce: html`<strong>${sayContent('atOnce')}</strong>` })}</p>
          <p>${sayContent('rotateShownOnce')}</p></div>`,
        action: to.rotateSecret,
        button: sayText('makeNewSecret'),
        section: 'webhooks',
      };
    case 'removeWebhook':
      return {
        title: sayText('removeWebhookTitle'),
        text: html`<div class="rows"><p>${sayContent('removeWebhookText', { url: html`<span class="mono">${danger.webhookUrl}</span>` })}</p>
          <p>${sayContent('paidOutAsBefore')}</p></div>`,
        action: to.removeWebhook,
        button: sayText('removeWebhook'),
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

function keyText({ name, hint, lastUsedAt }: Extract<Danger, { readonly kind: 'revokeKey' }>): Content {
  const key = { name: html`<strong>${bdi(name)}</strong>`, hint: html`<span class="mono">${hint}</span>` };
  return lastUsedAt === null
    ? sayContent('revokeUnused', key)
    : sayContent('revokeUsed', { ...key, time: hourFrom(lastUsedAt) });
}
