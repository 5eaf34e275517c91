/** POST of a payment: permission to create it for an app, and an answer that distinguishes a new payment from a repeated order. */

import Type, { type Static } from 'typebox';
import type {
  AppSettings,
  CreatedPayment,
  Creator,
  NewPayment,
  PaymentQuote,
} from '../../../commands/createPayment.ts';
import type { By } from '../../../commands/handle.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { formatAmount } from '../../../domain/money.ts';
import type { SourceTerms, TokenRef } from '../../../domain/payment/events.ts';
import type { App, Caller } from '../../../queries/apps.ts';
import { type Access, openApp, unauthenticated } from '../auth.ts';
import { createResources, type PayLinkDeps, viewAfter } from '../resource.ts';
import { type Answer, type AnyRoute, type Route, route } from '../router.ts';
import {
  ChainId as ChainIdSchema,
  Decimal,
  DecimalOrNull,
  orNull,
  PaymentType,
  TimeOrNull,
  TokenSymbol,
} from '../schemas/base.ts';
import * as queries from '../schemas/queries.ts';
import * as requests from '../schemas/requests.ts';
import * as responses from '../schemas/responses.ts';
import { destinationProperties } from '../schemas/responses.ts';

// A quote as the API returns it.

export function quoteResource(quote: PaymentQuote): QuoteResponse {
  const { type, source, destination, fee, limits, alternatives, payoutExpectedAt } = quote;
  const { receiverAddress, receiverMemo } = destination;
  const first = quoted({ ...source, fee, limits });
  return {
    type,
    source: first,
    destination: { ...assetOf(destination), receiverAddress, receiverMemo, amount: amountOf(destination) },
    payFrom: alternatives ? [first, ...alternatives.map(quoted)] : null,
    payoutExpectedAt,
  };
}

function quoted({ chainId, token, amount, fee, limits }: SourceTerms): QuoteResponse['source'] {
  const shown = (units: string | null | undefined) => amountOf({ token, amount: units ?? null });
  return {
    ...assetOf({ chainId, token }),
    amount: shown(amount),
    fee: shown(fee.amount),
    feeFixed: formatAmount(BigInt(fee.fixed), token.decimals),
    feeBasisPoints: fee.basisPoints,
    minAmount: shown(limits?.min),
    maxAmount: shown(limits?.max),
  };
}

const assetOf = ({ chainId, token }: { readonly chainId: ChainId; readonly token: TokenRef }) => ({
  chainId: String(chainId),
  tokenSymbol: token.symbol,
  tokenAddress: token.address,
});

/** In whole tokens. */
const amountOf = ({ token, amount }: { readonly token: TokenRef; readonly amount: string | null }): string | null =>
  amount === null ? null : formatAmount(BigInt(amount), token.decimals);

// Quotes of payments.

const { Array: List, Integer, Object: Shape } = Type;

const QuotedSource = Shape(
  {
    chainId: ChainIdSchema,
    tokenSymbol: TokenSymbol,
    tokenAddress: Type.String(),
    amount: DecimalOrNull,
    fee: DecimalOrNull,
    feeFixed: Decimal,
    feeBasisPoints: Integer(),
    minAmount: DecimalOrNull,
    maxAmount: DecimalOrNull,
  },
  {
    title: 'QuotedSource',
    description:
      'amount is what the customer pays, fee included. For anyAmount amount and fee are null: minAmount and maxAmount are the limits, and the fee is feeFixed and feeBasisPoints of the received amount.',
  },
);

export const QuoteResponse = Shape(
  {
    type: PaymentType,
    source: QuotedSource,
    destination: Shape(destinationProperties, {
      title: 'QuotedDestination',
      description: 'amount is what the receiver would get.',
    }),
    payFrom: Type.Unsafe<Static<typeof QuotedSource>[] | null>(orNull(List(QuotedSource))),
    payoutExpectedAt: TimeOrNull,
  },
  {
    title: 'QuoteResponse',
    description:
      'The cost of a payment that is created now. It is not binding: a payment has the fee at its creation. payoutExpectedAt is the time when money in transit allows the payout; null if the payout need not wait.',
  },
);
export type QuoteResponse = Static<typeof QuoteResponse>;

const tag = 'Payments';

/** All tokens are US dollar coins. */
const defaultCurrency = 'USD';

interface CreateRequest {
  readonly body: requests.CreatePaymentRequest;
  readonly query: Static<typeof queries.CreateQuery>;
  readonly caller: Caller | null;
  readonly by: By;
}

/** Creates payments and quotes them. */
export interface PaymentCreation {
  readonly createPayment: (request: NewPayment, app: AppSettings, caller: Creator) => Promise<CreatedPayment | Refusal>;
  readonly quotePayment: (
    request: NewPayment,
    app: AppSettings,
    caller: Pick<Creator, 'keyless'>,
  ) => Promise<PaymentQuote | Refusal>;
}

/** Needs of the routes that create payments. */
export type CreationRoutesDeps = PaymentCreation & PayLinkDeps;

/** The two endpoints that create payments. */
export function creationRoutes(deps: CreationRoutesDeps, access: Access): readonly AnyRoute[] {
  const handle = createHandler(deps, access);
  const answers: Route['answers'] = {
    201: { description: 'Created', schema: responses.PaymentResponse, headers: ['Location'] },
    200: {
      description: 'The payment of this orderId',
      schema: responses.PaymentResponse,
      headers: ['Idempotent-Replayed'],
    },
    202: { description: 'With dryrun: the cost; nothing was created', schema: QuoteResponse },
  };
  const description =
    'A key acts for its own app. A repeated orderId returns its existing payment, with a key also under other terms. An invalid body is 400 nevertheless. Without a key only wallet_ apps that the operator has opened for it can be used; the same request answers the same payment there, and a request with another receiver, other terms, display or metadata gets a payment of its own, also under one orderId: tell them apart by id. With dryrun=true the answer is 202 and what the payment would cost: the request is checked and counted as if it created one, its orderId says nothing, and nothing is written.';
  const errors = [
    'invalidRequest',
    'unauthenticated',
    'forbidden',
    'orderConflict',
    'settlementMissing',
    'routeUnavailable',
  ] as const;
  const common = {
    method: 'post',
    auth: 'optional',
    anyOrigin: true,
    creates: true,
    query: queries.CreateQuery,
    answers,
    errors,
    handle,
  } as const;
  return [
    route({
      ...common,
      path: '/payment-api/payments',
      body: requests.CreatePaymentRequest,
      doc: { id: 'addPayment', tag, summary: 'Create a payment', description },
    }),
    route({
      ...common,
      path: '/payment-api',
      body: requests.PaymentRequest,
      doc: { id: 'addPaymentShort', tag, summary: 'Create a payment (the same, shorter address)', description },
    }),
  ];
}

function createHandler(deps: CreationRoutesDeps, access: Access) {
  const { full, ofCreator } = createResources(deps);
  return async ({ body, query, caller, by }: CreateRequest): Promise<Answer | Refusal> => {
    const appId = body.appId ?? undefined;
    const app = caller ? await ownApp(access, caller, appId) : await statedApp(access, appId);
    if (isRefusal(app)) return app;
    const keyless = caller === null;
    const request = toNewPayment(body, app.appId);
    if (query.dryrun === 'true') {
      const quote = await deps.quotePayment(request, app, { keyless });
      return isRefusal(quote) ? quote : { status: 202, body: quoteResource(quote) };
    }
    const created = await deps.createPayment(request, app, { keyless, ...by });
    if (isRefusal(created)) return created;
    const view = viewAfter(created);
    return {
      status: created.createdNow ? 201 : 200,
      body: await (keyless ? ofCreator(view) : full(view)),
      headers: created.createdNow
        ? { Location: `/payment-api/payments/${view.paymentId}` }
        : { 'Idempotent-Replayed': 'true' },
    };
  };
}

async function ownApp(access: Access, caller: Caller, appId: string | undefined): Promise<App | Refusal> {
  if (appId !== undefined && appId !== caller.appId) {
    return refuse('forbidden', `the API key belongs to ${caller.appId}: leave appId out`, '/appId');
  }
  const app = await access.findApp(caller.appId);
  return app ?? refuse('unavailable', 'the settings of the app are not known here yet: try again');
}

/** Answers an app without keyless creation like an unknown one: the answer does not reveal which apps exist. */
async function statedApp(access: Access, appId: string | undefined): Promise<App | Refusal> {
  if (appId === undefined) return refuse('invalidRequest', 'appId is required without an API key', '/appId');
  const app = await openApp(access, appId);
  if (!app) throw unauthenticated(`payments of ${appId} are created with its API key: send it`);
  return app;
}

/** Null and absent are equivalent. The command makes all further checks. */
function toNewPayment(body: requests.CreatePaymentRequest, appId: string): NewPayment {
  const { display, source, destination } = body;
  return {
    appId,
    orderId: body.orderId ?? null,
    type: body.type ?? null,
    intent: body.intent ?? null,
    display: {
      title: display?.title ?? display?.name ?? null,
      description: display?.description ?? null,
      currency: (display?.currency ?? defaultCurrency).toUpperCase(),
      lineItems: display?.lineItems ?? [],
    },
    metadata: body.metadata ?? null,
    source: {
      chainId: source.chainId,
      tokenSymbol: source.tokenSymbol,
      tokenAddress: source.tokenAddress ?? undefined,
      amount: source.amount ?? undefined,
      senderAddress: source.senderAddress ?? undefined,
    },
    destination: destination
      ? {
          chainId: destination.chainId ?? undefined,
          tokenSymbol: destination.tokenSymbol ?? undefined,
          tokenAddress: destination.tokenAddress ?? undefined,
          amount: destination.amount ?? undefined,
          receiverAddress: destination.receiverAddress ?? undefined,
          receiverMemo: destination.receiverMemo ?? undefined,
        }
      : null,
    payFrom:
      body.payFrom?.map(({ tokenAddress, ...side }) => ({
        ...side,
        tokenAddress: tokenAddress ?? undefined,
        amount: undefined,
      })) ?? null,
    expiresInSeconds: body.expiresInSeconds ?? null,
  };
}
