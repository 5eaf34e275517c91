import { isRefusal } from '../domain/decider.ts';
import { epochMs } from '../domain/time.ts';
import { recordOutcome, startSend, type WebhookOutcome, type WebhookStart, webhook } from '../domain/webhook.ts';
import type { Handle } from './handle.ts';
import { type Clock, type CrashPoint, Unavailable } from './ports.ts';

/** What is POSTed: exactly these bytes are signed and sent. */
export interface WebhookMessage {
  readonly url: string;
  readonly body: Uint8Array;
  /** The app's webhook secret: 64 hex characters. */
  readonly secret: string;
}

export type WebhookAnswer = Pick<WebhookOutcome, 'statusCode' | 'error' | 'responsePreview'>;

/** Sends one request, once, and answers what came of it; whatever the receiver or the network does is an answer. */
export type WebhookPost = (message: WebhookMessage) => Promise<WebhookAnswer>;

export interface SendWebhookDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly post: WebhookPost;
  readonly crash?: CrashPoint;
}

/** `notOurs`: somebody else claimed the delivery, or an earlier process that crashed did. It was not sent again. */
export type SendResult = 'delivered' | 'exhausted' | 'notOurs';

export type SendWebhook = (
  delivery: Omit<WebhookStart, 'startedAt'>,
  message: Omit<WebhookMessage, 'url'>,
) => Promise<SendResult>;

const recordTriesMax = 8;
const recordPause_ms = 250;

/**
 * Claim → POST → record, at most one POST per delivery.
 *
 * Crash before the claim: the delivery is still due and another run claims it. Crash after it: nobody knows whether the receiver
 * got the POST, so it is never repeated; the delivery stays started, which reads as exhausted.
 *
 * @throws Unavailable when the claim could not be made (nothing was sent) or the outcome not be recorded (sent, outcome unknown)
 */
export function createSendWebhook({ handle, clock, post, crash = () => {} }: SendWebhookDeps): SendWebhook {
  return async (delivery, message) => {
    const facts = { cause: 'worker:webhooks', appId: delivery.appId } as const;
    await crash('webhook.beforeClaim');
    const startedAt = clock.now();
    const claim = await handle(webhook, delivery.deliveryId, (state) => startSend(state, { ...delivery, startedAt }), {
      ...facts,
      expectNew: true,
    });
    if (isRefusal(claim) || claim.appended === 0) return 'notOurs';
    await crash('webhook.afterClaim');

    const answer = await post({ url: delivery.url, ...message });
    await crash('webhook.afterPost');

    const finishedAt = clock.now();
    const duration_ms = Math.max(0, epochMs(finishedAt) - epochMs(startedAt));
    const outcome = { ...answer, duration_ms, finishedAt };
    const stage = await patiently(async () => {
      const recorded = await handle(webhook, delivery.deliveryId, (state) => recordOutcome(state, outcome), facts);
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
