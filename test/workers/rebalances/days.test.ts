import assert from 'node:assert/strict';
import { createDays, opening, roundsPerDay } from '../../support/floatDays.ts';
import { isFull } from '../../support/suite.ts';

const days = isFull ? 90 : 5;
const [inEach, sometimes] = [
  ['MovePlanned', 'RebalanceOrdered', 'BurnSigned', 'BurnConfirmed', 'BurnAttested', 'MintSigned', 'MintConfirmed'],
  ['BurnOrphaned', 'MintOrphaned', 'MintDied', 'MintedByOther', 'AttestationExpired', 'PlannedMoveEnded'],
];

async function run(options: { readonly withPolicy: boolean }) {
  const world = createDays(46, options);
  for (let day = 0; day < days; day += 1) {
    for (let n = 0; n < roundsPerDay; n += 1) await world.round();
    if (options.withPolicy) await world.close();
  }
  return world;
}

describe(`the policy over ${days} days of skewed demand`, () => {
  it('refuses no payment for missing float, closes the books each day, and pays fees within its bound', async () => {
    const { seen, points } = await run({ withPolicy: true });
    const said = JSON.stringify(seen, (_, value) => (typeof value === 'bigint' ? String(value) : value));
    console.log(said, [...points].sort().join(' '));
    assert.equal(seen.refused, 0, said);
    assert.ok(seen.fees <= (seen.moved * 14n) / 10_000n, said);
    assert.ok(seen.byOthers > 0 && seen.reordered > 0 && seen.fastMoves > 0 && seen.expired > 0, said);
    for (const type of isFull ? [...inEach, ...sometimes] : [])
      for (const side of ['before', 'after'])
        assert.ok(points.has(`${type}.${side}Append`), `no process died ${side} ${type}`);
  });

  it('faces a demand that empties floats without it', async () => {
    const { seen } = await run({ withPolicy: false });
    console.log(seen);
    assert.ok(seen.refused > 0 && opening > 0n);
  });
});
