/** Compares merchants' notifications with the events: each event of a payment was reported automatically once, and nothing else. */
import { day_ms } from '../../domain/time.ts';
import { isFirstType } from '../../domain/webhook.ts';
import type { AuditFact, ReportedEvent, Telling } from './claims.ts';
import type { ComparisonOutput, World } from './comparing.ts';
import { findingAt } from './findings.ts';

/** A delivery has no deadline: after a hanging receiver, others of its app wait for hours. Late ones are not reported. */
const due_ms = day_ms;

/** @param facts all of one event */
export function compareNews(
  facts: readonly AuditFact[],
  { settledBefore }: Pick<World, 'settledBefore'>,
  { find }: Pick<ComparisonOutput, 'find'>,
): void {
  const tellings = facts.filter((fact): fact is Telling => fact.side === 'telling').toSorted(byPosition);
  const news = facts.filter((fact): fact is ReportedEvent => fact.side === 'news');
  const [first, ...again] = tellings.filter(({ kind }) => kind === 'automatic');
  for (const { where, eventId } of again)
    find(findingAt('webhookTwice', where, `event ${eventId} was told, and ${first?.where.stream} says so as well`));
  if (!first)
    for (const { where, paymentId, eventType, url } of news.filter((each) => isOverdue(each, settledBefore)))
      find(findingAt('webhookNeverSent', where, `${eventType} of payment ${paymentId} never went to ${url}`));
  for (const telling of tellings) {
    const problem = problemOf(
      telling,
      news.find(({ paymentId }) => paymentId === telling.paymentId),
    );
    if (problem !== null) find(findingAt('webhookWrong', telling.where, problem));
  }
}

/** For a later type, nothing is due from before its introduction, which is not checked here. */
const isOverdue = ({ url, eventType, at }: ReportedEvent, settledBefore: string): boolean =>
  url !== null && isFirstType(eventType) && Date.parse(settledBefore) - Date.parse(at) > due_ms;

const byPosition = (a: Telling, b: Telling): number => (BigInt(a.position) < BigInt(b.position) ? -1 : 1);

/** Null if all its statements are true. */
function problemOf(telling: Telling, news: ReportedEvent | undefined): string | null {
  const { paymentId, eventId, eventRevision, position } = telling;
  if (!news) return `payment ${paymentId} has no event ${eventId} that a merchant is told of`;
  if (BigInt(position) < BigInt(news.position)) return `event ${eventId} was told before it happened`;
  if (eventRevision !== String(news.where.revision))
    return `event ${eventId} is number ${news.where.revision} of its payment, it says ${eventRevision}`;
  for (const field of ['appId', 'eventType', 'url'] as const)
    if (telling[field] !== news[field]) return `its ${field} is ${telling[field]}, the payment's is ${news[field]}`;
  return null;
}
