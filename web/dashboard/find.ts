/** Finds pages, apps and payments from anywhere. The page works alone; client/find.js shows the same list in a dialog on Ctrl-K. GET: q. */
import type { VNode } from 'preact';
import Type from 'typebox';
import { isRefusal } from '../../domain/decider.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import { dueOf, empty, stateWord } from '../parts/boxes.ts';
import { amountText, paymentName } from '../parts/cells.ts';
import { submit, textField } from '../parts/field.ts';
import type { AppName, Frame } from '../parts/frame.ts';
import { bdi, type Content, cut, html } from '../parts/html.ts';
import { type IconName, icon } from '../parts/icon.ts';
import { appPage, sections } from '../parts/layout.ts';
import { appPaths, withQuery } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { entry, fields } from './forms.ts';
import { type AnyPage, type Frames, page } from './page.ts';
import type { PaymentPagesDeps } from './payments.ts';

export interface FindModel extends Frame {
  readonly q: string;
  /** Newest first; a handful. */
  readonly payments: readonly PaymentView[];
  /** How many there are. */
  readonly count: number;
}

/** Payments that are listed. */
const shownMax = 8;

export function findPage(model: FindModel): VNode {
  const { app, q } = model;
  const form = { values: { q }, errors: {} };
  return appPage(
    model,
    { title: sayText('find'), section: 'payments' },
    html`<div class="stack narrow">
      <form class="filters one" role="search" method="get" action=${appPaths(app.appId).find}>
        ${textField({ form, name: 'q', label: sayText('find'), type: 'search', optional: true, maxlength: 128, focus: true, placeholder: sayText('findPlaceholder') })}
        <div class="controls">${submit(sayContent('find'), 'plain')}</div>
      </form>
      <section class="card" id="found" aria-label=${sayContent('found')}>${results(model)}</section>
    </div>`,
  );
}

interface Result {
  readonly href: string;
  readonly drawing: IconName;
  readonly title: Content;
  readonly text: Content;
}

function results(model: FindModel): VNode {
  const { app, q, payments, count } = model;
  const rest = count > payments.length && payments.length > 0;
  const all: readonly Result[] = [
    ...payments.map((payment) => paymentResult(app, payment)),
    ...(rest
      ? [
          {
            href: withQuery(appPaths(app.appId).payments, { q }),
            drawing: 'search' as const,
            title: sayContent('allFound', { count }),
            text: '',
          },
        ]
      : []),
    ...pagesLike(app, q),
    ...appsLike(model),
  ];
  if (all.length === 0) return empty(sayText('nothingFound'), sayContent('nothingFoundText'));
  return html`<ul class="list">${all.map(
    ({
      href,
      drawing,
      title,
      text,
    }) => html`<li><a class="go" href=${href}>${icon(drawing)}<span><strong>${title}</strong>
      ${text && html`<small class="muted">${text}</small>`}</span></a></li>`,
  )}</ul>`;
}

function paymentResult({ appId }: AppName, payment: PaymentView): Result {
  const title = payment.orderId !== null && payment.title !== null ? `, ${cut(payment.title, 60)}` : '';
  return {
    href: appPaths(appId).payment(payment.paymentId),
    drawing: 'payments',
    title: bdi(`${paymentName(payment)}${title}`),
    text: `${amountText(dueOf(payment), payment.sourceTokenSymbol)}, ${stateWord(payment)[1].toLowerCase()}`,
  };
}

const fits = (text: string, q: string): boolean =>
  text
    .toLowerCase()
    .split(/\s+/)
    .some((_, place, words) => words.slice(place).join(' ').startsWith(q.toLowerCase()));

const pagesLike = ({ appId }: AppName, q: string): readonly Result[] =>
  sections
    .map(([section, drawing]) => ({ section, drawing, label: sayText(section) }))
    .filter(({ label }) => q === '' || fits(label, q))
    .map(({ section, drawing, label }) => ({
      href: appPaths(appId)[section],
      drawing,
      title: label,
      text: '',
    }));

const appsLike = ({ app, apps, q }: FindModel): readonly Result[] =>
  apps
    .filter(({ appId, name }) => q !== '' && appId !== app.appId && (fits(name, q) || fits(appId, q)))
    .map(({ appId, name }) => ({ href: appPaths(appId).overview, drawing: 'choose', title: bdi(name), text: appId }));

export const findPages = (
  { findPayments }: Pick<PaymentPagesDeps, 'findPayments'>,
  frames: Frames,
): readonly AnyPage[] => [
  page({
    path: '/dashboard/apps/{appId}/find',
    audience: 'owner',
    query: fields({ q: Type.Optional(entry(128)) }),
    async show(visit) {
      const { appId } = visit.visitor;
      const { q = '' } = visit.query;
      const [frame, found] = await Promise.all([
        frames.ofApp(visit),
        q === '' ? null : findPayments({ appId, search: q }, { limit: shownMax }),
      ]);
      const { payments, count } =
        found === null || isRefusal(found)
          ? { payments: [], count: 0 }
          : { payments: found.payments, count: found.counts.all };
      return { page: findPage({ ...frame, q, payments, count }) };
    },
  }),
];
