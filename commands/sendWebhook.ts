import { createHash, createHmac } from 'node:crypto';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { type MerchantState, merchant } from '../domain/merchant/state.ts';
import { endpointOf } from '../domain/merchant/webhook.ts';
import { epochMs } from '../domain/time.ts';
import {
  introduceTypes,
  isDeliveryId,
  mayRedeliver,
  recordOutcome,
  redeliveryOf,
  requestHeaders,
  type SignedRequest,
  startSend,
  testEventType,
  type WebhookOutcome,
  type WebhookStart,
  webhook,
  webhookTypes,
  webhookTypesInstance,
} from '../domain/webhook.ts';
import { type By, createRoleCheck, currentState, type Facts, type Handle, type RoleCheck } from './handle.ts';
import { uuidV8 } from './paymentId.ts';
import { type Clock, type CrashPoint, type Ids, Unavailable } from './ports.ts';

export interface Signing {
  readonly deliveryId: string;
  readonly body: Uint8Array;
  /** The app's webhook secret: 64 hex characters. */
  readonly secret: string;
}

/**
 * Signs a webhook in both schemes. The HMAC key of both is the secret's 64 characters, not the bytes that they encode. Ours (service
 * reference 5.2) covers milliseconds, a dot and the body. That of Standard Webhooks 1.0 covers the id, a dot, seconds, a dot and the body.
 *
 * @param signedAt_ms milliseconds since 1970-01-01 UTC
 */
export function signWebhook({ deliveryId, body, secret }: Signing, signedAt_ms: number): SignedRequest {
  const mac = (head: string) => createHmac('sha256', Buffer.from(secret, 'utf8')).update(head).update(body);
  return {
    timestamp_ms: signedAt_ms,
    signature: `sha256=${mac(`${signedAt_ms}.`).digest('hex')}`,
    standardSignature: `v1,${mac(`${deliveryId}.${Math.floor(signedAt_ms / 1_000)}.`).digest('base64')}`,
    bodyDigest: bodyDigest(body),
  };
}

/** SHA-256 as hex of a sent body, stored with its delivery. */
export const bodyDigest = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex');

/** A POST: exactly these bytes and headers, besides those of every HTTP request. */
export interface WebhookMessage {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface WebhookAnswer extends Pick<WebhookOutcome, 'statusCode' | 'error' | 'responsePreview'> {
  /** True if the receiver may have read any of the request. */
  readonly sent: boolean;
}

/** Sends one request, once, and returns its outcome; failures of receiver or network are outcomes. */
export type WebhookPost = (message: WebhookMessage) => Promise<WebhookAnswer>;

export interface SendWebhookDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'eventId'>;
  readonly post: WebhookPost;
  /** Returns the bytes to send, equal on every call. @throws if they cannot be made */
  readonly bodyOf: (start: WebhookStart) => Promise<Uint8Array>;
  /**
   * The current secret of the app's webhook URL, or of its endpoint: 64 hex characters. Null for a removed endpoint.
   * @throws if the app has none or it cannot be opened
   */
  readonly secretOf: (appId: string, endpointId?: string) => Promise<string | null>;
  readonly crash?: CrashPoint;
  /** Maximum tries while the store is unavailable. */
  readonly triesMax?: typeof triesDefault;
}

/** `notOurs`: another process claimed the delivery or its redelivery, or an earlier process that crashed did. It was not sent again. */
export type SendResult = 'delivered' | 'exhausted' | 'notOurs';

export type DeliveryStart = Omit<WebhookStart, 'startedAt'>;
/** @param signal shortens the waiting for an unavailable store */
export type SendWebhook = (delivery: DeliveryStart, by: By, signal?: AbortSignal) => Promise<SendResult>;

const endpointRemoved = { statusCode: null, error: 'endpointRemoved', responsePreview: null, sent: false } as const;

/** Pause after the n-th try: n steps, up to the maximum. */
const pause_ms = { step: 250, most: 5_000 };
/** For callers who wait for the answer: they hear soon that the store is unavailable. */
const triesDefault = { claim: 1, outcome: 8 };
/** Some nine minutes and the time of the tries: a failure of the store costs no webhook and no outcome. */
export const triesInOutage = { claim: 120, outcome: 120 };

/**
 * Claim → sign → POST → record, at most one POST per delivery.
 *
 * Crash before the claim: the delivery is still due and another run claims it. Crash after it: nobody knows whether the receiver got the
 * POST, so it is never repeated; the delivery stays started, which reads as exhausted.
 *
 * A claim without an answer may be in the log. The call that made it tries again, finds its claim by the event's id, and sends, unless the
 * app's owner has had the delivery redelivered meanwhile.
 *
 * It is signed with the secret in force after the claim, so a rotated secret signs nothing more. A removed endpoint gets no POST: the
 * delivery is exhausted.
 *
 * @throws Unavailable if the claim failed (nothing was sent) or the outcome was not recorded (sent, outcome unknown);
 * anything that `secretOf` and `bodyOf` throw, before the claim
 */
export function createSendWebhook(deps: SendWebhookDeps): SendWebhook {
  const { handle, clock, ids, post, bodyOf, secretOf, crash = () => {} } = deps;
  const { triesMax = triesDefault } = deps;

  return async (delivery, by, signal) => {
    const { deliveryId, appId, endpointId } = delivery;
    const facts = { ...by, appId };
    const first = { ...delivery, startedAt: clock.now() };
    // Everything that can fail comes before the claim: an unsent delivery is still due.
    const [body, secretBefore] = await Promise.all([bodyOf(first), secretOf(appId, endpointId)]);
    await crash('webhook.beforeClaim');
    const start = await claim(first, facts, signal);
    if (!start) return 'notOurs';
    await crash('webhook.afterClaim');

    // A store failure between the two reads must not cost the delivery.
    const secret = await secretOf(appId, endpointId).catch(() => secretBefore);
    const signed = secret === null ? null : signWebhook({ deliveryId, body, secret }, epochMs(clock.now()));
    const { sent, ...answer } =
      signed === null
        ? endpointRemoved
        : await post({ url: delivery.url, headers: requestHeaders(delivery, signed), body });
    await crash('webhook.afterPost');

    const finishedAt = clock.now();
    const duration_ms = Math.max(0, epochMs(finishedAt) - epochMs(start.startedAt));
    const outcome = { ...answer, request: sent ? signed : null, duration_ms, finishedAt };
    // The outcome is only in memory.
    const stage = await persist('outcome', signal, async () => {
      const recorded = await handle(webhook, deliveryId, (state) => recordOutcome(state, outcome), facts);
      return isRefusal(recorded) ? 'exhausted' : recorded.state.stage;
    });
    await crash('webhook.afterOutcome');
    return stage === 'delivered' ? 'delivered' : 'exhausted';
  };

  /**
   * Each try begins the delivery anew: while a claimed delivery is young, nobody redelivers it (`maySend`).
   *
   * @returns the recorded start, if this call may POST; else null. A try without an answer may have claimed the delivery: its event id in
   * the stream says so, and nothing was sent yet. Such a claim may be old, so the app's owner may have had it redelivered.
   */
  async function claim(first: WebhookStart, facts: Facts, signal?: AbortSignal): Promise<WebhookStart | null> {
    const own: string[] = [];
    return await persist('claim', signal, async () => {
      const start = own.length === 0 ? first : { ...first, startedAt: clock.now() };
      const eventId = ids.eventId();
      own.push(eventId);
      const how = { ...facts, eventId, expectNew: true };
      const claimed = await handle(webhook, start.deliveryId, (state) => startSend(state, start), how);
      if (isRefusal(claimed) || claimed.state.stage !== 'started') return null;
      if (claimed.appended > 0) return start;
      const isOwn = own.includes(claimed.lastEventId ?? '');
      return isOwn && !(await isRedelivered(claimed.state.start)) ? claimed.state.start : null;
    });
  }

  async function isRedelivered(start: WebhookStart): Promise<boolean> {
    const next = await currentState(handle, webhook, nextDeliveryIdOf(start));
    return next.stage !== 'new';
  }

  /** Tries again while the store is unavailable; after an abort no longer than for callers who wait. @throws Unavailable */
  async function persist<T>(
    step: keyof typeof triesDefault,
    signal: AbortSignal | undefined,
    act: () => Promise<T>,
  ): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await act();
      } catch (error) {
        const most = signal?.aborted ? triesDefault[step] : triesMax[step];
        if (!(error instanceof Unavailable) || tries >= most) throw error;
        await clock.sleep(Math.min(pause_ms.step * tries, pause_ms.most), signal?.aborted ? undefined : signal);
      }
    }
  }
}

// Webhooks that an app's owner requests: a redelivery of an exhausted one, and a test.

export interface ByHandDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'eventId'>;
  readonly send: SendWebhook;
  /** Default: reads the app in the same log. */
  readonly roleCheck?: RoleCheck;
}

export interface Redelivery {
  readonly deliveryId: string;
  /** False for a repeated request, which sends nothing. */
  readonly sentNow: boolean;
}

/** One id for each redelivery, so concurrent requests reach the same stream. @param ordinal from 1 on */
export const redeliveryIdOf = (firstDeliveryId: string, ordinal: number): string =>
  uuidV8(createHash('sha256').update(`redelivery ${ordinal} of ${firstDeliveryId}`).digest());

const nextDeliveryIdOf = ({ deliveryId, firstDeliveryId, ordinal }: DeliveryStart): string =>
  redeliveryIdOf(firstDeliveryId ?? deliveryId, ordinal + 1);

export type Redeliver = (appId: string, deliveryId: string, by: By) => Promise<Redelivery | Refusal>;

/**
 * Sends an exhausted delivery's event again, as a separate delivery. Each delivery is redelivered once: a double click, or requests to two
 * instances, reach the same claim. The owner must have been warned that the receiver may get it twice.
 *
 * @returns after the receiver's answer or timeout; a refusal for a delivery that is not the app's, or not exhausted
 * @throws Unavailable, like SendWebhook
 */
export const createRedeliver =
  ({ handle, clock, send, roleCheck = createRoleCheck(handle) }: ByHandDeps): Redeliver =>
  async (appId, deliveryId, by) => {
    const forbidden = await roleCheck(appId, by, 'redeliver');
    if (forbidden) return forbidden;
    const state = isDeliveryId(deliveryId) ? await currentState(handle, webhook, deliveryId) : webhook.initial;
    const isOwn = state.stage !== 'new' && state.start.appId === appId;
    const former = mayRedeliver(isOwn ? state : webhook.initial, clock.now());
    if (isRefusal(former)) return former;
    if (former.endpointId !== undefined) {
      const endpoint = endpointOf(await currentState(handle, merchant, appId), former.endpointId);
      if (isRefusal(endpoint)) return refuse('deliveryNotRedeliverable', 'its webhook endpoint was removed');
    }
    const id = nextDeliveryIdOf(former);
    const result = await send(redeliveryOf(former, id), by);
    return { deliveryId: id, sentNow: result !== 'notOurs' };
  };

/** @param endpointId further endpoint of the app; default: its webhook URL */
export type SendTest = (
  appId: string,
  by: By,
  endpointId?: string,
) => Promise<{ readonly deliveryId: string } | Refusal>;

/**
 * Sends a sample payment to the webhook URL in force, or to an endpoint whatever its types are. No to-do list ever holds it.
 *
 * @throws Unavailable, like SendWebhook
 */
export const createSendTest =
  ({ handle, ids, send, roleCheck = createRoleCheck(handle) }: ByHandDeps): SendTest =>
  async (appId, by, endpointId) => {
    const forbidden = await roleCheck(appId, by, 'sendTestWebhook');
    if (forbidden) return forbidden;
    const receiver = receiverOf(await currentState(handle, merchant, appId), endpointId);
    if (isRefusal(receiver)) return receiver;
    const deliveryId = ids.eventId();
    const test = { deliveryId, kind: 'test', firstDeliveryId: null, ordinal: 0, eventType: testEventType } as const;
    const ofNoPayment = { paymentId: null, eventId: null, eventRevision: null };
    await send({ ...test, ...ofNoPayment, appId, ...receiver }, by);
    return { deliveryId };
  };

function receiverOf(app: MerchantState, endpointId?: string): Pick<WebhookStart, 'url' | 'endpointId'> | Refusal {
  if (endpointId === undefined)
    return app.webhookUrl === null
      ? refuse('webhookUrlMissing', 'the app has no webhook URL: set one first')
      : { url: app.webhookUrl };
  const endpoint = endpointOf(app, endpointId);
  return isRefusal(endpoint) ? endpoint : { url: endpoint.url, endpointId };
}

/**
 * Records that new webhook types are due from this log position on. Several instances may run it concurrently: each type is introduced
 * once.
 *
 * @throws Unavailable
 */
export async function introduceWebhookTypes(handle: Handle, types: readonly string[]): Promise<void> {
  const facts = { cause: 'worker:projections', appId: null } as const;
  await handle(webhookTypes, webhookTypesInstance, (introduced) => introduceTypes(introduced, types), facts);
}
