import {
  type AllowanceEvent,
  type AllowanceState,
  allowance,
  allowanceWindow,
  returnAllowance,
  takeAllowance,
} from '../../../domain/treasury/allowance.ts';
import { minute } from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(allowance);
const day = 24 * 60;
const most = 1_000n;

const taken = (operationId: string, value: bigint, at = minute(0)): AllowanceEvent => ({
  type: 'AllowanceTaken',
  data: { operationId, value_microUsd: value.toString(), by: 'ada', at },
});
const returned = (operationId: string, at = minute(1)): AllowanceEvent => ({
  type: 'AllowanceReturned',
  data: { operationId, by: 'ada', at },
});
const taking =
  (operationId: string, value: bigint, now = minute(0)) =>
  (state: AllowanceState) =>
    takeAllowance(state, { operationId, value, by: 'ada', now }, most);
const returning = (operationId: string) => (state: AllowanceState) =>
  returnAllowance(state, { operationId, by: 'ada', now: minute(1) });

describe('the allowance of withdrawals by one operator', () => {
  it('is a sum within a day, over any number of withdrawals', () => {
    given([taken('a', 600n)])
      .when(taking('b', 400n))
      .then([taken('b', 400n)]);
    given([taken('a', 600n)])
      .when(taking('b', 401n))
      .thenRefused('forbidden', /another operator must approve/);
    given([taken('a', 600n)])
      .when(taking('b', 401n, minute(day)))
      .then([taken('b', 401n, minute(day))]);
  });

  it('is used once by a withdrawal that is ordered again after a crash', () => {
    given([taken('a', 600n)])
      .when(taking('a', 600n))
      .thenNothing();
  });

  it('is restored by a withdrawal that was called off, once', () => {
    given([taken('a', 600n)])
      .when(returning('a'))
      .then([returned('a')]);
    given([taken('a', 600n), returned('a')])
      .when(returning('a'))
      .thenNothing();
    given([taken('a', 600n), returned('a')])
      .when(taking('b', 1_000n))
      .then([taken('b', 1_000n)]);
    given([]).when(returning('a')).thenNothing();
  });

  it('is not restored by many small withdrawals that push a large one out of sight', () => {
    const small = Array.from({ length: allowanceWindow }, (_, n) => taken(`small-${n}`, 0n, minute(1)));
    given([taken('large', 900n), ...small])
      .when(taking('b', 900n, minute(2)))
      .thenRefused('forbidden');
    given([taken('large', 900n), ...small])
      .when(taking('b', 900n, minute(day + 1)))
      .then([taken('b', 900n, minute(day + 1))]);
  });
});
