import assert from 'node:assert/strict';
import { keyOf, referenceOf, type TransferKey } from '../../../domain/transfer/shapes.ts';

describe('the names of transfers', () => {
  const names: readonly (readonly [TransferKey, string])[] = [
    [{ kind: 'payout', id: '0197c1d2-0000-8000-8000-000000000001', part: 1 }, '0197c1d2-0000-8000-8000-000000000001'],
    [{ kind: 'refund', id: 'pay_1', part: 2 }, 'pay_1/refund-2'],
    [{ kind: 'unmatchedRefund', id: '8453:0xabc:0', part: 1 }, 'unmatched-8453:0xabc:0'],
    [{ kind: 'unmatchedRefund', id: '8453:0xabc:0', part: 2 }, 'unmatched-8453:0xabc:0/refund-2'],
    [{ kind: 'operation', id: '7', part: 1 }, 'operation-7'],
  ];

  for (const [key, reference] of names) {
    it(`is ${reference} of a ${key.kind}, and no other transfer's`, () => {
      assert.equal(referenceOf(key), reference);
      assert.deepEqual(keyOf(reference), key);
    });
  }
});
