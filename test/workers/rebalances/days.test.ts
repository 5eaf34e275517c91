import assert from 'node:assert/strict';
import { createDays, roundsPerDay, settings } from '../../support/floatDays.ts';
import { isFull } from '../../support/suite.ts';

const days = isFull ? 90 : 5;
const seed = 46;
/** Events that each move has; a process dies before and after its first append of each. */
const ofEachMove = [
  ...['MovePlanned', 'RebalanceOrdered', 'BurnSigned', 'BurnConfirmed', 'BurnAttested', 'MintSigned', 'MintConfirmed'],
  'PlannedMoveEnded',
];
const ofEachMessage = [
  ...['MovePlanned', 'RebalanceOrdered', 'BurnSigned', 'BurnConfirmed', 'MintedByOther'],
  'PlannedMoveEnded',
];
const ofFaults = ['BurnOrphaned', 'MintOrphaned', 'MintDied', 'MintedByOther', 'AttestationExpired'];

describe(`the policy over ${days} days of skewed demand`, () => {
  it('refuses no payment for missing float, closes the books each day, and pays fees within its bound', async () => {
    const { seen, chains, points, round, close } = createDays(seed);
    for (let day = 0; day < days; day += 1) {
      for (let n = 0; n < roundsPerDay; n += 1) await round();
      await close();
    }
    const all = { ...seen, ...chains };
    const counts = JSON.stringify(all, (_, value) => (typeof value === 'bigint' ? String(value) : value));
    assert.equal(all.refused, 0, counts);
    assert.ok(all.fees * 10_000n <= all.moved * BigInt(settings.fastFeeMax_bps), counts);
    for (const fault of ['byOthers', 'reordered', 'fastMoves', 'expired', 'crashes', 'awayRounds'] as const)
      assert.ok(all[fault] > 0, `${fault}: ${counts}`);
    for (const type of isFull ? [...ofEachMove, ...ofFaults] : ofEachMove)
      for (const side of ['before', 'after'])
        assert.ok(points.has(`${type}.${side}Append`), `no process died ${side} the append of ${type}`);
  });

  it('does so for USDT, whose messages leave and reach their chains again after a reorganisation', async () => {
    const { seen, chains, points, round, close } = createDays(seed, { symbol: 'USDT' });
    for (let day = 0; day < days; day += 1) {
      for (let n = 0; n < roundsPerDay; n += 1) await round();
      await close();
    }
    const all = { ...seen, ...chains };
    const counts = JSON.stringify(all, (_, value) => (typeof value === 'bigint' ? String(value) : value));
    assert.deepEqual([all.refused, all.fees], [0, 0n], counts);
    for (const fault of ['byStrangers', 'lateDeliveries', 'reordered', 'crashes'] as const)
      assert.ok(all[fault] > 0, `${fault}: ${counts}`);
    for (const type of isFull ? [...ofEachMessage, 'BurnOrphaned', 'MintByOtherOrphaned'] : ofEachMessage)
      for (const side of ['before', 'after'])
        assert.ok(points.has(`${type}.${side}Append`), `no process died ${side} the append of ${type}`);
  });

  it('faces a demand that empties floats without it', async () => {
    const { seen, round } = createDays(seed, { withPolicy: false });
    for (let n = 0; n < days * roundsPerDay; n += 1) await round();
    assert.ok(seen.refused * 10 > seen.payments, `${seen.refused} of ${seen.payments} payments were refused`);
  });
});
