/** What two streams say of the same: nothing follows from what is not there, and nothing follows twice. */
import type { Fact, Paired } from './claims.ts';
import type { Compared } from './comparing.ts';
import { findingAt } from './findings.ts';

/** @param facts all of one key */
export function comparePaired(facts: readonly Fact[], { find }: Pick<Compared, 'find'>): void {
  const of = (side: Paired['side']) => facts.filter((fact): fact is Paired => fact.side === side);
  const [causes, consequences] = [of('cause'), of('consequence')];
  for (const [first, ...again] of [causes, consequences])
    for (const { where, words, code } of again)
      find(findingAt(code, where, `${words}: ${first?.where.stream} says so as well`));
  const [cause] = causes;
  for (const { where, words, code } of consequences) {
    if (!cause) find(findingAt(code, where, `${words}: nothing leads to it`));
    else if (cause.words !== words) find(findingAt(code, where, `${words}; ${cause.where.stream} says ${cause.words}`));
  }
}
