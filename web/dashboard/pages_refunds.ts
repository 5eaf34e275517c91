/** An owner sends money back that a payment of his holds: what, then the code that is mailed for just that. */
import Type, { type Static } from 'typebox';
import type { AskedRefund, RefundedPayment } from '../../commands/refunds.ts';
import { chainOf } from '../../domain/chains.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { formatAmount } from '../../domain/money.ts';
import type { PricedRefund } from '../../domain/payment/refundQuote.ts';
import type { ToConfirm } from '../../src/accounts/accounts.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { scopeOf } from '../../src/api/routes/refunds.ts';
import { Uuid } from '../../src/api/schemas/base.ts';
import { emptyForm, type FormState } from '../parts/form.ts';
import { appPaths } from '../parts/paths.ts';
import { entry, fields } from './fields.ts';
import type { Frames } from './frames.ts';
import { type AnyForm, type AnyPage, form, page, type Shown, type Visit } from './page.ts';
import { askerOf } from './pages_signIn.ts';
import { confirmRefundPage, refundFormPage } from './refund.ts';
import { noSuchPage } from './router.ts';

type Deps = Pick<HttpDeps, 'refunds' | 'accounts' | 'ids' | 'site'>;

const path = '/dashboard/apps/{appId}/payments/{paymentId}/refund';
const params = Type.Object({ paymentId: Uuid });

const orderFields = {
  scope: Type.Union([Type.Literal('all'), Type.Literal('excess'), Type.Literal('part')]),
  asset: Type.Optional(Type.String({ pattern: '^[0-9]{1,6} [!-~]{1,128}$', description: 'one of the list' })),
  amount: Type.Optional(
    Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$', maxLength: 60, description: 'an amount like 10.00' }),
  ),
  reason: Type.Optional(entry(400)),
};
const Order = fields(orderFields);
const Confirmed = fields({ ...orderFields, key: Uuid, challenge: entry(128), code: entry(20) });
type Order = Static<typeof Order>;

type Visitor = Visit<'owner', { readonly paymentId: string }>;
const of = ({ visitor: { appId }, params: { paymentId } }: Visitor): RefundedPayment => ({ appId, paymentId });

/** The fields of a part count for a part alone: the form has them always. */
function askedRefund({ scope, asset, amount, reason }: Order, key: string): AskedRefund | Refusal {
  const [chainId, tokenAddress] = asset?.split(' ') ?? [];
  const wanted = scopeOf({ scope, ...(scope === 'part' && { chainId, tokenAddress, amount }) } as Parameters<
    typeof scopeOf
  >[0]);
  if (isRefusal(wanted)) return wanted;
  return { scope: wanted, to: 'proven', by: 'owner', note: reason ?? null, key };
}

export function refundPages(deps: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { refunds, accounts, ids, site } = deps;
  const asking = async (visit: Visitor, state: FormState): Promise<Shown> => {
    const payment = await refunds.payment(of(visit));
    if (!payment) throw noSuchPage();
    const held = await refunds.held(payment);
    const { paymentId } = visit.params;
    return { page: refundFormPage({ ...(await frames.ofApp(visit)), paymentId, held, form: state }) };
  };
  const confirming = async (
    visit: Visitor,
    planned: readonly PricedRefund[],
    order: Readonly<Record<string, string>>,
    state: FormState,
  ): Promise<Shown> => ({
    page: confirmRefundPage({
      ...(await frames.ofApp(visit)),
      paymentId: visit.params.paymentId,
      planned,
      order,
      form: state,
      mailboxUrl: site.mailboxUrl,
    }),
  });
  const pointers = { '/chainId': 'asset', '/tokenAddress': 'asset' };
  return [
    page({ path, audience: 'owner', params, show: (visit) => asking(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      params,
      fields: Order,
      pointers,
      async act(visit) {
        const key = ids.eventId();
        const asked = askedRefund(visit.fields, key);
        if (isRefusal(asked)) return asked;
        const planned = await refunds.preview(of(visit), asked);
        if (isRefusal(planned)) return planned;
        const { developerId } = visit.visitor;
        const told = toConfirm(visit, visit.fields, key, planned);
        const challenged = await accounts.askToConfirm(developerId, told, askerOf(visit));
        if (isRefusal(challenged)) return challenged;
        return confirming(visit, planned, { ...visit.fields, key, challenge: challenged.challenge }, emptyForm);
      },
      again: asking,
    }),
    form({
      path: `${path}/confirm`,
      audience: 'owner',
      params,
      fields: Confirmed,
      pointers,
      async act(visit) {
        const { key, challenge, code, ...order } = visit.fields;
        const asked = askedRefund(order, key);
        if (isRefusal(asked)) return asked;
        const { appId, developerId } = visit.visitor;
        const { paymentId } = visit.params;
        const planned = await refunds.preview({ appId, paymentId }, asked);
        if (isRefusal(planned)) return planned;
        const thing = thingOf(visit, order, key, planned);
        const confirmed = await accounts.confirm(developerId, challenge, code.replaceAll(/\s/g, ''), thing);
        if (isRefusal(confirmed)) return { ...confirmed, pointer: '/code' };
        const ordered = await refunds.order({ appId, paymentId }, asked, visit.by);
        return isRefusal(ordered) ? ordered : { to: appPaths(appId).payment(paymentId), told: 'refundOrdered' };
      },
      // A code is never sent back.
      async again(visit, { values, errors }) {
        const { code: _, ...order } = values;
        const asked = askedRefund(order as Order, order['key'] ?? '');
        const planned = isRefusal(asked) ? asked : await refunds.preview(of(visit), asked);
        return isRefusal(planned)
          ? asking(visit, { values: order, errors })
          : confirming(visit, planned, order, { values: {}, errors });
      },
    }),
  ];
}

/** Exactly what is ordered: another amount, receiver, payment or key is another thing. */
function thingOf(
  { visitor: { appId }, params: { paymentId } }: Visitor,
  { scope, asset = '', amount = '' }: Order,
  key: string,
  planned: readonly PricedRefund[],
): string {
  const goes = planned.map(({ chainId, token, receiver, amount: all }) => [
    chainId,
    token.address,
    receiver,
    String(all),
  ]);
  return JSON.stringify(['refund', appId, paymentId, scope, asset, amount, key, goes]);
}

const toConfirm = (visit: Visitor, order: Order, key: string, planned: readonly PricedRefund[]): ToConfirm => ({
  thing: thingOf(visit, order, key, planned),
  words: `It sends back, of payment ${visit.params.paymentId} of ${visit.visitor.appId}: ${planned.map(sentence).join('; ')}.`,
});

const sentence = ({ amount, networkFee, token, chainId, receiver }: PricedRefund): string =>
  `${formatAmount(amount - networkFee, token.decimals)} ${token.symbol} on ${chainOf(chainId).name} to ${receiver.address}`;
