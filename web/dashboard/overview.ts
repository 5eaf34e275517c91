/** Overview of an app. */
import type { VNode } from 'preact';
import Type from 'typebox';
import type { Clock } from '../../commands/ports.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import { type Instant, plus } from '../../domain/time.ts';
import type { Settings } from '../../queries/apps.ts';
import type { PaymentsInNeed } from '../../queries/findPayments.ts';
import type { UsedKey } from '../../queries/merchantAudit.ts';
import type { Overview, StatsPeriod } from '../../queries/reports.ts';
import type { DeliveryRoutesDeps } from '../../src/api/routes/deliveries.ts';
import type { KeyReads } from '../../src/api/routes/keys.ts';
import type { PaymentReads } from '../../src/api/routes/payments.ts';
import type { SettingsReads } from '../../src/api/routes/settings.ts';
import { StatsPeriod as StatsPeriodSchema } from '../../src/api/schemas/base.ts';
import { card, dueOf, empty, type Fact, facts, inside } from '../parts/boxes.ts';
import { amountText, between, grouped, lengthText, paymentName, when } from '../parts/cells.ts';
import { barChart } from '../parts/chart.ts';
import { linkButton } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, type Content, html } from '../parts/html.ts';
import { type IconName, icon } from '../parts/icon.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths, withQuery } from '../parts/paths.ts';
import { countContent, type PlainName, sayContent, sayCount, sayText } from '../parts/say.ts';
import { fields } from './forms.ts';
import { type AnyPage, type Frames, page } from './page.ts';
import { paymentTable } from './payments.ts';

export interface OverviewModel extends Frame {
  readonly period: StatsPeriod;
  readonly overview: Overview;
  /** Newest first, at most a few. */
  readonly payments: readonly PaymentView[];
  /** Completed setup steps; the page leads through the others. */
  readonly setUp: { readonly key: boolean; readonly settlement: boolean; readonly webhook: boolean };
  readonly needs: Needs;
  readonly now: Instant;
}

const periods: readonly (readonly [StatsPeriod, PlainName])[] = [
  ['today', 'today'],
  ['7d', 'days7'],
  ['30d', 'days30'],
];

/** Words of a comparison with the time before the period. */
const comparisons: Readonly<Record<StatsPeriod, { readonly nothing: PlainName; readonly on: PlainName }>> = {
  today: { nothing: 'nothingYesterday', on: 'onYesterday' },
  '7d': { nothing: 'nothing7d', on: 'on7d' },
  '30d': { nothing: 'nothing30d', on: 'on30d' },
};

export const overviewPage = (model: OverviewModel): VNode => {
  const { overview, period, payments } = model;
  const to = appPaths(model.app.appId);
  const { stats } = overview;
  /** Figures of nothing would only hide the steps. The empty parts let the news of the first payment fill them. */
  const isFirstDay = payments.length === 0;
  const chart = stats.chart.map(({ date, volumeUsdc, paymentCount }) => ({
    date,
    value: volumeUsdc,
    count: paymentCount,
  }));
  return appPage(
    model,
    {
      title: sayText('overview'),
      section: 'overview',
      live: sayCount('paymentCount', stats.paymentCount),
      controls: [
        !isFirstDay && periodSwitch(to.overview, period),
        linkButton(to.newLink, sayContent('newPayment'), 'primary'),
      ],
    },
    html`<div class="stack">
      ${needsCard(model.app.appId, model.needs, model.now)}
      ${setUpSteps(model)}
      ${isFirstDay ? html`<div id="facts" data-live="part"></div>` : facts(factsOf(overview, period))}
      ${isFirstDay && html`<div id="volume" data-live="part"></div>`}
      ${
        !isFirstDay &&
        chart.length > 1 &&
        card(
          { title: sayText('volume'), note: sayContent('volumeNote'), live: 'volume' },
          inside(
            stats.paymentCount === 0
              ? html`<p class="muted">${sayContent('nothingPaidOut')}</p>`
              : barChart(sayText('volume'), 'USDC', chart),
          ),
        )
      }
      ${card(
        {
          title: sayText('latestPayments'),
          live: 'latest',
          controls: payments.length > 0 && linkButton(to.payments, sayContent('allPayments')),
        },
        payments.length > 0
          ? paymentTable(model.app.appId, payments)
          : empty(
              sayText('noPaymentYet'),
              sayContent('noPaymentYetOverview'),
              linkButton(to.newLink, sayContent('newPayment')),
            ),
      )}
    </div>`,
  );
};

const periodSwitch = (path: string, chosen: StatsPeriod): VNode =>
  html`<nav class="switch" aria-label=${sayContent('periodLabel')}>${periods.map(
    ([value, label]) =>
      html`<a href=${withQuery(path, { period: value })} aria-current=${value === chosen ? 'page' : undefined}>
      ${sayContent(label)}</a>`,
  )}</nav>`;

/** The app's missing setup steps, in the recommended order. Null if none is missing. */
function setUpSteps({ app, setUp, mode, payments }: OverviewModel): VNode | null {
  const to = appPaths(app.appId);
  const steps = [
    {
      done: setUp.settlement,
      href: to.settlement,
      title: sayContent('setWallet'),
      text: sayContent('setWalletText'),
    },
    { done: setUp.key, href: to.keys, title: sayContent('issueKey'), text: sayContent('issueKeyText') },
    {
      done: setUp.webhook,
      href: to.webhooks,
      title: sayContent('setWebhook'),
      text: sayContent('setWebhookText'),
    },
    ...(mode === 'live' || app.appId.startsWith('wallet_')
      ? []
      : [
          {
            done: payments.length > 0,
            href: to.testPayment,
            title: sayContent('makeTest'),
            text: sayContent('makeTestText'),
          },
        ]),
  ];
  if (steps.every(({ done }) => done)) return null;
  return card(
    {
      title: sayText('setUp'),
      note: sayContent('setUpNote', { done: steps.filter(({ done }) => done).length, all: steps.length }),
    },
    html`<ol class="list">${steps.map(
      ({ done, href, title, text }) =>
        html`<li class=${done ? 'done' : undefined}><a class="go" href=${href}><span class="tick">
          ${done && icon('check')}</span><span><strong>${title}</strong>
          ${done && html`<span class="visually-hidden"> ${sayContent('stepDone')}</span>`}<small class="muted">${text}</small></span>
          ${icon('forth')}</a></li>`,
    )}</ol>`,
  );
}

function factsOf({ stats, before, created, seenToPaidOut }: Overview, period: StatsPeriod): readonly Fact[] {
  return [
    {
      term: sayText('volume'),
      value: html`<span>${grouped(stats.volumeUsdc)} <small>USDC</small></span>`,
      note: comparison(Number(stats.volumeUsdc), Number(before.volumeUsdc), period),
    },
    {
      term: sayText('paidOutToYou'),
      value: html`<span>${grouped(stats.netToWalletUsdc)} <small>USDC</small></span>`,
      note:
        Number(stats.refundedUsdc) > 0
          ? sayContent('wentBack', { amount: grouped(stats.refundedUsdc) })
          : countText(stats.paymentCount, before.paymentCount),
    },
    {
      term: sayText('paidOfCreated'),
      value: created.count === 0 ? '–' : `${percent(created.paid / created.count)} %`,
      note:
        created.count === 0
          ? sayContent('noneCreated')
          : sayContent('expiredUnpaid', {
              expired: grouped(String(created.expiredUnpaid)),
              all: grouped(String(created.count)),
            }),
    },
    {
      term: sayText('seenToPaidOut'),
      value: seenToPaidOut ? lengthText(1_000 * seenToPaidOut.median_s) : '–',
      note: seenToPaidOut
        ? sayContent('within95', { time: lengthText(1_000 * seenToPaidOut.p95_s) })
        : sayContent('nonePaidOut'),
    },
  ];
}

function comparison(now: number, before: number, period: StatsPeriod): Content {
  const { nothing, on } = comparisons[period];
  if (before === 0) return sayContent(nothing);
  const change = (now - before) / before;
  const [kind, sign, word] = change >= 0 ? (['up', '▲', 'more'] as const) : (['down', '▼', 'less'] as const);
  const mark = html`<span class=${kind}><span aria-hidden="true">${sign}</span> ${percent(Math.abs(change))} %</span>`;
  return html`<span>${mark} <span class="visually-hidden">${sayContent(word)} </span>${sayContent(on)}</span>`;
}

const countText = (count: number, before: number): string =>
  sayText('countBefore', { payments: sayCount('paymentCount', count), before: grouped(String(before)) });

/** One place below ten, none above: `9.4`, `91`. */
const percent = (share: number): string => grouped((100 * share).toFixed(100 * share < 10 ? 1 : 0));

// Overview of an app.

/** Needs of the pages of the overview. */
export interface OverviewPagesDeps
  extends Pick<PaymentReads, 'listPayments'>,
    Pick<DeliveryRoutesDeps, 'listDeliveries'>,
    Pick<SettingsReads, 'getSettings'>,
    Pick<KeyReads, 'listKeys'> {
  readonly clock: Pick<Clock, 'now'>;
  readonly paymentsInNeed: (appId: string) => Promise<PaymentsInNeed>;
  readonly getOverview: (appId: string, period: StatsPeriod) => Promise<Overview>;
}

const newest = 6;
const day_ms = 86_400_000;

export const overviewPages = (deps: OverviewPagesDeps, frames: Frames): readonly AnyPage[] => [
  page({
    path: '/dashboard/apps/{appId}/',
    audience: 'owner',
    query: fields({ period: Type.Optional(StatsPeriodSchema) }),
    async show(visit) {
      const { appId } = visit.visitor;
      const { period = '7d' } = visit.query;
      const [frame, overview, payments, settings, keys, exhausted, inNeed] = await Promise.all([
        frames.ofApp(visit),
        deps.getOverview(appId, period),
        deps.listPayments({ appId, limit: newest }),
        deps.getSettings(appId),
        deps.listKeys(appId),
        exhaustedOf(deps, appId),
        deps.paymentsInNeed(appId),
      ]);
      const listed = isRefusal(payments) ? [] : payments.payments;
      const now = deps.clock.now();
      const needs = {
        payments: inNeed,
        exhausted,
        walletFrom: settings?.settlementChange?.effectiveAt ?? null,
        unusedKeys: unusedOf(keys, now),
      };
      const setUp = setUpOf(appId, settings, keys);
      return { page: overviewPage({ ...frame, period, overview, payments: listed, setUp, needs, now }) };
    },
  }),
];

const setUpOf = (appId: string, settings: Settings | null, keys: readonly UsedKey[]): OverviewModel['setUp'] => ({
  key: keys.some(({ revokedAt }) => revokedAt === null),
  settlement: settings?.settlement !== null || appId.startsWith('wallet_'),
  webhook: settings?.webhookUrl !== null,
});

/** Keys that work, and that nobody used for long: the app's people may have forgotten them. */
const unusedOf = (keys: readonly UsedKey[], now: Instant): readonly UsedKey[] =>
  keys.filter(
    ({ revokedAt, expiresAt, createdAt, lastUsedAt }) =>
      revokedAt === null &&
      (expiresAt === null || expiresAt > now) &&
      (lastUsedAt ?? createdAt) < plus(now, -unusedKey_days * day_ms),
  );

/** Exhausted deliveries of the last day. */
async function exhaustedOf({ listDeliveries, clock }: OverviewPagesDeps, appId: string): Promise<number> {
  const since = plus(clock.now(), -day_ms);
  const page = await listDeliveries(appId, { limit: exhaustedMax, status: 'exhausted', withoutRemoved: true });
  return isRefusal(page) ? 0 : page.deliveries.filter(({ startedAt }) => startedAt >= since).length;
}

// "Needs you" on the overview: tasks of people, each with a link to its page.

export interface Needs {
  readonly payments: PaymentsInNeed;
  /** Webhooks of the last 24 hours that the receiver did not accept, counted up to `exhaustedMax`. */
  readonly exhausted: number;
  /** When the requested settlement wallet takes effect; null without a request. */
  readonly walletFrom: Instant | null;
  /** Keys that still work and were not used for `unusedKey_days`. */
  readonly unusedKeys: readonly { readonly keyId: string; readonly name: string }[];
}

const unusedKey_days = 90;
const exhaustedMax = 100;
/** Underpaid payments that have an entry of their own. */
const underpaidShown = 3;

interface Entry {
  readonly href: string;
  readonly drawing: IconName;
  readonly title: Content;
  readonly text: Content;
}

/** Null if there is no task. */
function needsCard(appId: string, needs: Needs, now: Instant): VNode | null {
  const entries = entriesOf(appId, needs, now);
  if (entries.length === 0) return null;
  return card(
    { title: sayText('needsYou'), live: 'needs' },
    html`<ul class="list">${entries.map(
      ({ href, drawing, title, text }) =>
        html`<li><a class="go" href=${href}><span class="tick need">${icon(drawing)}</span><span><strong>${title}</strong>
          <small class="muted">${text}</small></span>${icon('forth')}</a></li>`,
    )}</ul>`,
  );
}

function entriesOf(appId: string, needs: Needs, now: Instant): readonly Entry[] {
  const to = appPaths(appId);
  const { payments, exhausted, walletFrom, unusedKeys } = needs;
  const { holding, underpaid } = payments;
  const inNeed = withQuery(to.payments, { group: 'needs' });
  const entries: Entry[] = [];
  if (holding.count > 0)
    entries.push({
      href: inNeed,
      drawing: 'balance',
      title: heldTitle(payments),
      text: sayContent('holdMoneyText'),
    });
  for (const payment of underpaid.slice(0, underpaidShown)) entries.push(underpaidEntry(appId, payment, now));
  if (underpaid.length > underpaidShown)
    entries.push({
      href: inNeed,
      drawing: 'clock',
      title: sayCount('moreUnderpaid', underpaid.length - underpaidShown),
      text: sayContent('moreUnderpaidText'),
    });
  if (exhausted > 0)
    entries.push({
      href: to.webhooks,
      drawing: 'webhooks',
      title: sayCount('webhooksRefused', exhausted, exhausted < exhaustedMax ? {} : { count: `${exhaustedMax}+` }),
      text: sayContent('webhooksRefusedText'),
    });
  if (walletFrom !== null)
    entries.push({
      href: to.settlement,
      drawing: 'settlement',
      title: html`<span>${sayContent('walletFrom', { time: when(walletFrom) })}</span>`,
      text: sayContent('walletFromText'),
    });
  if (unusedKeys.length > 0)
    entries.push({
      href: to.keys,
      drawing: 'keys',
      title: sayCount('keysUnused', unusedKeys.length, { days: String(unusedKey_days) }),
      text: html`<span>${sayContent('keysUnusedText', {
        names: bdi(
          unusedKeys
            .slice(0, 3)
            .map(({ name }) => name)
            .join(', '),
        ),
      })}${unusedKeys.length > 3 && ', …'}</span>`,
    });
  return entries;
}

function heldTitle({ holding: { count, sums }, capped }: PaymentsInNeed): Content {
  const money = sums.map(({ amount, tokenSymbol }) => amountText(amount, tokenSymbol)).join(' + ');
  const what = countContent('holdMoney', count, { money });
  return capped ? sayContent('atLeast', { what }) : what;
}

function underpaidEntry(appId: string, payment: PaymentView, now: Instant): Entry {
  const left_ms = between(now, payment.expiresAt);
  const { sourceTokenSymbol } = payment;
  return {
    href: appPaths(appId).payment(payment.paymentId),
    drawing: 'clock',
    title: html`<span>${bdi(paymentName(payment))}: ${sayContent('receivedOf', {
      received: grouped(payment.amountReceived ?? '0.00'),
      due: amountText(dueOf(payment), sourceTokenSymbol),
    })}</span>`,
    text: left_ms > 0 ? sayContent('payTimeLeft', { time: lengthText(left_ms) }) : sayContent('payTimeOver'),
  };
}
