/** x402 on a payment: 402 with the amount due, and 200 once the payer's signed authorization has funded the payment. */
import type { IncomingHttpHeaders } from 'node:http';
import type { RequestHandler } from 'express';
import type { Accepted, RelayRefusal } from '../../../commands/relayPorts.ts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { formatAmount } from '../../../domain/money.ts';
import { epochMs, type Instant } from '../../../domain/time.ts';
import { ApiError, errorOfRefusal } from '../errors.ts';
import { localsOf } from '../middleware.ts';
import { type Gate, send } from '../router.ts';
import { credentialIn, mppHeaders, paymentReceipt } from './mpp.ts';
import type { Settling } from './settling.ts';
import type { FindTarget, Target } from './targets.ts';
import { closing, type RelayDoorsDeps } from './targets.ts';
import {
  type Bill,
  encoded,
  faultOn,
  headerNames,
  oldPaymentRequired,
  paymentRequired,
  readPayment,
  type SentPayment,
  sentAuthorization,
} from './wire.ts';

/** An answer waits this long for the payer's money; a client that gets none in time sends the same header again. */
const wait_ms = 45_000;
const again_s = 5;

/** Headers of browsers' clients. */
export const x402Cors: ReadonlyMap<string, string> = new Map([
  ['Access-Control-Allow-Origin', '*'],
  [
    'Access-Control-Expose-Headers',
    [
      headerNames.required,
      headerNames.response,
      headerNames.oldResponse,
      mppHeaders.challenge,
      mppHeaders.receipt,
      'Retry-After',
      'X-Request-Id',
    ].join(', '),
  ],
]);

export const x402Preflight: ReadonlyMap<string, string> = new Map([
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE'],
  [
    'Access-Control-Allow-Headers',
    [headerNames.payment, headerNames.oldPayment, mppHeaders.credential, 'Content-Type', 'X-Request-Id'].join(', '),
  ],
  ['Access-Control-Max-Age', '7200'],
]);

type Answered = Parameters<typeof send>[1];

/** @param route the path as logs and metrics name it */
export function x402Handler(
  deps: RelayDoorsDeps,
  settling: Settling,
  gate: Gate,
  { route, find }: { readonly route: string; readonly find: FindTarget },
): RequestHandler {
  return async (request, response) => {
    localsOf(response).route = route;
    response.setHeaders(x402Cors as Map<string, string>);
    await gate.admission.ofStranger(request, response);
    const place = gate.limit.enter(response);
    const away = closing(response);
    const payment = paymentOf(deps, request.headers);
    const address = deps.clients.of(request);
    const {
      paymentId,
      bill: due,
      desk,
      draft,
    } = await find(request, {
      quote: payment ? (payment.accepted?.quote ?? null) : undefined,
      address,
      away,
    });
    const bill = { ...due, challenges: deps.challenges.of(due, epochMs(deps.clock.now())) };
    if (!payment) return send(response, asked(desk, bill));
    const chainId = deps.networks.get(payment.caip2);
    if (chainId === undefined) return send(response, refusedBy(payment, 'invalid_network', bill));
    const asset = payment.accepted?.asset ?? usdcOf(chainId);
    const sent = sentAuthorization(deps.relays, payment, { chainId, asset });
    const settled = await settling.settle({
      paymentId,
      signed: sent.signed,
      by: { cause: 'payer', requestId: localsOf(response).requestId },
      address,
      place,
      draft,
      away,
      wait_ms: deps.settleWait_ms ?? wait_ms,
    });
    if (isRefusal(settled)) return send(response, refused(sent, settled, bill));
    send(response, answered(sent, settled, bill));
  };
}

/** Version 1 names no token: it is USDC, the only token with authorizations. */
const usdcOf = (chainId: ChainId): string =>
  chainOf(chainId).tokens.find(({ symbol }) => symbol === 'USDC')?.address ?? '';

/** A bill with its challenges of the Payment scheme. */
type Asking = Bill & { readonly challenges: string };

function paymentOf(
  { challenges }: Pick<RelayDoorsDeps, 'challenges'>,
  headers: IncomingHttpHeaders,
): SentPayment | null {
  const found = [headerNames.payment, headerNames.oldPayment].flatMap((name) => headers[name.toLowerCase()] ?? []);
  const credential = credentialIn(headers.authorization);
  if (found.length + (credential === null ? 0 : 1) > 1)
    throw new ApiError('invalidRequest', 'the request has several payment headers: send one');
  if (credential !== null) return challenges.read(credential);
  const [sent] = found;
  return sent === undefined ? null : readPayment(sent);
}

const requiredHeader = 'PAYMENT-SIGNATURE header is required';

/**
 * A request without a payment. A paid bill requires nothing, and a bill in settlement must not be signed again. Anybody can guess the order
 * id of a link's payment, so only the holder of its payment header reads its page and transaction.
 */
function asked({ payment, last }: Target['desk'], bill: Asking): Answered {
  const isByOrder = bill.paymentLink !== null;
  if (payment.funded)
    return { status: 200, body: { status: 'paid', ...(!isByOrder && { transaction: last?.result.hash ?? null }) } };
  if (last?.result.kind === 'pending')
    throw new ApiError('conflict', 'an authorization of this payment is being settled: send its header again', {
      headers: { 'Retry-After': String(again_s) },
    });
  if (bill.offers.length === 0)
    throw new ApiError('paymentNotUpdatable', 'this payment takes no authorization: pay it with an ordinary transfer');
  return required(bill, requiredHeader);
}

const required = (bill: Asking, error: string): Answered => ({
  status: 402,
  body: oldPaymentRequired(bill, error),
  headers: {
    [headerNames.required]: encoded(paymentRequired(bill, error)),
    ...(bill.offers.length > 0 && bill.challenges !== '' && { [mppHeaders.challenge]: bill.challenges }),
  },
});

/** Result for the client: in the header of its version, and in the body. */
interface Told {
  readonly success: boolean;
  readonly errorReason?: string;
  readonly errorMessage?: string;
  readonly transaction: string;
  readonly amount?: string;
  /** When the authorization was accepted. */
  readonly at?: Instant;
}

function told({ version, network, signed }: SentPayment, { amount, at, ...about }: Told): Record<string, string> {
  if (version === 'mpp')
    return at === undefined ? {} : { [mppHeaders.receipt]: paymentReceipt(network, about.transaction, at) };
  const response = { ...about, network, payer: signed.from };
  return version === 1
    ? { [headerNames.oldResponse]: encoded(response) }
    : { [headerNames.response]: encoded({ ...response, ...(amount !== undefined && { amount }) }) };
}

const pageOf = ({ paymentLink }: Bill) => (paymentLink === null ? {} : { paymentLink });

/** The same authorization gets the same answer, whenever it is sent again. */
function answered(sent: SentPayment, { relay, result }: Accepted, bill: Asking): Answered {
  const { amount, token } = relay.ordered;
  if (result.kind === 'paid') {
    const at = relay.ordered.orderedAt;
    const body = {
      status: 'paid',
      transaction: result.hash,
      network: sent.network,
      payer: relay.ordered.form.payer,
      amount: formatAmount(BigInt(amount), token.decimals),
      asset: token.symbol,
      ...pageOf(bill),
    };
    return { status: 200, body, headers: told(sent, { success: true, transaction: result.hash, amount, at }) };
  }
  if (result.kind === 'pending') {
    // No requirements: a client that signs again would pay twice.
    const reason = 'settlement_pending';
    const message = 'the payment is being settled: send the same header again';
    return {
      status: 402,
      body: {
        ...(sent.version !== 'mpp' && { x402Version: sent.version }),
        error: reason,
        message,
        transaction: result.hash,
        ...pageOf(bill),
      },
      headers: {
        'Retry-After': String(again_s),
        ...told(sent, { success: false, errorReason: reason, errorMessage: message, transaction: result.hash ?? '' }),
      },
    };
  }
  const { reason, detail, hash } = result;
  return failed(sent, { reason, message: detail, hash }, bill);
}

function refused(sent: SentPayment, refusal: RelayRefusal, bill: Asking): Answered {
  const { fault, message, refused: code } = refusal;
  if (fault === 'unavailable' || code === 'rateLimited') throw errorOfRefusal(refusal);
  return failed(
    sent,
    { reason: fault, message, hash: null },
    fault === 'duplicate_settlement' ? { ...bill, offers: [] } : bill,
  );
}

const refusedBy = (sent: SentPayment, reason: string, bill: Asking): Answered =>
  failed(sent, { reason, message: 'this payment takes no authorization on that network', hash: null }, bill);

interface Failure {
  readonly reason: string;
  readonly message: string;
  readonly hash: string | null;
}

function failed(sent: SentPayment, { reason: fault, message, hash }: Failure, bill: Asking): Answered {
  const reason = faultOn(sent.network, fault);
  const { body, headers } = required(bill, reason);
  return {
    status: 402,
    body: { ...(body as object), message },
    headers: {
      ...headers,
      ...told(sent, { success: false, errorReason: reason, errorMessage: message, transaction: hash ?? '' }),
    },
  };
}
