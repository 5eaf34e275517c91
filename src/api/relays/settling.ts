/** Common part of both endpoints that accept an authorization: one at a time for a payment, and the result when the payer's money has arrived. */
import type { By } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import type { Accepted, RelayDraft, RelayRefusal, Relays, SignedAuthorization } from '../../../commands/relayPorts.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { serializeByKey } from '../../lib/concurrency.ts';
import type { RequestSlot } from '../middleware.ts';
import { ListenersFull, type PaymentNews } from '../news.ts';

export interface SettlingDeps {
  readonly relays: Relays;
  readonly paymentNews: PaymentNews;
  readonly clock: Clock;
}

export interface Settling {
  /** Accepts an authorization and waits a while for its result. Equal requests get equal results. */
  settle(asked: AskedToSettle): Promise<Accepted | RelayRefusal>;
}

export interface AskedToSettle {
  readonly paymentId: string;
  readonly signed: SignedAuthorization;
  readonly by: By;
  /** Name under which the limit of open pages counts the payer. */
  readonly address: string;
  readonly place: RequestSlot;
  /** Aborts when nobody waits for the answer any more. */
  readonly away: AbortSignal;
  readonly wait_ms: number;
  /** The payment, if it is created only now. */
  readonly draft?: RelayDraft | undefined;
}

/** A relay's own stream sends no notification: it is polled at this interval beside the payment's news. */
const look_ms = 1_000;
const answer_ms = 10_000;

export function createSettling({ relays, paymentNews, clock }: SettlingDeps): Settling {
  const turn = serializeByKey();

  async function awaited({ paymentId, signed, address, place, away, wait_ms }: AskedToSettle, first: Accepted) {
    const signal = AbortSignal.any([away, AbortSignal.timeout(wait_ms)]);
    const { appId } = first.payment.terms;
    const news = listenTo(paymentNews, { paymentId, appId, address }, signal);
    let found = first;
    let next = news?.next();
    while (found.result.kind === 'pending' && !signal.aborted) {
      const looked = clock.sleep(look_ms, signal).catch(() => null);
      const told = await place.aside(() => Promise.race(next ? [next, looked] : [looked]));
      // The news end with the service: waiting callers get an answer before it stops.
      if (told?.done) return found;
      if (told) next = news?.next();
      found = (await relays.find(paymentId, signed)) ?? found;
    }
    return found;
  }

  return {
    async settle(asked) {
      const { paymentId, signed, by } = asked;
      const until = AbortSignal.any([asked.away, AbortSignal.timeout(answer_ms)]);
      // Copies of one request query the nodes once: the second finds the order of the first.
      const accepted = await turn(paymentId, () => relays.accept(paymentId, signed, by, until, asked.draft));
      return isRefusal(accepted) ? accepted : await awaited(asked, accepted);
    },
  };
}

/** Null where too many listen: then the streams are read once a second. */
function listenTo(news: PaymentNews, page: Parameters<PaymentNews['listen']>[0], signal: AbortSignal) {
  try {
    return news.listen(page, signal)[Symbol.asyncIterator]();
  } catch (error) {
    if (error instanceof ListenersFull) return null;
    throw error;
  }
}
