/** Notifications of a member: the bell's list, and what the member gets by mail and in the bell. */

import type { VNode } from 'preact';
import Type from 'typebox';
import type { ManageMerchant } from '../../commands/manageMerchant.ts';
import { isRefusal } from '../../domain/decider.ts';
import { type NoticeKind, type NotificationChoice, noticeKinds } from '../../domain/merchant/notifications.ts';
import type { Instant } from '../../domain/time.ts';
import { type AppNotice, type MemberNotices, noticesFor_ms } from '../../queries/notices.ts';
import type { InForce } from '../../src/api/issueKey.ts';
import { oneOf } from '../../src/api/schemas/base.ts';
import { card, empty, inside } from '../parts/boxes.ts';
import { amountText, countWords, grouped, when } from '../parts/cells.ts';
import { emptyForm, type FormState, postButton, problems, selectField, submit } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { type IconName, icon } from '../parts/icon.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths, withQuery } from '../parts/paths.ts';
import { table } from '../parts/table.ts';
import { entry, fields, noFields } from './forms.ts';
import type { Frames } from './frames.ts';
import { type AnyForm, type AnyPage, form, type PageResult, page, type Visit } from './page.ts';

export interface NotificationsModel extends Frame, MemberNotices {
  readonly form: FormState;
}

const kindTexts: Readonly<Record<NoticeKind, readonly [label: string, hint: string]>> = {
  moneyHeld: ['Money held', 'A payment begins to hold money that is not what was agreed.'],
  webhookFailing: ['Webhooks fail', 'Your server does not accept at least 3 webhooks within an hour.'],
  largePayment: ['Large payment', 'A payment of at least the amount below arrives.'],
  firstPayment: ['First payment', 'The first payment of this app is paid out.'],
  dailySummary: ['Daily summary', 'Payments, amounts and refunds of the day before, from 06:00 UTC.'],
  weeklySummary: ['Weekly summary', 'The week from Monday to Sunday, on Mondays from 06:00 UTC.'],
};

/** Amounts from which a payment can count as large, in dollars. */
const largeAmounts = ['100', '250', '500', '1000', '2500', '5000', '10000', '50000'] as const;
const millionths = 1_000_000n;

export function notificationsPage(model: NotificationsModel): VNode {
  const { notices, seenAt, unread, app } = model;
  const to = appPaths(app.appId);
  return appPage(
    model,
    { title: 'Notifications', section: 'notifications' },
    html`<div class="stack">
      ${card(
        {
          title: 'What happened',
          note: `the last ${noticesFor_ms / 86_400_000} days`,
          controls: unread > 0 && postButton(to.readNotifications, 'Mark all as read'),
        },
        notices.length > 0
          ? html`<ul class="list">${notices.map((notice) => noticeItem(app.appId, notice, seenAt))}</ul>`
          : empty('Nothing yet', 'The kinds that you choose below appear here.'),
      )}
      ${card({ title: 'What you get', note: 'for you alone; other members choose for themselves' }, choiceForm(model))}
    </div>`,
  );
}

const drawings: Readonly<Record<NoticeKind, IconName>> = {
  moneyHeld: 'balance',
  webhookFailing: 'webhooks',
  largePayment: 'payments',
  firstPayment: 'check',
  dailySummary: 'clock',
  weeklySummary: 'clock',
};

function noticeItem(appId: string, notice: AppNotice, seenAt: Instant | null): VNode {
  const isUnread = seenAt === null || notice.at > seenAt;
  return html`<li><a class="go" href=${pageOf(appId, notice)}><span class="tick need">${icon(drawings[notice.kind])}</span><span>
    <strong>${sentenceOf(notice)} ${isUnread && html`<span class="chip wait">New</span>`}</strong>
    <small class="muted">${when(notice.at)}</small></span>${icon('forth')}</a></li>`;
}

function sentenceOf({ kind, count, amount, tokenSymbol, line }: AppNotice): string {
  const money = amount === null || tokenSymbol === null ? '' : amountText(amount, tokenSymbol);
  switch (kind) {
    case 'moneyHeld':
      return `A payment holds ${money} that is not what was agreed`;
    case 'largePayment':
      return `A large payment arrived: ${money}`;
    case 'webhookFailing':
      return `Your server did not accept ${countWords(count, 'webhook')} within an hour`;
    case 'firstPayment':
      return 'Your first payment was paid out';
    default:
      return line ?? '';
  }
}

function pageOf(appId: string, { kind, paymentId }: AppNotice): string {
  const to = appPaths(appId);
  if (paymentId !== null) return to.payment(paymentId);
  if (kind === 'webhookFailing') return withQuery(to.webhooks, { state: 'exhausted' });
  return kind === 'firstPayment' ? to.payments : to.overview;
}

function choiceForm({ app, choice, form }: NotificationsModel): VNode {
  const box = (way: 'mail' | 'bell', kind: NoticeKind): VNode =>
    html`<label class="only"><input type="checkbox" name=${`${way}-${kind}`} value="true" checked=${choice[way].includes(kind)} /><span class="visually-hidden">${`${kindTexts[kind][0]}, ${way === 'mail' ? 'by mail' : 'in the dashboard'}`}</span></label>`;
  const large = (BigInt(choice.large_microUsd) / millionths).toString();
  const amounts = [...new Set([...largeAmounts, large])].toSorted((a, b) => Number(BigInt(a) - BigInt(b)));
  return html`<form method="post" action=${appPaths(app.appId).notifications}>
    ${Object.keys(form.errors).length > 0 && inside(problems(form))}
    ${table(
      'Notifications',
      [
        { head: 'Notification', kind: 'title' },
        { head: 'Mail', kind: 'detail' },
        { head: 'Dashboard', kind: 'detail' },
      ],
      noticeKinds.map((kind) => [
        html`<span><strong>${kindTexts[kind][0]}</strong><br /><small class="muted">${kindTexts[kind][1]}</small></span>`,
        box('mail', kind),
        box('bell', kind),
      ]),
    )}
    <div class="inside">
      ${selectField({
        form: { ...form, values: { large } },
        name: 'large',
        label: 'A payment is large from',
        options: amounts.map((amount) => ({ value: amount, label: `$${grouped(amount)}` })),
      })}
      <p class="muted">At most one mail in 15 minutes and 10 a day go to you, for all your apps together. The next mail has everything
      that waited.</p>
      <div class="controls">${submit('Save')}</div>
    </div>
  </form>`;
}

/** Needs of the page of notifications. */
export interface NotificationPagesDeps extends InForce {
  readonly merchants: Pick<ManageMerchant, 'setNotifications'>;
  readonly notices: NoticeReads;
}

export interface NoticeReads {
  list(appId: string, developerId: string): Promise<MemberNotices>;
  countUnread(appId: string, developerId: string): Promise<number>;
  /** Marks everything up to now as read. */
  markRead(appId: string, developerId: string): Promise<void>;
}

const path = '/dashboard/apps/{appId}/notifications';

const boxes = noticeKinds.flatMap((kind) => [`mail-${kind}`, `bell-${kind}`]);
/** An unchecked box is not sent. */
const Chosen = fields({
  ...Object.fromEntries(boxes.map((name) => [name, Type.Optional(entry(8))])),
  large: Type.Optional(oneOf(largeAmounts)),
});

function choiceFrom(
  sent: Readonly<Record<string, string | undefined>>,
  { large_microUsd }: NotificationChoice,
): NotificationChoice {
  const { large } = sent;
  const ticked = (way: 'mail' | 'bell'): NoticeKind[] => noticeKinds.filter((kind) => `${way}-${kind}` in sent);
  return {
    mail: ticked('mail'),
    bell: ticked('bell'),
    large_microUsd: large === undefined ? large_microUsd : (BigInt(large) * millionths).toString(),
  };
}

export function notificationPages(deps: NotificationPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { merchants, notices, shown } = deps;
  const listed = async (visit: Visit<'owner'>, state: FormState): Promise<PageResult> => {
    const { appId, developerId } = visit.visitor;
    const [frame, own] = await Promise.all([frames.ofApp(visit), notices.list(appId, developerId)]);
    return { page: notificationsPage({ ...frame, ...own, form: state }) };
  };
  return [
    page({ path, audience: 'owner', show: (visit) => listed(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      fields: Chosen,
      async act({ visitor: { appId, developerId }, fields: sent, by }) {
        const { choice } = await notices.list(appId, developerId);
        const changed = await merchants.setNotifications(appId, choiceFrom(sent as Record<string, string>, choice), by);
        if (isRefusal(changed)) return changed;
        await shown(changed);
        return { to: appPaths(appId).notifications, told: 'notificationsSaved' };
      },
      again: listed,
    }),
    form({
      path: `${path}/read`,
      audience: 'owner',
      fields: noFields,
      async act({ visitor: { appId, developerId } }) {
        await notices.markRead(appId, developerId);
        return { to: appPaths(appId).notifications };
      },
      again: listed,
    }),
  ];
}
