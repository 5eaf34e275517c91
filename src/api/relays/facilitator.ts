/** Facilitator of x402 for merchants' own servers: it verifies and settles authorizations that pay deposits of the caller's payments. */
import Type from 'typebox';
import type { Accepted, RelayRefusal, SignedAuthorization } from '../../../commands/relayPorts.ts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { errorOfRefusal } from '../errors.ts';
import { type AnyRoute, ok, route, type Waiting } from '../router.ts';
import { createSettling, type SettlingDeps } from './settling.ts';
import { extraOfTerms, faultOn, readPayload, type SentPayment, sentAuthorization } from './wire.ts';

export interface FacilitatorDeps extends SettlingDeps {
  /** Chains with a relay account, by their network in CAIP-2. */
  readonly networks: ReadonlyMap<string, ChainId>;
  /** Relay account on a chain. */
  readonly relayAccountOn: (chainId: ChainId) => string;
  /** The payment of a deposit; null for any other text. It may lag behind the log. */
  readonly depositPayment: (
    chainId: ChainId,
    address: string,
  ) => Promise<{ readonly paymentId: string; readonly appId: string } | null>;
  /** How long a settlement waits for the payer's money. Default: 45 s. */
  readonly settleWait_ms?: number;
}

/** Clients of x402 give up after 90 s. */
const wait_ms = 45_000;
/** A payment that was created a moment ago is found within this time. */
const lookUp = { tries: 20, pause_ms: 100 } as const;

const anyObject = Type.Record(Type.String({ maxLength: 100 }), Type.Unknown());
const Asked = Type.Object(
  {
    x402Version: Type.Optional(Type.Integer()),
    paymentPayload: anyObject,
    paymentRequirements: anyObject,
  },
  { title: 'X402Request' },
);

interface Requirement {
  readonly network: string;
  readonly asset: string;
  readonly amount: string;
  readonly payTo: string;
}

/** An authorization and the payment that it pays. */
interface Found {
  readonly paymentId: string;
  readonly signed: SignedAuthorization;
}

interface Fault {
  readonly reason: string;
  readonly message: string;
}

export function facilitatorRoutes(deps: FacilitatorDeps): readonly AnyRoute[] {
  const settling = createSettling(deps);

  /** The requirements only name the payment: later code compares the authorization with the payment's own terms. */
  async function find(
    appId: string,
    sent: SentPayment,
    required: Requirement,
    waiting: Waiting,
  ): Promise<Found | Fault> {
    const chainId = deps.networks.get(sent.caip2);
    if (chainId === undefined || required.network !== sent.network)
      return { reason: 'invalid_network', message: 'no authorization is accepted on this network' };
    const owner = await paymentOf(chainId, required.payTo, waiting);
    if (!owner || owner.appId !== appId)
      return {
        reason: 'invalid_exact_evm_payload_recipient_mismatch',
        message:
          'payTo must be the deposit of a payment of your app: create one with POST /payment-api/payments, and send its source.receiverAddress',
      };
    const { paymentId } = owner;
    const { signed } = sentAuthorization(deps.relays, sent, { chainId, asset: required.asset });
    if (signed.value !== required.amount)
      return {
        reason: 'invalid_exact_evm_payload_authorization_value_mismatch',
        message: `the requirements ask for ${required.amount}`,
      };
    return { paymentId, signed };
  }

  async function paymentOf(chainId: ChainId, address: string, { aside, away }: Waiting) {
    for (let tries = 1; ; tries += 1) {
      const found = await deps.depositPayment(chainId, address);
      if (found || tries >= lookUp.tries) return found;
      await aside(() => deps.clock.sleep(lookUp.pause_ms, away));
    }
  }

  const common = { auth: 'orders', doc: null, errors: ['invalidRequest', 'unauthenticated', 'rateLimited'] } as const;
  return [
    route({
      ...common,
      method: 'get',
      path: '/x402/supported',
      answers: { 200: { description: 'Kinds of payments that this facilitator settles' } },
      async handle() {
        const kinds = [...deps.networks].map(([network, chainId]) => {
          const extra = extraOf(chainId, deps.relayAccountOn(chainId));
          return { x402Version: 2, scheme: 'exact', network, ...(extra && { extra }) };
        });
        return ok({ kinds, extensions: [], signers: {} });
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/x402/verify',
      body: Asked,
      answers: { 200: { description: 'Whether the authorization would be settled' } },
      async handle({ caller, body, waiting }) {
        const sent = readPayload(body.paymentPayload);
        const found = await find(caller.appId, sent, requirementIn(body.paymentRequirements), waiting);
        if ('reason' in found) return ok({ ...invalid(sent, found), payer: sent.signed.from });
        const payer = await deps.relays.verify(found.paymentId, found.signed, waiting.away);
        if (!isRefusal(payer)) return ok({ isValid: true, payer });
        return ok({ ...invalid(sent, faultOf(payer)), payer: found.signed.from });
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/x402/settle',
      body: Asked,
      answers: { 200: { description: 'The result: of one authorization the same each time' } },
      async handle({ caller, body, by, asker, waiting }) {
        const payload = readPayload(body.paymentPayload);
        const found = await find(caller.appId, payload, requirementIn(body.paymentRequirements), waiting);
        if ('reason' in found) return ok(unsettled(payload, found, null));
        const sent = { ...payload, signed: found.signed };
        const settled = await settling.settle({
          ...found,
          by,
          address: asker.address,
          place: waiting,
          away: waiting.away,
          wait_ms: deps.settleWait_ms ?? wait_ms,
        });
        return ok(isRefusal(settled) ? unsettled(sent, faultOf(settled), null) : resultOf(sent, settled));
      },
    }),
  ];
}

/** Fields that the scheme requires beside the terms of a payment. */
function extraOf(chainId: ChainId, feePayer: string): object | null {
  const { family } = chainOf(chainId);
  if (family === 'evm') return null;
  return extraOfTerms(family === 'solana' ? { kind: 'transaction', feePayer } : { kind: 'entry' });
}

/** Requirements of version 2, or of version 1. */
function requirementIn(sent: { readonly [name: string]: unknown }): Requirement {
  const text = (name: string): string => {
    const value = sent[name];
    return typeof value === 'string' && value.length <= 100 ? value : '';
  };
  return {
    network: text('network'),
    asset: text('asset'),
    amount: text('amount') || text('maxAmountRequired'),
    payTo: text('payTo'),
  };
}

/** @throws ApiError where the same request can succeed later */
function faultOf(refusal: RelayRefusal): Fault {
  if (refusal.fault === 'unavailable' || refusal.refused === 'rateLimited') throw errorOfRefusal(refusal);
  return { reason: refusal.fault, message: refusal.message };
}

const invalid = ({ network }: SentPayment, { reason, message }: Fault) => ({
  isValid: false,
  invalidReason: faultOn(network, reason),
  invalidMessage: message,
});

const unsettled = ({ network, signed }: SentPayment, { reason, message }: Fault, hash: string | null) => ({
  success: false,
  errorReason: faultOn(network, reason),
  errorMessage: message,
  transaction: hash ?? '',
  network,
  payer: signed.from,
});

function resultOf(sent: SentPayment, { relay, result }: Accepted) {
  if (result.kind === 'failed') return unsettled(sent, { reason: result.reason, message: result.detail }, result.hash);
  if (result.kind === 'pending') {
    const message = 'the payment is being settled: settle the same authorization again';
    return unsettled(sent, { reason: 'settlement_pending', message }, result.hash);
  }
  const { amount, form } = relay.ordered;
  return { success: true, transaction: result.hash, network: sent.network, payer: form.payer, amount };
}
