/** An app’s payments: filters, search, pages. GET: q, status, from, to (days), cursor. */
import type { VNode } from 'preact';
import Type, { type Static } from 'typebox';
import type { FundedRefunds } from '../../commands/fundedRefunds.ts';
import { packOf } from '../../commands/heads/evidence.ts';
import type { Clock } from '../../commands/ports.ts';
import type { RefundedPayment, Refunds } from '../../commands/refunds.ts';
import { parseAsOf } from '../../domain/asOf.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import type { RefundableMoney } from '../../domain/payment/refundOrder.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import { type Instant, parseInstant, plus } from '../../domain/time.ts';
import {
  type FindFilter,
  type FoundCounts,
  type FoundPayments,
  type FoundRange,
  type FoundSums,
  type PaymentGroup,
  paymentGroups,
  type Sorting,
  sortings,
} from '../../queries/findPayments.ts';
import type { PaymentStory } from '../../queries/paymentStory.ts';
import { ApiError, errorOfRefusal } from '../../src/api/errors.ts';
import { type PayLinkDeps, payLinkOf } from '../../src/api/resource.ts';
import type { DeliveryRoutesDeps } from '../../src/api/routes/deliveries.ts';
import type { MerchantRoutesDeps, PaymentReads } from '../../src/api/routes/payments.ts';
import type { ProofDeps } from '../../src/api/routes/proof.ts';
import { oneOf, PageCursor, PaymentStatus as PaymentStatusSchema, Uuid } from '../../src/api/schemas/base.ts';
import { cameOf, dueOf, empty, paymentChip, stateWord } from '../parts/boxes.ts';
import { amount, amountText, grouped, paymentName, wayOf, when } from '../parts/cells.ts';
import { type FormState, linkButton, selectField, submit, textField } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, type Content, cut, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths, withQuery } from '../parts/paths.ts';
import { type PlainName, sayContent, sayCount, sayText } from '../parts/say.ts';
import { type Column, pager, table } from '../parts/table.ts';
import { entry, fields } from './forms.ts';
import { type AnyPage, type Frames, page } from './page.ts';
import { type Moment, paymentPage } from './payment.ts';
import { noSuchPage } from './router.ts';

export interface PaymentsModel extends Frame {
  /** Fields: q, group, status, from, to, sort. */
  readonly filter: FormState;
  readonly sort: Sorting;
  readonly payments: readonly PaymentView[];
  readonly counts: FoundCounts;
  readonly sums: FoundSums;
  readonly searchCapped: boolean;
  /** Cursor at which this page began; null on the first. */
  readonly cursor: string | null;
  readonly nextCursor: string | null;
  /** True if the app ever had a payment: otherwise an empty list explains how to begin. */
  readonly any: boolean;
  readonly now: Instant;
}

type Query = Readonly<Record<string, string | null>>;

export const paymentsPage = (model: PaymentsModel): VNode => {
  const { app, filter, payments, cursor, nextCursor, sort, sums } = model;
  const to = appPaths(app.appId);
  const query: Query = Object.fromEntries(filterNames.map((name) => [name, filter.values[name] ?? null]));
  const filtered = Object.values(query).some((value) => value !== null && value !== '');
  const shown = model.any || filtered;
  return appPage(
    model,
    {
      title: sayText('payments'),
      section: 'payments',
      live: payments[0] ? sayText('newestPayment', { state: stateWord(payments[0])[1] }) : '',
      controls: [
        payments.length > 0 && linkButton(withQuery(to.csv, query), sayContent('exportCsv')),
        linkButton(to.newLink, sayContent('newPayment'), 'primary'),
      ],
    },
    html`<div class="stack">
      ${shown && filters(to.payments, filter, { filtered, query, now: model.now })}
      <section class="card" id="list" data-live="part" aria-label=${sayContent('payments')}>
        ${shown && groupTabs(to.payments, query, model.counts)}
        ${payments.length > 0 && sumLine(sums, model.searchCapped)}
        ${payments.length > 0 ? paymentTable(app.appId, payments, sort) : noPayments(model, filtered)}
        ${pager({ path: to.payments, query, cursor, nextCursor, first: sayText(sort === 'newest' ? 'newest' : 'firstPage'), next: sayText(sort === 'newest' ? 'older' : 'nextPage') })}
      </section>
    </div>`,
  );
};

const filterNames = ['q', 'group', 'status', 'from', 'to', 'sort'] as const;

const groupWords: Readonly<Record<PaymentGroup, PlainName>> = {
  waiting: 'waiting',
  paid: 'paid',
  needs: 'needsYou',
  expired: 'expired',
  refunded: 'refunded',
};

const sortingWords: Readonly<Record<Sorting, PlainName>> = {
  newest: 'newestFirst',
  oldest: 'oldestFirst',
  largest: 'largestFirst',
  smallest: 'smallestFirst',
};

/** The groups of the list, with the number of payments in each. Fully held money is only under "Needs you". */
function groupTabs(path: string, query: Query, { all, groups, needsCapped }: FoundCounts): VNode {
  const tab = (group: PaymentGroup | null, word: PlainName, count: number, capped = false) =>
    html`<a href=${withQuery(path, { ...query, group, status: null })}
      aria-current=${(query['group'] ?? null) === group && !query['status'] ? 'page' : undefined}>${sayContent(word)}
      <span class="count">${grouped(String(count))}${capped && '+'}</span></a>`;
  return html`<nav class="tabs" aria-label=${sayContent('groupsLabel')}>${tab(null, 'all', all)}${paymentGroups.map(
    (group) => tab(group, groupWords[group], groups[group], group === 'needs' && needsCapped),
  )}</nav>`;
}

/** Sums over all pages of the filtered list. */
function sumLine({ count, capped, tokens }: FoundSums, searchCapped: boolean): VNode {
  const of = (field: 'due' | 'came') =>
    tokens
      .filter((each) => Number(each[field]) > 0)
      .map((each) => amountText(each[field], each.tokenSymbol))
      .join(' + ') || grouped('0.00');
  const what = capped ? sayText('newestCount', { count: grouped(String(count)) }) : sayCount('paymentCount', count);
  return html`<p class="sums small muted">${sayContent('sums', { payments: what, due: of('due'), received: of('came') })}${
    capped && ` ${sayText('sortedAmong')}`
  }${searchCapped && ` ${sayText('searchCapped')}`}</p>`;
}

interface FilterState {
  readonly filtered: boolean;
  readonly query: Query;
  readonly now: Instant;
}

const filters = (path: string, form: FormState, { filtered, query, now }: FilterState): VNode =>
  html`<div class="rows"><form class="filters" role="search" method="get" action=${path}>
    ${textField({
      form,
      name: 'q',
      label: sayText('search'),
      type: 'search',
      optional: true,
      maxlength: 128,
      placeholder: sayText('searchPlaceholder'),
    })}
    ${selectField({ form, name: 'sort', label: sayText('sort'), optional: true, options: sortings.map((value) => ({ value: value === 'newest' ? '' : value, label: sayText(sortingWords[value]) })) })}
    ${textField({ form, name: 'from', label: sayText('fromUtc'), type: 'date', optional: true })}
    ${textField({ form, name: 'to', label: sayText('toUtc'), type: 'date', optional: true })}
    ${form.values['group'] && html`<input type="hidden" name="group" value=${form.values['group']} />`}
    ${form.values['status'] && html`<input type="hidden" name="status" value=${form.values['status']} />`}
    <div class="controls">${submit(sayContent('search'), 'plain')}${filtered && linkButton(path, sayContent('clear'), 'quiet')}</div>
  </form>${quickRanges(path, query, now)}</div>`;

function quickRanges(path: string, query: Query, now: Instant): VNode {
  const today = now.slice(0, 10);
  const ago = (days: number) => plus(now, -days * day_ms).slice(0, 10);
  const ranges: readonly (readonly [PlainName, string | null, string | null])[] = [
    ['anyTime', null, null],
    ['today', today, today],
    ['days7', ago(6), today],
    ['days30', ago(29), today],
    ['thisMonth', `${today.slice(0, 8)}01`, today],
  ];
  return html`<nav class="switch ranges" aria-label=${sayContent('daysLabel')}>${ranges.map(
    ([word, from, to]) =>
      html`<a href=${withQuery(path, { ...query, from, to })}
        aria-current=${(query['from'] || null) === from && (query['to'] || null) === to ? 'page' : undefined}>${sayContent(word)}</a>`,
  )}</nav>`;
}

function noPayments({ app, any, cursor }: PaymentsModel, filtered: boolean): VNode {
  const to = appPaths(app.appId);
  if (filtered) {
    return empty(
      sayText('noneLikeThat'),
      sayContent('noneLikeThatText'),
      linkButton(to.payments, sayContent('showAll')),
    );
  }
  if (any || cursor !== null)
    return empty(sayText('noMorePayments'), sayContent('lastPage'), linkButton(to.payments, sayContent('newest')));
  return empty(
    sayText('noPaymentYet'),
    sayContent('noPaymentYetList'),
    html`<div class="controls">${linkButton(to.newLink, sayContent('newPayment'), 'primary')}
      ${linkButton(to.keys, sayContent('issueKey'))}</div>`,
  );
}

// An app's payments: as a list, and each with its history.

/** Needs of the pages of payments. */
export interface PaymentPagesDeps
  extends Pick<PaymentReads, 'getPaymentAsOf' | 'listTransactions'>,
    Pick<MerchantRoutesDeps, 'exportPayments'>,
    Pick<DeliveryRoutesDeps, 'listDeliveries'>,
    Pick<PayLinkDeps, 'paymentSecrets' | 'publicUrl'> {
  readonly proof: ProofDeps;
  readonly refunds: Refunds;
  readonly fundedRefunds: Pick<FundedRefunds, 'facts'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Refuses a cursor that is none of ours. */
  readonly findPayments: (filter: FindFilter, page: FoundRange) => Promise<FoundPayments | Refusal>;
  /** The story of an app's payment, step by step; null for an unknown id. */
  readonly paymentStory: (appId: string, paymentId: string) => Promise<PaymentStory | null>;
}

const rows = 50;
const day_ms = 86_400_000;
/** For one payment: two automatic ones, and redeliveries. */
const deliveriesMax = 50;

const filterFields = {
  q: Type.Optional(entry(128)),
  group: Type.Optional(oneOf(paymentGroups)),
  status: Type.Optional(PaymentStatusSchema),
  sort: Type.Optional(oneOf(sortings)),
  from: Type.Optional(entry(10)),
  to: Type.Optional(entry(10)),
};
export const PaymentFilterFields = fields(filterFields);

export const paymentPages = (deps: PaymentPagesDeps, frames: Frames): readonly AnyPage[] => [
  list(deps, frames),
  csv(deps),
  one(deps, frames),
  evidence(deps),
];

const list = ({ findPayments, clock }: PaymentPagesDeps, frames: Frames): AnyPage =>
  page({
    path: '/dashboard/apps/{appId}/payments',
    audience: 'owner',
    query: fields({ ...filterFields, cursor: Type.Optional(PageCursor) }),
    async show(visit) {
      const { appId } = visit.visitor;
      const { cursor = null, ...sent } = visit.query;
      const { asked, filter } = filterOf(sent);
      const found = await findPayments({ appId, ...asked }, { limit: rows, ...(cursor !== null && { cursor }) });
      if (isRefusal(found)) throw errorOfRefusal(found);
      const any = found.counts.all > 0 || (await hasAny(findPayments, appId));
      const model = { ...found, filter, sort: sent.sort ?? 'newest', cursor, any, now: clock.now() };
      return { page: paymentsPage({ ...(await frames.ofApp(visit)), ...model }) };
    },
  });

/** The whole list, not only one page of it. */
const csv = ({ exportPayments }: PaymentPagesDeps): AnyPage =>
  page({
    path: '/dashboard/apps/{appId}/payments.csv',
    audience: 'owner',
    query: PaymentFilterFields,
    stays: true,
    async show({ visitor: { appId }, query, gone }) {
      const { asked, filter } = filterOf(query);
      const [wrong] = Object.values(filter.errors);
      if (wrong !== undefined) throw new ApiError('invalidRequest', wrong);
      // Newest first, whatever the list is sorted by: the export has all, and the list sorts a part by amount.
      return exportPayments({ appId, find: { ...asked, sort: 'newest' } }, gone);
    },
  });

async function hasAny(findPayments: PaymentPagesDeps['findPayments'], appId: string): Promise<boolean> {
  const found = await findPayments({ appId }, { limit: 1 });
  return !isRefusal(found) && found.payments.length > 0;
}

/** Query and displayed form: an invalid day filters nothing, with an error. */
export function filterOf(sent: Static<typeof PaymentFilterFields>): {
  readonly asked: Omit<FindFilter, 'appId'>;
  readonly filter: FormState;
} {
  const { q, group, status, sort, from, to } = sent;
  const [start, end] = [dayOf(from), dayOf(to)];
  const notADay = sayText('notADay');
  return {
    asked: {
      ...(q !== undefined && { search: q }),
      ...(group !== undefined && { group }),
      ...(status !== undefined && { status }),
      ...(sort !== undefined && { sort }),
      ...(start && { createdAfter: plus(start, -1) }),
      ...(end && { createdBefore: plus(end, day_ms) }),
    },
    filter: {
      values: Object.fromEntries(Object.entries({ q, group, status, sort, from, to }).filter(isGiven)),
      errors: { ...(from && !start && { from: notADay }), ...(to && !end && { to: notADay }) },
    },
  };
}

const isGiven = (pair: [string, string | undefined]): pair is [string, string] => pair[1] !== undefined;

const PaymentPath = Type.Object({ paymentId: Uuid });

const one = (deps: PaymentPagesDeps, frames: Frames): AnyPage =>
  page({
    path: '/dashboard/apps/{appId}/payments/{paymentId}',
    audience: 'owner',
    params: PaymentPath,
    query: fields({ asOf: Type.Optional(entry(40)) }),
    async show(visit) {
      const { appId } = visit.visitor;
      const story = await deps.paymentStory(appId, visit.params.paymentId);
      if (!story) throw noSuchPage();
      const { payment, entries, moment } = await asItWas(deps, story, visit.query.asOf);
      const { paymentId } = payment;
      const [frame, transactions, sent, held, funded] = await Promise.all([
        frames.ofApp(visit),
        deps.listTransactions(paymentId),
        deps.listDeliveries(appId, { paymentId, limit: deliveriesMax }),
        heldOf(deps, { paymentId, appId }),
        moment.at === null ? deps.fundedRefunds.facts(appId, paymentId) : null,
      ]);
      const deliveries = isRefusal(sent) ? [] : sent.deliveries;
      const link = payLinkOf(deps, paymentId);
      const facts = {
        payment,
        story: entries,
        transactions,
        deliveries,
        held,
        funded,
        link,
        moment,
        now: deps.clock.now(),
      };
      return { page: paymentPage({ ...frame, ...facts }) };
    },
  });

/** The same bytes as with a key: a viewer of the payment may pass it on. */
const evidence = ({ paymentStory, proof }: PaymentPagesDeps): AnyPage =>
  page({
    path: '/dashboard/apps/{appId}/payments/{paymentId}/evidence',
    audience: 'owner',
    params: PaymentPath,
    async show({ visitor: { appId }, params }) {
      const story = await paymentStory(appId, params.paymentId);
      if (!story) throw noSuchPage();
      const { paymentId } = story.payment;
      const proven = await proof.evidence(`payment-${paymentId}`);
      if (isRefusal(proven)) return { to: appPaths(appId).payment(paymentId), told: 'evidenceNotYet' };
      return {
        status: 200,
        body: packOf(proven),
        type: 'application/json; charset=utf-8',
        headers: { 'Content-Disposition': `attachment; filename="evidence-${paymentId}.json"` },
      };
    },
  });

/** History up to a time, and the payment at that time; the current payment without a valid time. */
async function asItWas(
  { getPaymentAsOf }: Pick<PaymentPagesDeps, 'getPaymentAsOf'>,
  now: PaymentStory,
  asked: string | undefined,
): Promise<PaymentStory & { readonly moment: Moment }> {
  const form = { values: asked === undefined ? {} : { asOf: asked }, errors: {} };
  if (asked === undefined) return { ...now, moment: { at: null, form } };
  const wrong = (asOf: string) => ({ ...now, moment: { at: null, form: { ...form, errors: { asOf } } } });
  const at = momentOf(asked);
  if (!at) return wrong(sayText('notATime'));
  const found = await getPaymentAsOf(now.payment.paymentId, { time: at });
  if (!found?.view) return wrong(sayText('createdLater', { time: now.payment.createdAt }));
  return { payment: found.view, entries: now.entries.filter((each) => each.at <= at), moment: { at, form } };
}

/** Browsers send a time of day without an offset: it is in UTC. */
function momentOf(text: string): Instant | undefined {
  const asOf = parseAsOf(text) ?? parseAsOf(`${text}Z`);
  return asOf && 'time' in asOf ? asOf.time : undefined;
}

/** A failure to read held money must not hide the payment. */
async function heldOf(
  { refunds }: Pick<PaymentPagesDeps, 'refunds'>,
  of: RefundedPayment,
): Promise<readonly RefundableMoney[]> {
  const payment = await refunds.payment(of);
  return payment ? refunds.held(payment) : [];
}

/** Start of the day in UTC. */
const dayOf = (text = ''): Instant | undefined => parseInstant(`${text}T00:00:00Z`);

// Payments as rows. The whole row leads to the payment.

const captions: Readonly<Record<Sorting, PlainName>> = {
  newest: 'captionNewest',
  oldest: 'captionOldest',
  largest: 'captionLargest',
  smallest: 'captionSmallest',
};

const columnsBy = (sort: Sorting): readonly Column[] => [
  { head: sayText('payment'), kind: 'title' },
  { head: sayText('way'), kind: 'note' },
  { head: sayText('state'), kind: 'chip' },
  {
    head: sayText('created'),
    kind: 'when',
    ...(sort === 'newest' && { sorted: 'descending' }),
    ...(sort === 'oldest' && { sorted: 'ascending' }),
  },
  {
    head: sayText('due'),
    kind: 'number',
    ...(sort === 'largest' && { sorted: 'descending' }),
    ...(sort === 'smallest' && { sorted: 'ascending' }),
  },
  { head: sayText('received'), kind: 'detail' },
];

export const paymentTable = (appId: string, payments: readonly PaymentView[], sort: Sorting = 'newest'): VNode =>
  html`<div class="whole-rows">${table(
    sayText(captions[sort]),
    columnsBy(sort),
    payments.map((payment) => [
      nameCell(appId, payment),
      html`<span class="names">${wayOf(payment)}</span>`,
      paymentChip(payment),
      when(payment.createdAt),
      amount(dueOf(payment), payment.sourceTokenSymbol),
      receivedCell(payment),
    ]),
  )}</div>`;

function nameCell(appId: string, payment: PaymentView): Content {
  const { orderId, title, tags } = payment;
  return html`<span><strong><a href=${appPaths(appId).payment(payment.paymentId)}>${bdi(paymentName(payment))}</a></strong>
    ${orderId !== null && title !== null && html`<small class="below">${bdi(cut(title, 80))}</small>`}
    ${tags !== null && html`<small class="below">${bdi(tags.map((tag) => `#${tag}`).join(' '))}</small>`}</span>`;
}

function receivedCell(payment: PaymentView): Content {
  const came = cameOf(payment);
  if (came.length === 0) return null;
  return html`<span dir="ltr">${came.flatMap((each, place) => [place > 0 && ' + ', html`<span class="money">${each}</span>`])}</span>`;
}
