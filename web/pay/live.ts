/** Server-sent events (HTML standard, 9.2): notify an open payment page of its current version. */

import { setTimeout as sleep } from 'node:timers/promises';
import Type from 'typebox';
import type { PayerFacts } from '../../queries/payerFacts.ts';
import type { HttpLimits } from '../../src/api/middleware.ts';
import type { PaymentListener, PaymentNews } from '../../src/api/news.ts';
import type { PayLinkDeps } from '../../src/api/resource.ts';
import { type AnyPage, page } from '../dashboard/page.ts';
import { noSuchPage } from '../dashboard/router.ts';
import type { PayerReads } from './payModel.ts';

/** Needs of the news of an open payment page. */
export interface PayNewsDeps extends Pick<PayerReads, 'payerFacts'>, Pick<PayLinkDeps, 'paymentSecrets'> {
  readonly paymentNews: PaymentNews;
  readonly limits: HttpLimits;
}

/** Delay before a browser reconnects. */
const retry_ms = 2_000;
const heartbeat = ': here\n\n';

export const payLivePage = (deps: PayNewsDeps): AnyPage =>
  page({
    path: '/pay/{secret}/live',
    audience: 'anyone',
    params: Type.Object({ secret: Type.String({ maxLength: 200 }) }),
    stays: true,
    async show({ params, address, gone }) {
      const paymentId = deps.paymentSecrets.paymentIdOf(params.secret);
      const facts = paymentId === null ? null : await deps.payerFacts(paymentId);
      if (!facts) throw noSuchPage();
      const { appId } = facts.payment;
      const listener = deps.paymentNews.listen({ paymentId: facts.payment.paymentId, appId, address }, gone);
      const pieces = versions(deps, facts.payment.paymentId, listener, gone);
      return { pieces, type: 'text/event-stream', headers: { 'X-Accel-Buffering': 'no' } };
    },
  });

/** Each version once, the current one first. Ends with the browser's connection and with the service. */
async function* versions(
  { payerFacts, limits }: PayNewsDeps,
  paymentId: string,
  listener: PaymentListener,
  gone: AbortSignal,
): AsyncGenerator<string> {
  yield `retry: ${retry_ms}\n\n`;
  const news = listener[Symbol.asyncIterator]();
  const beating = () => sleep(limits.heartbeat_ms, 'beat' as const, { signal: gone }).catch(() => 'beat' as const);
  let told = '';
  let next = news.next();
  let beat = beating();
  let facts = await payerFacts(paymentId);
  while (facts && !gone.aborted) {
    listener.awaitHead(chainAwaited(facts));
    if (facts.version !== told) yield `data: ${facts.version}\n\n`;
    told = facts.version;
    for (;;) {
      const happened = await Promise.race([next, beat]);
      if (gone.aborted) return;
      if (happened !== 'beat') {
        if (happened.done) return;
        break;
      }
      beat = beating();
      yield heartbeat;
    }
    next = news.next();
    facts = await payerFacts(paymentId);
  }
}

/** Chain whose blocks the page counts. */
const chainAwaited = ({ situation, payment }: PayerFacts): number | null =>
  situation.depth === null ? null : payment.sourceChainId;
