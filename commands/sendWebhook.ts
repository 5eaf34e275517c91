import { isRefusal } from '../domain/decider.ts';
import { epochMs } from '../domain/time.ts';
import {
  recordOutcome,
  requestHeaders,
  startSend,
  type WebhookOutcome,
  type WebhookStart,
  webhook,
} from '../domain/webhook.ts';
import type { By, Handle } from './handle.ts';
import { type Clock, type CrashPoint, Unavailable } from './ports.ts';
import { signWebhook } from './webhookSignature.ts';

/** What is POSTed: exactly these bytes under exactly these headers, beside those that every HTTP request has. */
export interface WebhookMessage {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface WebhookAnswer extends Pick<WebhookOutcome, 'statusCode' | 'error' | 'responsePreview'> {
  /** Whether the receiver may have read any of the request. */
  readonly sent: boolean;
}

/** Sends one request, once, and answers what came of it; whatever the receiver or the network does is an answer. */
export type WebhookPost = (message: WebhookMessage) => Promise<WebhookAnswer>;

export interface SendWebhookDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly post: WebhookPost;
  /** The bytes to send, the same whenever it is asked. @throws when they cannot be made */
  readonly bodyOf: (start: WebhookStart) => Promise<Uint8Array>;
  /** The app's secret in force now, 64 hex characters. @throws when it has none or it cannot be opened */
  readonly secretOf: (appId: string) => Promise<string>;
  readonly crash?: CrashPoint;
}

/** `notOurs`: somebody else claimed the delivery, or an earlier process that crashed did. It was not sent again. */
export type SendResult = 'delivered' | 'exhausted' | 'notOurs';

export type Delivery = Omit<WebhookStart, 'startedAt'>;
export type SendWebhook = (delivery: Delivery, by: By) => Promise<SendResult>;

const recordTriesMax = 8;
const recordPause_ms = 250;

/**
 * Claim → sign → POST → record, at most one POST per delivery.
 *
 * Crash before the claim: the delivery is still due and another run claims it. Crash after it: nobody knows whether the receiver
 * got the POST, so it is never repeated; the delivery stays started, which reads as exhausted.
 *
 * It is signed with the secret in force after the claim: one that was rotated out before signs nothing more.
 *
 * @throws Unavailable when the claim could not be made (nothing was sent) or the outcome not be recorded (sent, outcome unknown);
 *   whatever `secretOf` and `bodyOf` throw, before the claim
 */
export function createSendWebhook(deps: SendWebhookDeps): SendWebhook {
  const { handle, clock, post, bodyOf, secretOf, crash = () => {} } = deps;

  return async (delivery, by) => {
    const { deliveryId, appId } = delivery;
    const facts = { ...by, appId };
    const startedAt = clock.now();
    const start = { ...delivery, startedAt };
    // What can fail comes before the claim: a delivery that was not sent is still due.
    const [body, secretBefore] = await Promise.all([bodyOf(start), secretOf(appId)]);
    await crash('webhook.beforeClaim');
    const claim = await handle(webhook, deliveryId, (state) => startSend(state, start), { ...facts, expectNew: true });
    if (isRefusal(claim) || claim.appended === 0) return 'notOurs';
    await crash('webhook.afterClaim');

    // A store that is away between the two reads must not cost the delivery.
    const secret = await secretOf(appId).catch(() => secretBefore);
    const signed = signWebhook({ deliveryId, body, secret }, epochMs(clock.now()));
    const { sent, ...answer } = await post({ url: delivery.url, headers: requestHeaders(delivery, signed), body });
    await crash('webhook.afterPost');

    const finishedAt = clock.now();
    const duration_ms = Math.max(0, epochMs(finishedAt) - epochMs(startedAt));
    const outcome = { ...answer, request: sent ? signed : null, duration_ms, finishedAt };
    const stage = await patiently(async () => {
      const recorded = await handle(webhook, deliveryId, (state) => recordOutcome(state, outcome), facts);
      return isRefusal(recorded) ? 'exhausted' : recorded.state.stage;
    });
    await crash('webhook.afterOutcome');
    return stage === 'delivered' ? 'delivered' : 'exhausted';
  };

  /** The outcome is only in memory: a store that is away for a moment must not lose it. */
  async function patiently<T>(record: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await record();
      } catch (error) {
        if (!(error instanceof Unavailable) || tries === recordTriesMax) throw error;
        await clock.sleep(recordPause_ms * tries);
      }
    }
  }
}
