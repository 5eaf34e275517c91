import assert from 'node:assert/strict';
import { type Decider, type Decision, fold, isRefusal, type RefusalCode } from '../../domain/decider.ts';

/** `given(...events).when(decide).then(...events)` or `.refuses(code)` for the decisions of one aggregate. */
export const specOf = <S, E>(decider: Decider<S, E>) => ({
  given: (...events: readonly E[]) => ({
    when(decide: (state: S) => Decision<E>) {
      const decision = decide(fold(decider, events));
      return {
        // biome-ignore lint/suspicious/noThenProperty: given/when/then; nobody awaits it
        then(...expected: readonly E[]): void {
          assert.deepEqual(decision, expected);
        },
        refuses(code: RefusalCode, pointer?: string): void {
          assert(isRefusal(decision), `expected the refusal ${code}, got ${JSON.stringify(decision)}`);
          assert.equal(decision.refused, code);
          assert.equal(decision.pointer, pointer);
        },
      };
    },
  }),
});
