import type { RefundedPayment, Refunds } from '../../../commands/refunds.ts';
import { findChain, tokenAt } from '../../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { formatAmount, parseAmount } from '../../../domain/money.ts';
import type { RefundableMoney, RefundOrder } from '../../../domain/payment/refundOrder.ts';
import { refundResource, refundView, refundViews } from '../../../domain/payment/view.ts';
import { paymentIdIn } from '../../../queries/payments.ts';
import { type AnyRoute, ok, route } from '../router.ts';
import { PaymentPath } from '../schemas/requests.ts';
import { RefundRequest, RefundsOrdered, RefundsResponse } from '../schemas/responses.ts';

const tag = 'Refunds';
const noPayment = refuse('paymentNotFound', 'no payment has this id: check it against the create response', '/id');
const ownErrors = ['invalidRequest', 'unauthenticated', 'scope_insufficient', 'paymentNotFound'] as const;

/** Needs of the routes of refunds. */
export interface RefundRoutesDeps {
  readonly refunds: Refunds;
}

/** Refunds of held money to its senders. */
export const refundRoutes = ({ refunds }: Pick<RefundRoutesDeps, 'refunds'>): readonly AnyRoute[] => [
  route({
    method: 'get',
    path: '/payment-api/payments/{id}/refunds',
    auth: 'admin',
    params: PaymentPath,
    answers: { 200: { description: 'Refunds of the payment, and the held money', schema: RefundsResponse } },
    errors: ownErrors,
    doc: { id: 'listRefunds', tag, summary: 'List a payment’s refunds, and what can still go back' },
    async handle({ caller, params }) {
      const of = asked(params.id, caller.appId);
      const payment = of && (await refunds.payment(of));
      if (!payment) return noPayment;
      const held = await refunds.held(payment);
      return ok({ data: refundViews(payment).map(refundResource), held: held.map(heldMoney) });
    },
  }),
  route({
    method: 'post',
    path: '/payment-api/payments/{id}/refunds',
    auth: 'admin',
    params: PaymentPath,
    body: RefundRequest,
    answers: { 200: { description: 'Ordered; sent and confirmed automatically', schema: RefundsOrdered } },
    errors: [
      ...ownErrors,
      'forbidden',
      'conflict',
      'orderConflict',
      'refundAddressUnproven',
      'refundExceedsHeld',
      'refundTooSmall',
      'unavailable',
    ],
    doc: {
      id: 'orderRefund',
      tag,
      summary: 'Send back money that the payment holds',
      description:
        'Only held money can be refunded: the merchant keeps paid-out money. It goes to an address that its sender has proven: on the payment’s page the sender enters an address and signs with the key that paid. A sender who has paid by cashback credit has signed before. Nothing goes automatically to a sender, which may be an exchange: refundAddressUnproven names the next step. The cost of sending is deducted and returned as networkFee.',
    },
    async handle({ caller, params, body, by }) {
      const of = asked(params.id, caller.appId);
      const scope = scopeOf(body);
      if (isRefusal(scope)) return scope;
      if (!of) return noPayment;
      const ordered = await refunds.order(
        of,
        { scope, to: 'proven', by: 'key', note: body.reason || null, key: body.idempotencyKey ?? null },
        by,
      );
      if (isRefusal(ordered)) return ordered;
      return ok({ data: ordered.refunds.map((refund) => refundResource(refundView(refund))) });
    },
  }),
];

function asked(id: string, appId: string): RefundedPayment | undefined {
  const paymentId = paymentIdIn(id);
  return paymentId === undefined ? undefined : { paymentId, appId };
}

export const heldMoney = ({ reason, chainId, token, amount, proven, networkFee }: RefundableMoney) => ({
  reason,
  chainId: String(chainId),
  tokenSymbol: token.symbol,
  tokenAddress: token.address,
  amount: formatAmount(amount, token.decimals),
  provenAmount: formatAmount(proven, token.decimals),
  networkFee: networkFee === null ? null : formatAmount(networkFee, token.decimals),
});

/** Either a scope, or an amount of one token. */
export function scopeOf({ scope, chainId, tokenAddress, amount }: RefundRequest): RefundOrder['scope'] | Refusal {
  const named = { chainId, tokenAddress, amount };
  if (scope !== 'part' && Object.values(named).every((value) => value === undefined)) return scope ?? 'all';
  if (scope !== undefined && scope !== 'part')
    return refuse(
      'invalidRequest',
      'goes without chainId, tokenAddress and amount: leave one or the other out',
      '/scope',
    );
  for (const [name, value] of Object.entries(named))
    if (value === undefined) return refuse('invalidRequest', 'is required for an amount of one token', `/${name}`);
  const chain = findChain(String(chainId));
  if (!chain) return refuse('invalidRequest', 'must be a chain that is known: see ChainId', '/chainId');
  const token = tokenAt(chain, tokenAddress ?? '');
  if (!token) return refuse('invalidRequest', `must be a token on ${chain.name}, as held names it`, '/tokenAddress');
  const units = parseAmount(amount ?? '', token.decimals);
  if (typeof units === 'string' || units <= 0n)
    return refuse('invalidRequest', `must be more than 0, with at most ${token.decimals} decimals`, '/amount');
  return { chainId: chain.id, tokenAddress: token.address, amount: units };
}
