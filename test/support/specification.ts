import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import {
  type Decider,
  type Decision,
  type DomainEvent,
  fold,
  isRefusal,
  type RefusalCode,
} from '../../domain/decider.ts';

/**
 * Given what happened, when this is decided, then these events follow. Every event of a specification must fit its
 * stored schema. A repeated decision on the result must add nothing, because every caller may repeat itself after a
 * crash.
 */
export function specification<S, E extends DomainEvent>(decider: Decider<S, E>) {
  const check = (events: readonly E[]) => {
    for (const event of events) eventCodec.check(decider.category, event);
  };

  return {
    given(history: readonly E[]) {
      check(history);
      const state = fold(decider, history);
      return { when: (decide: (state: S) => Decision<E>) => outcome(state, decide) };
    },
  };

  function outcome(state: S, decide: (state: S) => Decision<E>) {
    const decision = decide(state);
    const events = (): readonly E[] => {
      if (isRefusal(decision)) assert.fail(`refused with ${decision.refused}: ${decision.message}`);
      return decision;
    };
    return {
      // biome-ignore lint/suspicious/noThenProperty: it reads as given, when, then; nothing awaits it
      then(expected: readonly E[]): void {
        assert.deepEqual(events(), expected);
        check(expected);
        const again = decide(fold(decider, expected, state));
        if (!isRefusal(again)) assert.deepEqual(again, [], 'deciding the same again adds nothing');
      },
      thenRefused(code: RefusalCode, about?: RegExp): void {
        assert.ok(isRefusal(decision), `decided ${JSON.stringify(decision)} where ${code} was expected`);
        assert.equal(decision.refused, code);
        if (about) assert.match(decision.message, about);
      },
      thenNothing(): void {
        assert.deepEqual(events(), []);
      },
    };
  }
}
