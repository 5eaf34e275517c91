/** Actions of an app's people on one of its payments: cancel it, write a note and tags. */
import { type Decision, isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import type { Action } from '../domain/merchant/roles.ts';
import type { PaymentEvent } from '../domain/payment/events.ts';
import { type PaymentState, paymentDecider } from '../domain/payment/state.ts';
import { type Annotation, annotatePayment, cancelPayment } from '../domain/payment/tending.ts';
import type { By, Handle, RoleCheck } from './handle.ts';
import type { Changed } from './manageMerchant.ts';
import type { Clock } from './ports.ts';

export interface TendPaymentDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly roleCheck: RoleCheck;
}

/** Refuses a person (cause `developer:…`) who is not in the app's team, or whose role does not allow the action. */
export interface TendPayment {
  /** Ends the time to pay now. @returns paymentNotFound, forbidden, illegalStep */
  cancel(appId: string, paymentId: string, by: By): Promise<Changed | Refusal>;
  /** Replaces note and tags. @returns paymentNotFound, forbidden, invalidRequest, conflict */
  annotate(appId: string, paymentId: string, annotation: Annotation, by: By): Promise<Changed | Refusal>;
}

/** Each is one event of the payment's stream: a crash leaves it or nothing, and the same request again finds it. */
export function createTendPayment({ handle, clock, roleCheck }: TendPaymentDeps): TendPayment {
  type Decide = (state: PaymentState) => Decision<PaymentEvent>;
  const tend = async (
    action: Action,
    { appId, paymentId, by }: { readonly appId: string; readonly paymentId: string; readonly by: By },
    decide: Decide,
  ): Promise<Changed | Refusal> => {
    const refused = await roleCheck(appId, by, action);
    if (refused) return refused;
    const ofApp: Decide = (state) => (state?.terms.appId === appId ? decide(state) : noSuchPayment);
    const handled = await handle(paymentDecider, paymentId, ofApp, { ...by, appId });
    return isRefusal(handled) ? handled : { position: handled.position };
  };
  return {
    cancel: (appId, paymentId, by) =>
      tend('cancelPayment', { appId, paymentId, by }, (state) => cancelPayment(state, clock.now())),
    annotate: (appId, paymentId, annotation, by) =>
      tend('annotatePayment', { appId, paymentId, by }, (state) => annotatePayment(state, annotation, clock.now())),
  };
}

const noSuchPayment = refuse('paymentNotFound', 'the app has no such payment');
