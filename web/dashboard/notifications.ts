/** Notifications of a member: the bell's list, and what the member gets by mail and in the bell. */

import type { VNode } from 'preact';
import Type from 'typebox';
import type { ManageMerchant } from '../../commands/manageMerchant.ts';
import { isRefusal } from '../../domain/decider.ts';
import { type NoticeKind, type NotificationChoice, noticeKinds } from '../../domain/merchant/notifications.ts';
import type { Instant } from '../../domain/time.ts';
import { type AppNotice, type MemberNotices, type NoticeReads, noticesFor_ms } from '../../queries/notices.ts';
import type { InForce } from '../../src/api/issueKey.ts';
import { oneOf } from '../../src/api/schemas/base.ts';
import { card, empty, inside } from '../parts/boxes.ts';
import { amountText, dayText, grouped, when } from '../parts/cells.ts';
import { emptyForm, type FormState, postButton, problems, selectField, submit } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { type Content, html } from '../parts/html.ts';
import { type IconName, icon } from '../parts/icon.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths, withQuery } from '../parts/paths.ts';
import { type PlainName, pageLanguage, sayContent, sayCount, sayText } from '../parts/say.ts';
import { table } from '../parts/table.ts';
import { entry, fields, noFields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';

export interface NotificationsModel extends Frame, MemberNotices {
  readonly form: FormState;
}

const kindTexts: Readonly<Record<NoticeKind, readonly [label: PlainName, hint: PlainName]>> = {
  moneyHeld: ['moneyHeld', 'moneyHeldHint'],
  webhookFailing: ['webhooksFail', 'webhooksFailHint'],
  largePayment: ['largePayment', 'largePaymentHint'],
  firstPayment: ['firstPayment', 'firstPaymentHint'],
  dailySummary: ['dailySummary', 'dailySummaryHint'],
  weeklySummary: ['weeklySummary', 'weeklySummaryHint'],
};

/** Amounts from which a payment can count as large, in dollars. */
const largeAmounts = ['100', '250', '500', '1000', '2500', '5000', '10000', '50000'] as const;
const millionths = 1_000_000n;

export function notificationsPage(model: NotificationsModel): VNode {
  const { notices, seenAt, unread, app } = model;
  const to = appPaths(app.appId);
  return appPage(
    model,
    { title: sayText('notifications'), section: 'notifications' },
    html`<div class="stack">
      ${card(
        {
          title: sayText('whatHappened'),
          note: sayCount('lastDays', noticesFor_ms / 86_400_000),
          controls: unread > 0 && postButton(to.readNotifications, sayContent('markRead')),
        },
        notices.length > 0
          ? html`<ul class="list">${notices.map((notice) => noticeItem(app.appId, notice, seenAt))}</ul>`
          : empty(sayText('nothingYet'), sayContent('nothingYetText')),
      )}
      ${card({ title: sayText('whatYouGet'), note: sayContent('forYouAlone') }, choiceForm(model))}
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
    <strong>${sentenceOf(notice)} ${isUnread && html`<span class="chip wait">${sayContent('newNotice')}</span>`}</strong>
    <small class="muted">${when(notice.at)}</small></span>${icon('forth')}</a></li>`;
}

function sentenceOf({ kind, count, amount, tokenSymbol, line }: AppNotice): Content {
  const money = amount === null || tokenSymbol === null ? '' : amountText(amount, tokenSymbol);
  switch (kind) {
    case 'moneyHeld':
      return sayContent('noticeHeld', { money });
    case 'largePayment':
      return sayContent('noticeLarge', { money });
    case 'webhookFailing':
      return sayCount('noticeWebhooks', count);
    case 'firstPayment':
      return sayContent('noticeFirst');
    default:
      return summaryOf(line ?? '');
  }
}

/** Summaries are stored in English; their numbers make the sentence of another language. */
function summaryOf(line: string): string {
  const found = pageLanguage() === 'en' ? null : summaryForm.exec(line);
  if (!found) return line;
  const [, period = '', date = '', payments, received = '', refunded = '', held] = found;
  return sayText('summaryLine', {
    period: sayText(period === 'On' ? 'onDate' : 'weekFrom', { date: dayText(date) }),
    payments: sayCount('summaryPayments', Number(payments)),
    received: grouped(received),
    refunded: grouped(refunded),
    held: sayCount('summaryHeld', Number(held)),
  });
}

const summaryForm =
  /^(On|In the week from) (\d{4}-\d\d-\d\d) \(UTC\): (\d+) payments? paid out, ([\d.]+) dollars received, ([\d.]+) refunded\. Now (\d+) payments? holds? money that can be refunded\.$/;

function pageOf(appId: string, { kind, paymentId }: AppNotice): string {
  const to = appPaths(appId);
  if (paymentId !== null) return to.payment(paymentId);
  if (kind === 'webhookFailing') return withQuery(to.webhooks, { state: 'exhausted' });
  return kind === 'firstPayment' ? to.payments : to.overview;
}

function choiceForm({ app, choice, form }: NotificationsModel): VNode {
  const box = (way: 'mail' | 'bell', kind: NoticeKind): VNode =>
    html`<label class="only"><input type="checkbox" name=${`${way}-${kind}`} value="true" checked=${choice[way].includes(kind)} /><span class="visually-hidden">${sayText(way === 'mail' ? 'noticeByMail' : 'noticeInDashboard', { kind: sayText(kindTexts[kind][0]) })}</span></label>`;
  const large = (BigInt(choice.large_microUsd) / millionths).toString();
  const amounts = [...new Set([...largeAmounts, large])].toSorted((a, b) => Number(BigInt(a) - BigInt(b)));
  return html`<form method="post" action=${appPaths(app.appId).notifications}>
    ${Object.keys(form.errors).length > 0 && inside(problems(form))}
    ${table(
      sayText('notifications'),
      [
        { head: sayText('notification'), kind: 'title' },
        { head: sayText('mail'), kind: 'detail' },
        { head: sayText('dashboard'), kind: 'detail' },
      ],
      noticeKinds.map((kind) => [
        html`<span><strong>${sayContent(kindTexts[kind][0])}</strong><br /><small class="muted">${sayContent(kindTexts[kind][1])}</small></span>`,
        box('mail', kind),
        box('bell', kind),
      ]),
    )}
    <div class="inside">
      ${selectField({
        form: { ...form, values: { large } },
        name: 'large',
        label: sayText('largeFrom'),
        options: amounts.map((amount) => ({ value: amount, label: `$${grouped(amount)}` })),
      })}
      <p class="muted">${sayContent('mailLimits')}</p>
      <div class="controls">${submit(sayContent('save'))}</div>
    </div>
  </form>`;
}

/** Needs of the page of notifications. */
export interface NotificationPagesDeps extends InForce {
  readonly merchants: Pick<ManageMerchant, 'setNotifications'>;
  readonly notices: NoticeReads;
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
