/** The shop's handling of a POST to its webhook URL: first it verifies the sender from the raw bytes, as in docs/integrate/webhooks.md. */
import type { IncomingHttpHeaders } from 'node:http';
import { verifyWebhook } from '../verifyWebhook.ts';
import type { Keeper } from './keeper.ts';
import type { Learning } from './orders.ts';
import type { Payment } from './service.ts';

interface Deps {
  readonly keeper: Pick<Keeper, 'tell'>;
  readonly learning: () => Learning;
  /** Undefined until the service has started for the first time. */
  readonly secret: () => string | undefined;
}

/** @returns the status to answer, once the report is on disk */
export function receiveWebhook(deps: Deps, headers: IncomingHttpHeaders, body: Buffer, now_ms: number): number {
  // In feed mode the shop has no webhooks.
  if (deps.learning() === 'feed') return 404;
  const { 'x-service-timestamp': timestamp, 'x-service-signature': signature } = headers;
  const secret = deps.secret();
  const sent = { timestamp: timestamp?.toString(), signature: signature?.toString() };
  if (verifyWebhook(sent, body, secret === undefined ? [] : [secret], now_ms) !== 'valid') return 401;
  // The service signed it, so it is valid JSON; a test looks like a payment and is none.
  const { type, data } = JSON.parse(body.toString('utf8')) as { readonly type: string; readonly data: Payment };
  if (type !== 'webhook_test') deps.keeper.tell(data);
  return 200;
}
