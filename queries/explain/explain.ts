/** Why a payment is where it is: its events with the rule and the amounts of each, what is next, and what an operator can do. */
import type { DomainEvent, StoredEvent } from '../../domain/decider.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { type ChainFacts, type SituationKind, situationOf } from '../../domain/payment/situation.ts';
import { type Payment, type PaymentState, paymentDecider } from '../../domain/payment/state.ts';
import { type PaymentStatus, statusOf } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import { eventSentence } from './events.ts';
import { type NextFacts, nextOf } from './next.ts';
import { situationSentences, statusSentence } from './statuses.ts';

export interface Explanation {
  readonly paymentId: string;
  readonly appId: string;
  readonly orderId: string | null;
  readonly status: PaymentStatus;
  readonly situation: SituationKind;
  /** When all this is of. */
  readonly at: Instant;
  /** Where it stands, in one or two sentences. */
  readonly summary: string;
  /** Oldest first. */
  readonly because: readonly Because[];
  readonly next: readonly string[];
  readonly operator: readonly string[];
}

/** An event, and what it says. Revision, position and link find it in the log. */
export interface Because {
  readonly revision: string;
  readonly position: string;
  readonly type: string;
  readonly at: Instant;
  /** Who did it, in which request or worker. */
  readonly cause: string;
  readonly link: string;
  readonly sentence: string;
}

export interface ExplainDeps {
  readonly read: (stored: StoredEvent) => DomainEvent | undefined;
  /** SHA-256 (hex) that the next event names it by. */
  readonly linkOf: (stored: StoredEvent) => string;
  readonly now: Instant;
  /** What is known of the chain that it is paid from. */
  readonly chainOf: (payment: Payment) => ChainFacts;
  readonly noted: NextFacts['noted'];
}

/** @param events of the payment's stream, from the first one. Null when they create no payment. */
export function explainPayment(events: readonly StoredEvent[], deps: ExplainDeps): Explanation | null {
  const { read, linkOf, now } = deps;
  let payment: PaymentState = paymentDecider.initial;
  const because: Because[] = [];
  for (const stored of events) {
    const event = read(stored) as PaymentEvent | undefined;
    if (event) payment = paymentDecider.evolve(payment, event);
    const { revision, position, type, metadata } = stored;
    const sentence = event && payment ? eventSentence(event, payment) : undefined;
    because.push({
      revision: revision.toString(),
      position: position.toString(),
      type,
      at: metadata.at,
      cause: metadata.cause,
      link: linkOf(stored),
      sentence: sentence ?? 'An event of a newer version of this service: it changes nothing that this one knows.',
    });
  }
  if (!payment) return null;
  const situation = situationOf(payment, now, deps.chainOf(payment));
  const { paymentId, appId, orderId } = payment.terms;
  return {
    ...{ paymentId, appId, orderId, status: statusOf(payment), situation: situation.kind, at: now },
    summary: `${statusSentence(payment)} ${situationSentences[situation.kind]}`,
    because,
    ...nextOf(payment, { now, situation, noted: deps.noted }),
  };
}
