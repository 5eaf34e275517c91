/** Endpoints for a payment's page to pay without gas: they return what a wallet signs, and accept the signature. */
import type { Request, RequestHandler } from 'express';
import Type, { type Static } from 'typebox';
import type {
  RelayDesk,
  RelayFault,
  RelayOffer,
  RelayRefusal,
  SignedAuthorization,
} from '../../../commands/relayPorts.ts';
import { chainOf } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { formatAmount } from '../../../domain/money.ts';
import type { RelayResult } from '../../../domain/relay/result.ts';
import { epochMs } from '../../../domain/time.ts';
import { ApiError, errorOfRefusal } from '../errors.ts';
import { compileBody, readBody } from '../input.ts';
import { localsOf } from '../middleware.ts';
import { admitApp } from '../rateLimits.ts';
import { anyOriginHeaders, type Gate, send } from '../router.ts';
import { closed } from '../schemas/base.ts';
import { createAuthorizationPreparing, type PreparedOffer, type SignedByWallet } from './preparing.ts';
import type { Settling } from './settling.ts';
import { closing, paymentIn, type RelayDoorsDeps } from './targets.ts';

export const authorizationPath = '/pay/:secret/authorization';

/** A payer reads, signs and sends within this time. */
const validFor_s = 900;
/** The page retries automatically. */
const wait_ms = 2_000;

const text = (pattern: string, description: string) => Type.String({ pattern, description });
const base64 = (maxLength: number, description: string) =>
  Type.String({ pattern: '^[A-Za-z0-9+/]+={0,2}$', maxLength, description });
const chainId = Type.Integer({ minimum: 1 });

const Signed = Type.Object(
  {
    chainId,
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

const SignedTransaction = Type.Object(
  { chainId, transaction: base64(8_192, 'the signed transaction in base64') },
  closed,
);

const SignedEntry = Type.Object(
  {
    chainId,
    entry: base64(1_024, 'the entry that was prepared'),
    signature: base64(88, 'the wallet’s signature in base64'),
  },
  closed,
);

export function authorizationHandlers(deps: RelayDoorsDeps, settling: Settling, gate: Gate) {
  const check = {
    authorization: compileBody(Signed),
    transaction: compileBody(SignedTransaction),
    entry: compileBody(SignedEntry),
  };
  const preparing = createAuthorizationPreparing(deps);

  /** Prepares the offers of an account. The service calls nodes for them, so such requests have limits of their own. */
  async function preparedFor(
    { paymentId, offers }: { readonly paymentId: string; readonly offers: readonly RelayOffer[] },
    account: string,
    { address, signal }: { readonly address: string; readonly signal: AbortSignal },
  ): Promise<readonly PreparedOffer[]> {
    await admitApp(deps.rates, 'wallet', address);
    await admitApp(deps.rates, 'walletPayment', paymentId);
    const prepared = await preparing.prepare(offers, account, signal);
    if (isRefusal(prepared)) throw errorOfRefusal(prepared);
    return prepared;
  }

  /** @throws ApiError invalidRequest */
  function readSigned(body: unknown): { readonly form: SignedForm; readonly signed: SignedAuthorization } {
    const form = formOf(body);
    check[form](body);
    if (form === 'authorization') return { form, signed: body as Static<typeof Signed> };
    const signed = preparing.read(body as SignedByWallet);
    if (signed) return { form, signed };
    const message = 'is not what was prepared for this payment and account: prepare it again, and sign it unchanged';
    throw new ApiError('invalidRequest', message, { errors: [{ pointer: `/${form}`, message }] });
  }

  const ask: RequestHandler = async (request, response) => {
    localsOf(response).route = '/pay/{secret}/authorization';
    response.setHeaders(anyOriginHeaders);
    await gate.admission.ofStranger(request, response);
    gate.limit.enter(response);
    const { paymentId } = paymentIn(deps, request);
    const account = accountIn(request);
    const desk = await deps.relays.desk(paymentId, closing(response));
    if (!desk) throw new ApiError('notFound', 'there is no such payment: check the address');
    const from = { address: deps.clients.of(request), signal: closing(response) };
    const prepared = account === null ? [] : await preparedFor({ paymentId, offers: desk.offers }, account, from);
    const now_s = Math.floor(epochMs(deps.clock.now()) / 1_000);
    send(response, { status: 200, body: viewOf(desk, prepared, now_s) });
  };

  const hand: RequestHandler = async (request, response) => {
    localsOf(response).route = '/pay/{secret}/authorization';
    response.setHeaders(anyOriginHeaders);
    await gate.admission.ofStranger(request, response);
    const { paymentId } = paymentIn(deps, request);
    const body = await readBody(request, response);
    const { form, signed } = readSigned(body);
    const place = gate.limit.enter(response);
    const settled = await settling.settle({
      paymentId,
      signed,
      by: { cause: 'payer', requestId: localsOf(response).requestId },
      address: deps.clients.of(request),
      place,
      away: closing(response),
      wait_ms: Math.min(wait_ms, deps.settleWait_ms ?? wait_ms),
    });
    if (isRefusal(settled)) throw errorOfRefusal({ ...settled, ...pointerOf(settled, form) });
    const { result } = settled;
    send(response, { status: result.kind === 'pending' ? 202 : 200, body: resultView(result) });
  };

  return { ask, hand };
}

/** A form of a signed authorization, by the field that holds it. */
type SignedForm = 'authorization' | 'transaction' | 'entry';

function formOf(body: unknown): SignedForm {
  if (typeof body !== 'object' || body === null) return 'authorization';
  return 'transaction' in body ? 'transaction' : 'entry' in body ? 'entry' : 'authorization';
}

const accountMax_characters = 100;

/** The payer's account in the query; null without one. @throws ApiError invalidRequest */
function accountIn({ originalUrl }: Request): string | null {
  const at = originalUrl.indexOf('?');
  const account = at < 0 ? null : new URLSearchParams(originalUrl.slice(at)).get('account');
  if (account === null || (account !== '' && account.length <= accountMax_characters)) return account;
  const message = `must have 1 to ${accountMax_characters} characters`;
  throw new ApiError('invalidRequest', 'the query is wrong', { errors: [{ pointer: '/account', message }] });
}

/** Fields of the typed data that a fault is about. */
const fieldOf: Readonly<Partial<Record<RelayFault, string>>> = {
  invalid_network: '/chainId',
  invalid_payer: '/from',
  invalid_exact_evm_signature: '/signature',
  invalid_exact_evm_payload_recipient_mismatch: '/to',
  invalid_exact_evm_payload_authorization_value_mismatch: '/value',
  invalid_exact_evm_payload_authorization_valid_after: '/validAfter',
  invalid_exact_evm_payload_authorization_valid_before: '/validBefore',
  invalid_exact_evm_nonce_already_used: '/nonce',
  invalid_exact_evm_insufficient_balance: '/token',
};

/** A prepared authorization is one field, as it was signed. The pointers /token and /expired say what the payer can do. */
function pointerOf({ fault }: RelayRefusal, form: SignedForm): { readonly pointer?: string } {
  const field = fieldOf[fault];
  if (field === undefined) return {};
  if (form === 'authorization' || field === '/chainId' || field === '/token') return { pointer: field };
  if (field === '/validBefore') return { pointer: '/expired' };
  return { pointer: form === 'entry' && field === '/signature' ? field : `/${form}` };
}

const viewOf = ({ payment, offers, last }: RelayDesk, prepared: readonly PreparedOffer[], now_s: number) => ({
  authorizations: [
    ...offers.flatMap((offer) => typedView(offer, now_s, epochMs(payment.terms.expiresAt) / 1_000)),
    ...prepared.map((offer) => ({ ...commonView(offer), ...offer.prepared })),
  ],
  last: last && resultView(last.result),
});

const commonView = ({ source: { chainId, token, amount } }: RelayOffer) => ({
  chainId,
  chainName: chainOf(chainId).name,
  tokenSymbol: token.symbol,
  tokenAddress: token.address,
  amount: formatAmount(BigInt(amount), token.decimals),
});

/** `typedData` in the form of wallets (EIP-712, eth_signTypedData_v4); the page adds the payer's account as `message.from`. */
function typedView(offer: RelayOffer, now_s: number, end_s: number) {
  const { source, payTo, terms, nonce } = offer;
  if (terms.kind !== 'eip712') return [];
  const { networkId, domain } = terms;
  const { token, amount } = source;
  const view = {
    ...commonView(offer),
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
