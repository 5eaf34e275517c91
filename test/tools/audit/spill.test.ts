import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createSpill, groupedByKey } from '../../../tools/audit/spill.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';

const records = fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.integer()), { maxLength: 60 });
const byKey = ([a]: readonly [string, number], [b]: readonly [string, number]): number => (a < b ? -1 : a > b ? 1 : 0);
let number = 0;
const fresh = (held: number) => {
  number += 1;
  return { directory: temporaryDirectory(), name: `spill${number}`, held };
};

describe('a spill', () => {
  it('returns added items, in the order of keys and, among equal ones, of addition, however little it may hold', () => {
    const property = fc.property(records, fc.integer({ min: 1, max: 2_000 }), (added, held) => {
      const spill = createSpill<number>(fresh(held));
      for (const [key, value] of added) spill.add(key, value);
      const found = [...spill.sorted()].map(({ key, value }) => [key, value]);
      assert.deepEqual(found, added.toSorted(byKey));
    });
    fc.assert(property, { numRuns: 40 });
  });

  it('continues with the runs that an earlier process left', () => {
    const options = fresh(1_000);
    const first = createSpill<number>(options);
    for (const key of ['c', 'a']) first.add(key, 1);
    const runs = first.flush();
    const second = createSpill<number>({ ...options, runs });
    second.add('b', 2);
    assert.deepEqual(
      [...second.sorted()].map(({ key }) => key),
      ['a', 'b', 'c'],
    );
  });

  it('groups the items of several sources by key', () => {
    const [a, b] = [createSpill<number>(fresh(1)), createSpill<number>(fresh(1))];
    for (const [key, value] of [
      ['x', 1],
      ['y', 2],
    ] as const)
      a.add(key, value);
    for (const [key, value] of [
      ['y', 3],
      ['z', 4],
    ] as const)
      b.add(key, value);
    assert.deepEqual([...groupedByKey(a, b)], [[1], [2, 3], [4]]);
  });
});
