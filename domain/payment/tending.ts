/** Note and tags that the people of an app write on a payment. Payers and webhooks never get them. */
import { type Decision, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { PaymentEvent } from './events.ts';
import { allCounted, seenWhole } from './sources.ts';
import type { Payment, PaymentState } from './state.ts';

export const noteLimits = {
  note_characters: 1_000,
  tags: 10,
  tag_characters: 32,
  /** Times that a payment's note or tags are changed: its money needs the rest of its stream. */
  changes: 200,
} as const;

export interface Annotation {
  /** Null for none. */
  readonly note: string | null;
  readonly tags: readonly string[];
}

/** Letters and digits of any script, joined by `-`, `_` or `.`: a tag is a word, so it needs no quoting anywhere. */
const tagPattern = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}._-]*[\p{L}\p{M}\p{N}])?$/u;

/** Replaces note and tags. Tags are compared in lower case and kept in order, each once. */
export function annotatePayment(p: PaymentState, asked: Annotation, now: Instant): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'there is no such payment');
  const note = asked.note === null || asked.note.trim() === '' ? null : asked.note.trim().toWellFormed();
  const tags = [...new Set(asked.tags.map((tag) => tag.trim().normalize('NFC').toLowerCase()))]
    .filter((tag) => tag !== '')
    .sort();
  if (note !== null && note.length > noteLimits.note_characters)
    return refuse('invalidRequest', `must have at most ${noteLimits.note_characters} characters`, '/note');
  if (tags.length > noteLimits.tags)
    return refuse('invalidRequest', `must be at most ${noteLimits.tags} tags`, '/tags');
  const wrong = tags.find((tag) => tag.length > noteLimits.tag_characters || !tagPattern.test(tag));
  if (wrong !== undefined)
    return refuse(
      'invalidRequest',
      `“${wrong.slice(0, noteLimits.tag_characters)}” is not a tag: a tag has at most ${noteLimits.tag_characters} letters and digits, joined by “-”, “_” or “.”`,
      '/tags',
    );
  const { annotation } = p;
  if (note === annotation.note && tags.join() === annotation.tags.join()) return [];
  if (annotation.changes >= noteLimits.changes)
    return refuse('conflict', `its note and tags were changed ${noteLimits.changes} times: they stay as they are`);
  return [{ type: 'PaymentAnnotated', data: { note, tags, annotatedAt: now } }];
}

// The app ends a payment before its time.

/**
 * Brings the end of the time to pay forward to now. The payment then ends like any other: once its chains are read past that moment, by
 * their own clocks. A transfer that a block holds by then still counts, so money that is on its way is neither lost nor paid twice. Later
 * money is held for a refund, also if the app's policy accepts late money.
 */
export function cancelPayment(p: PaymentState, now: Instant): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'there is no such payment');
  if (p.cancelledAt !== null) return [];
  const problem = cancelProblem(p, now);
  if (problem !== null) return refuse('illegalStep', problem);
  return [{ type: 'PaymentCancelled', data: { expiresAt: endOf(p, now), cancelledAt: now } }];
}

/** Returns why the payment cannot be cancelled at this moment; null when it can. */
export function cancelProblem(p: Payment, now: Instant): string | null {
  if (p.terms.keyless)
    return 'a payment that was created without a key belongs to its creator and ends when its time is over';
  if (p.funded) return 'the payment is paid: it cannot be cancelled any more';
  if (p.closed) return 'the payment has ended already';
  if (seenWhole(p)) return 'all that is due has been seen on its chain: the payment is about to be paid';
  if (endOf(p, now) >= p.terms.expiresAt)
    return 'the time to pay is over: the payment ends as soon as its chains are read';
  return null;
}

/** A transfer that a chain's clock has counted stays counted, even if that clock is ahead. */
const endOf = (p: Payment, now: Instant): Instant =>
  [now, ...allCounted(p).map(({ transfer }) => transfer.blockTime as Instant)].reduce((a, b) => (b > a ? b : a));
