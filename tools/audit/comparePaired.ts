/** What two streams say of the same: each consequence has one cause, and each cause has its consequence within a day. */
import { day_ms } from '../../domain/time.ts';
import type { Fact, Paired } from './claims.ts';
import type { Compared, World } from './comparing.ts';
import { findingAt } from './findings.ts';

/** Workers of the service make the consequence within seconds; a day later it is lost. */
const due_ms = day_ms;

/** @param facts all of one key */
export function comparePaired(
  facts: readonly Fact[],
  { settledBefore, isWhole }: Pick<World, 'settledBefore' | 'isWhole'>,
  { find }: Pick<Compared, 'find'>,
): void {
  const of = (side: Paired['side']) => facts.filter((fact): fact is Paired => fact.side === side);
  const [causes, consequences] = [of('cause'), of('consequence')];
  for (const [first, ...again] of [causes, consequences])
    for (const { where, words, code } of again)
      find(findingAt(code, where, `${words}: ${first?.where.stream} says so as well`));
  const [cause] = causes;
  const isOverdue = cause && isWhole && !(Date.parse(settledBefore) - Date.parse(cause.at) <= due_ms);
  if (isOverdue && consequences.length === 0)
    find(findingAt(cause.code, cause.where, `${cause.words}: nothing followed from it within a day`));
  for (const { where, words, code } of consequences) {
    if (!cause) find(findingAt(code, where, `${words}: nothing leads to it`));
    else if (cause.words !== words) find(findingAt(code, where, `${words}; ${cause.where.stream} says ${cause.words}`));
  }
}
