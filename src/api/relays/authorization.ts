/** Endpoints for a payment's page to pay without gas: they return the typed data that a wallet signs, and accept the signature. */
import type { RequestHandler } from 'express';
import Type, { type Static } from 'typebox';
import type { RelayDesk, RelayOffer } from '../../../commands/relays.ts';
import { chainOf } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { formatAmount } from '../../../domain/money.ts';
import type { RelayResult } from '../../../domain/relay/result.ts';
import { epochMs } from '../../../domain/time.ts';
import { ApiError, errorOfRefusal } from '../errors.ts';
import { compileBody, readBody } from '../input.ts';
import { localsOf } from '../middleware.ts';
import { anyOriginHeaders, type Gate, send } from '../router.ts';
import { closed } from '../schemas/base.ts';
import { closing, paymentIn, type RelayDoorsDeps } from './link.ts';
import type { Settling } from './settling.ts';

export const authorizationPath = '/pay/:secret/authorization';

/** A payer reads, signs and sends within this time. */
const validFor_s = 900;
/** The page retries automatically. */
const wait_ms = 2_000;

const text = (pattern: string, description: string) => Type.String({ pattern, description });
const Signed = Type.Object(
  {
    chainId: Type.Integer({ minimum: 1 }),
    tokenAddress: text('^0x[0-9a-fA-F]{40}$', 'the address of the token as the typed data has it'),
    from: text('^0x[0-9a-fA-F]{40}$', 'the address of the payer'),
    to: text('^0x[0-9a-fA-F]{40}$', 'the receiver as the typed data has it'),
    value: text('^[1-9][0-9]{0,77}$', 'the value as the typed data has it'),
    validAfter: text('^(0|[1-9][0-9]{0,11})$', 'a time in seconds'),
    validBefore: text('^[1-9][0-9]{0,11}$', 'a time in seconds'),
    nonce: text('^0x[0-9a-fA-F]{64}$', 'the nonce as the typed data has it'),
    signature: text('^0x(?:[0-9a-fA-F]{2}){1,2048}$', 'a signature in hex'),
  },
  closed,
);

export function authorizationHandlers(deps: RelayDoorsDeps, settling: Settling, gate: Gate) {
  const check = compileBody(Signed);

  const ask: RequestHandler = async (request, response) => {
    localsOf(response).route = '/pay/{secret}/authorization';
    response.setHeaders(anyOriginHeaders);
    await gate.admission.ofStranger(request, response);
    gate.limit.enter(response);
    const { paymentId } = paymentIn(deps, request);
    const desk = await deps.relays.desk(paymentId, closing(response));
    if (!desk) throw new ApiError('notFound', 'there is no such payment: check the address');
    const now_s = Math.floor(epochMs(deps.clock.now()) / 1_000);
    send(response, { status: 200, body: viewOf(desk, now_s) });
  };

  const hand: RequestHandler = async (request, response) => {
    localsOf(response).route = '/pay/{secret}/authorization';
    response.setHeaders(anyOriginHeaders);
    await gate.admission.ofStranger(request, response);
    const { paymentId } = paymentIn(deps, request);
    const body = await readBody(request, response);
    check(body);
    const place = gate.limit.enter(response);
    const settled = await settling.settle({
      paymentId,
      signed: body as Static<typeof Signed>,
      by: { cause: 'payer', requestId: localsOf(response).requestId },
      address: deps.clients.of(request),
      place,
      away: closing(response),
      wait_ms: Math.min(wait_ms, deps.settleWait_ms ?? wait_ms),
    });
    if (isRefusal(settled)) throw errorOfRefusal(settled);
    const { result } = settled;
    send(response, { status: result.kind === 'pending' ? 202 : 200, body: resultView(result) });
  };

  return { ask, hand };
}

const viewOf = ({ payment, offers, last }: RelayDesk, now_s: number) => ({
  authorizations: offers.flatMap((offer) => offerView(offer, now_s, epochMs(payment.terms.expiresAt) / 1_000)),
  last: last && resultView(last.result),
});

/** `typedData` in the form of wallets (EIP-712, eth_signTypedData_v4); the page adds the payer's account as `message.from`. */
function offerView({ source, payTo, terms, nonce }: RelayOffer, now_s: number, end_s: number) {
  if (terms.kind !== 'eip712') return [];
  const { networkId, domain } = terms;
  const { chainId, token, amount } = source;
  const view = {
    chainId,
    chainName: chainOf(chainId).name,
    tokenSymbol: token.symbol,
    tokenAddress: token.address,
    amount: formatAmount(BigInt(amount), token.decimals),
    typedData: {
      domain: { ...domain, chainId: networkId, verifyingContract: token.address },
      primaryType: 'TransferWithAuthorization',
      types: typesOfWallets,
      message: {
        to: payTo,
        value: amount,
        validAfter: '0',
        validBefore: String(Math.min(now_s + validFor_s, Math.floor(end_s))),
        nonce,
      },
    },
  };
  return [view];
}

const field = (name: string, type: string) => ({ name, type });
const typesOfWallets = {
  EIP712Domain: [
    field('name', 'string'),
    field('version', 'string'),
    field('chainId', 'uint256'),
    field('verifyingContract', 'address'),
  ],
  TransferWithAuthorization: [
    field('from', 'address'),
    field('to', 'address'),
    field('value', 'uint256'),
    field('validAfter', 'uint256'),
    field('validBefore', 'uint256'),
    field('nonce', 'bytes32'),
  ],
};

/** @returns the page's view of a submitted authorization */
const resultView = (result: RelayResult) => ({
  status: result.kind,
  transaction: result.hash,
  reason: result.kind === 'failed' ? result.reason : null,
  message: result.kind === 'failed' ? result.detail : null,
});
