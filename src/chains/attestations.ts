/**
 * Queries the attestation service of Circle's protocol, which signs the messages of final burns. It is trusted for liveness alone: the
 * destination chain verifies the signatures, and the service compares each message with its own burn before it signs a mint.
 */
import Type, { type Static, type TSchema } from 'typebox';
import Compile from 'typebox/compile';
import { type Clock, TransientError } from '../../commands/ports.ts';
import { burnMessageMax_bytes } from '../../domain/rebalance/burnMessage.ts';
import { type Instant, isAfter, minute_ms, plus } from '../../domain/time.ts';

/** The service did not answer, or not in its format. Nothing changed; try again after a pause. */
export class AttestationsUnavailable extends TransientError {
  override readonly name = 'AttestationsUnavailable';
}

export interface AttestedMessage {
  /** `0x` and lower-case hex digits. */
  readonly message: string;
  readonly attestation: string;
}

export interface MessagesOfBurn {
  /** Signed ones. A transaction of ours has one burn, but the answer is not believed: the caller compares each with the burn. */
  readonly attested: readonly AttestedMessage[];
  /** Reason that the service gives for a burn without a signature; null without a reason, or if it does not know the burn. */
  readonly delay: string | null;
}

export interface RouteFee {
  readonly finality: number;
  /** In hundredths of a percent; may have decimals. */
  readonly fee_bps: number;
}

export interface Attestations {
  /** @param domain of the source chain. @throws AttestationsUnavailable */
  messagesOf(domain: number, burnHash: string, signal: AbortSignal): Promise<MessagesOfBurn>;
  /** Requests another attestation of an expired message; the next `messagesOf` returns it after a while. @throws AttestationsUnavailable */
  reattest(nonce: string, signal: AbortSignal): Promise<void>;
  /** @throws AttestationsUnavailable */
  fees(sourceDomain: number, destinationDomain: number, signal: AbortSignal): Promise<readonly RouteFee[]>;
}

/** Several messages of 1 KiB with their decoded forms. */
const answerMax_bytes = 64 * 1024;
const answer_ms = 10_000;
/** Circle blocks a caller for 5 minutes after too many calls. */
const blocked_ms = 5 * minute_ms;
const delayMax = 200;

const Hex = (max_bytes: number) => Type.String({ pattern: '^0x([0-9a-fA-F]{2})*$', maxLength: 2 + 2 * max_bytes });
const Messages = Type.Object({
  messages: Type.Array(
    Type.Object({
      status: Type.String({ maxLength: 64 }),
      message: Type.Optional(Type.Union([Hex(burnMessageMax_bytes), Type.Null()])),
      attestation: Type.Optional(Type.Union([Type.String({ maxLength: 8_192 }), Type.Null()])),
      delayReason: Type.Optional(Type.Union([Type.String({ maxLength: 1_000 }), Type.Null()])),
    }),
    { maxItems: 16 },
  ),
});
const Fees = Type.Array(
  Type.Object({ finalityThreshold: Type.Integer(), minimumFee: Type.Number({ minimum: 0, maximum: 10_000 }) }),
  { maxItems: 16 },
);
const signature = /^0x([0-9a-f]{130}){1,32}$/;

export interface AttestationsDeps {
  /** Without a path: `https://iris-api.circle.com`. */
  readonly url: string;
  readonly clock: Pick<Clock, 'now'>;
}

export function createAttestations({ url, clock }: AttestationsDeps): Attestations {
  const shapes = { messages: Compile(Messages), fees: Compile(Fees) };
  let blockedUntil: Instant | null = null;

  /** @returns null for 404 */
  async function call(method: 'GET' | 'POST', path: string, signal: AbortSignal): Promise<unknown> {
    if (blockedUntil && isAfter(blockedUntil, clock.now()))
      throw new AttestationsUnavailable(
        `the attestation service refuses calls until ${blockedUntil}: too many were made`,
      );
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(answer_ms)]),
    }).catch((error: unknown) => {
      throw new AttestationsUnavailable(`the attestation service does not answer: ${String(error)}`);
    });
    const text = await textOf(response);
    if (response.status === 429) blockedUntil = plus(clock.now(), blocked_ms);
    if (response.status === 404) return null;
    if (!response.ok)
      throw new AttestationsUnavailable(`the attestation service answers with status ${response.status}`);
    try {
      return JSON.parse(text);
    } catch {
      throw new AttestationsUnavailable('the attestation service answers with no JSON');
    }
  }

  return {
    async messagesOf(domain, burnHash, signal) {
      const path = `/v2/messages/${domain}?transactionHash=${encodeURIComponent(burnHash)}`;
      const answer = await call('GET', path, signal);
      if (answer === null) return { attested: [], delay: null };
      const { messages } = checked<typeof Messages>(shapes.messages, answer);
      const attested = messages.flatMap(({ status, message, attestation }): AttestedMessage[] => {
        const signatures = attestation?.toLowerCase() ?? '';
        if (status !== 'complete' || !message || !signature.test(signatures)) return [];
        return [{ message: message.toLowerCase(), attestation: signatures }];
      });
      const delay = messages.find(({ delayReason }) => delayReason)?.delayReason?.slice(0, delayMax) ?? null;
      return { attested, delay };
    },
    async reattest(nonce, signal) {
      await call('POST', `/v2/reattest/${encodeURIComponent(nonce)}`, signal);
    },
    async fees(sourceDomain, destinationDomain, signal) {
      const answer = await call('GET', `/v2/burn/USDC/fees/${sourceDomain}/${destinationDomain}`, signal);
      return checked<typeof Fees>(shapes.fees, answer ?? []).map(({ finalityThreshold, minimumFee }) => ({
        finality: finalityThreshold,
        fee_bps: minimumFee,
      }));
    },
  };
}

function checked<T extends TSchema>(shape: { Check(value: unknown): boolean }, value: unknown): Static<T> {
  if (shape.Check(value)) return value as Static<T>;
  throw new AttestationsUnavailable('the attestation service answers in another format');
}

/** @throws AttestationsUnavailable for an answer that is too long or breaks off */
async function textOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of body ?? []) {
      length += part.length;
      if (length > answerMax_bytes) break;
      parts.push(part);
    }
  } catch (error) {
    throw new AttestationsUnavailable(`the attestation service's answer broke off: ${String(error)}`);
  }
  if (length > answerMax_bytes)
    throw new AttestationsUnavailable(`the attestation service's answer has over ${answerMax_bytes} bytes`);
  return Buffer.concat(parts).toString('utf8');
}
