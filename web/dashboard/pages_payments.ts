/** An app's payments: as a list, and one by one with all that happened to it. */
import Type, { type Static } from 'typebox';
import { packOf } from '../../commands/heads/evidence.ts';
import type { RefundedPayment } from '../../commands/refunds.ts';
import { parseAsOf } from '../../domain/asOf.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { Held } from '../../domain/payment/refundQuote.ts';
import { type Instant, parseInstant, plus } from '../../domain/time.ts';
import type { PaymentStory } from '../../queries/paymentStory.ts';
import type { HttpDeps, PaymentFilter } from '../../src/api/deps.ts';
import { ApiError, errorOfRefusal } from '../../src/api/errors.ts';
import { payLinkOf } from '../../src/api/payLinks.ts';
import { Cursor, PaymentStatus, Uuid } from '../../src/api/schemas/base.ts';
import type { FormState } from '../parts/form.ts';
import { appPaths } from '../parts/paths.ts';
import { entry, fields } from './fields.ts';
import type { Frames } from './frames.ts';
import { type AnyPage, page } from './page.ts';
import { paymentPage } from './payment.ts';
import { paymentsPage } from './payments.ts';
import type { Moment } from './proof.ts';
import { noSuchPage } from './router.ts';

type Deps = Pick<
  HttpDeps,
  | 'listPayments'
  | 'exportPayments'
  | 'paymentStory'
  | 'getPaymentAsOf'
  | 'proof'
  | 'listTransactions'
  | 'listDeliveries'
  | 'paymentSecrets'
  | 'refunds'
  | 'publicUrl'
  | 'clock'
>;

const rows = 50;
const day_ms = 86_400_000;
/** Of one payment: two by themselves, and those sent by hand. */
const deliveriesMax = 50;

const filterFields = {
  q: Type.Optional(entry(128)),
  status: Type.Optional(PaymentStatus),
  from: Type.Optional(entry(10)),
  to: Type.Optional(entry(10)),
};
export const Filter = fields(filterFields);

export const paymentPages = (deps: Deps, frames: Frames): readonly AnyPage[] => [
  list(deps, frames),
  csv(deps),
  one(deps, frames),
  evidence(deps),
];

const list = ({ listPayments, clock }: Deps, frames: Frames): AnyPage =>
  page({
    path: '/dashboard/apps/{appId}/payments',
    audience: 'owner',
    query: fields({ ...filterFields, cursor: Type.Optional(Cursor) }),
    async show(visit) {
      const { appId } = visit.visitor;
      const { cursor = null, ...sent } = visit.query;
      const { asked, filter } = filterOf(sent);
      const found = await listPayments({ appId, limit: rows, ...asked, ...(cursor !== null && { cursor }) });
      if (isRefusal(found)) throw errorOfRefusal(found);
      const { payments, nextCursor } = found;
      const any = payments.length > 0 || (await hasAny(listPayments, appId));
      const model = { filter, payments, cursor, nextCursor, any, now: clock.now() };
      return { page: paymentsPage({ ...(await frames.ofApp(visit)), ...model }) };
    },
  });

/** All that the list has, whatever page of it was looked at. */
const csv = ({ exportPayments }: Deps): AnyPage =>
  page({
    path: '/dashboard/apps/{appId}/payments.csv',
    audience: 'owner',
    query: Filter,
    stays: true,
    async show({ visitor: { appId }, query, gone }) {
      const { asked, filter } = filterOf(query);
      const [wrong] = Object.values(filter.errors);
      if (wrong !== undefined) throw new ApiError('invalidRequest', wrong);
      return exportPayments({ appId, ...asked }, gone);
    },
  });

async function hasAny(listPayments: Deps['listPayments'], appId: string): Promise<boolean> {
  const found = await listPayments({ appId, limit: 1 });
  return !isRefusal(found) && found.payments.length > 0;
}

/** What to ask for, and the form as it is shown: a day that is none filters nothing, and says so. */
export function filterOf({ q, status, from, to }: Static<typeof Filter>): {
  readonly asked: Omit<PaymentFilter, 'appId' | 'limit'>;
  readonly filter: FormState;
} {
  const [start, end] = [dayOf(from), dayOf(to)];
  const notADay = 'This must be a day, such as 2026-11-22.';
  return {
    asked: {
      ...(q !== undefined && { search: q }),
      ...(status !== undefined && { status }),
      ...(start && { createdAfter: plus(start, -1) }),
      ...(end && { createdBefore: plus(end, day_ms) }),
    },
    filter: {
      values: Object.fromEntries(Object.entries({ q, status, from, to }).filter(isGiven)),
      errors: { ...(from && !start && { from: notADay }), ...(to && !end && { to: notADay }) },
    },
  };
}

const isGiven = (pair: [string, string | undefined]): pair is [string, string] => pair[1] !== undefined;

const PaymentPath = Type.Object({ paymentId: Uuid });

const one = (deps: Deps, frames: Frames): AnyPage =>
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
      const [frame, transactions, sent, held] = await Promise.all([
        frames.ofApp(visit),
        deps.listTransactions(paymentId),
        deps.listDeliveries(appId, { paymentId, limit: deliveriesMax }),
        heldOf(deps, { paymentId, appId }),
      ]);
      const deliveries = isRefusal(sent) ? [] : sent.deliveries;
      const link = payLinkOf(deps, paymentId);
      const facts = { payment, story: entries, transactions, deliveries, held, link, moment, now: deps.clock.now() };
      return { page: paymentPage({ ...frame, ...facts }) };
    },
  });

/** The same bytes as with a key: whoever may see the payment may show it to others. */
const evidence = ({ paymentStory, proof }: Deps): AnyPage =>
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

/** The story as far as a time, and the payment as it was then; as it is now where no time is asked for, or none that there is. */
async function asItWas(
  { getPaymentAsOf }: Pick<Deps, 'getPaymentAsOf'>,
  now: PaymentStory,
  asked: string | undefined,
): Promise<PaymentStory & { readonly moment: Moment }> {
  const form = { values: asked === undefined ? {} : { asOf: asked }, errors: {} };
  if (asked === undefined) return { ...now, moment: { at: null, form } };
  const wrong = (asOf: string) => ({ ...now, moment: { at: null, form: { ...form, errors: { asOf } } } });
  const at = momentOf(asked);
  if (!at) return wrong('This must be a time, such as 2026-11-22T10:00.');
  const found = await getPaymentAsOf(now.payment.paymentId, { time: at });
  if (!found?.view)
    return wrong(`The payment was created at ${now.payment.createdAt}: ask for that time or a later one.`);
  return { payment: found.view, entries: now.entries.filter((each) => each.at <= at), moment: { at, form } };
}

/** Browsers send a time of day without an offset: it is in UTC. */
function momentOf(text: string): Instant | undefined {
  const asOf = parseAsOf(text) ?? parseAsOf(`${text}Z`);
  return asOf && 'time' in asOf ? asOf.time : undefined;
}

/** What is held is no reason not to show the payment. */
async function heldOf({ refunds }: Pick<Deps, 'refunds'>, of: RefundedPayment): Promise<readonly Held[]> {
  const payment = await refunds.payment(of);
  return payment ? refunds.held(payment) : [];
}

/** The day's beginning in UTC. */
const dayOf = (text = ''): Instant | undefined => parseInstant(`${text}T00:00:00Z`);
