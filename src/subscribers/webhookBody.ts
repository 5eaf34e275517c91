import type { Codec } from '../../commands/codec.ts';
import { assert, fold } from '../../domain/decider.ts';
import type { StoredEvent } from '../../domain/event.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { viewOf } from '../../domain/payment/view.ts';
import { webhookData } from '../http/resource.ts';

/** `data` of a webhook: the payment as these events leave it, the same resource that GET answers less what is internal. */
export const webhookDataOf =
  (codec: Pick<Codec, 'read'>) =>
  (events: readonly StoredEvent[]): object => {
    const known = events.map(codec.read).filter((event) => event !== undefined);
    const payment = fold(paymentDecider, known as readonly PaymentEvent[]);
    assert(payment !== null, 'a webhook tells of a payment that was created');
    return webhookData(viewOf(payment, events.at(-1)?.metadata.at ?? payment.terms.createdAt));
  };
