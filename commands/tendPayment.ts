/** Actions of an app's people on one of its payments: cancel it, write a note and tags. */
import { type Decision, isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { merchant } from '../domain/merchant/state.ts';
import { type Annotation, annotatePayment } from '../domain/payment/annotate.ts';
import { cancelPayment } from '../domain/payment/cancel.ts';
import type { PaymentEvent } from '../domain/payment/events.ts';
import { type PaymentState, paymentDecider } from '../domain/payment/state.ts';
import { type By, currentState, type Handle } from './handle.ts';
import { type Changed, refuseStranger } from './manageMerchant.ts';
import type { Clock } from './ports.ts';

export interface TendPaymentDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
}

/** A person (cause `developer:…`) is refused every payment of an app that is somebody else's. */
export interface TendPayment {
  /** Ends the time to pay now. @returns paymentNotFound, forbidden, illegalStep */
  cancel(appId: string, paymentId: string, by: By): Promise<Changed | Refusal>;
  /** Replaces note and tags. @returns paymentNotFound, forbidden, invalidRequest, conflict */
  annotate(appId: string, paymentId: string, annotation: Annotation, by: By): Promise<Changed | Refusal>;
}

/** Each is one event of the payment's stream: a crash leaves it or nothing, and the same request again finds it. */
export function createTendPayment({ handle, clock }: TendPaymentDeps): TendPayment {
  type Decide = (state: PaymentState) => Decision<PaymentEvent>;
  const tend = async (appId: string, paymentId: string, decide: Decide, by: By): Promise<Changed | Refusal> => {
    const refused = refuseStranger(await currentState(handle, merchant, appId), by);
    if (refused) return refused;
    const ofApp: Decide = (state) => (state?.terms.appId === appId ? decide(state) : noSuchPayment);
    const handled = await handle(paymentDecider, paymentId, ofApp, { ...by, appId });
    return isRefusal(handled) ? handled : { position: handled.position };
  };
  return {
    cancel: (appId, paymentId, by) => tend(appId, paymentId, (state) => cancelPayment(state, clock.now()), by),
    annotate: (appId, paymentId, annotation, by) =>
      tend(appId, paymentId, (state) => annotatePayment(state, annotation, clock.now()), by),
  };
}

const noSuchPayment = refuse('paymentNotFound', 'the app has no such payment');
