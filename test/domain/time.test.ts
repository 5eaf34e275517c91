import assert from 'node:assert/strict';
import fc from 'fast-check';
import { epochMs, hour_ms, instant, isAfter, parseInstant, plus } from '../../domain/time.ts';

const years = { min: new Date('0001-01-01T00:00:00.000Z'), max: new Date('9998-12-31T23:59:59.999Z') };
const moments = fc.date({ ...years, noInvalidDate: true }).map((date) => date.getTime());

describe('an instant', () => {
  it('is UTC text with milliseconds', () => {
    assert.equal(instant(0), '1970-01-01T00:00:00.000Z');
    assert.equal(plus(instant(0), hour_ms), '1970-01-01T01:00:00.000Z');
  });

  it('sorts as text in the order of time', () => {
    fc.assert(
      fc.property(moments, moments, (a, b) => {
        assert.equal(isAfter(instant(a), instant(b)), a > b);
        assert.equal(epochMs(instant(a)), a);
      }),
    );
  });

  it('is read from any ISO 8601 time with its offset', () => {
    const texts = [
      '2026-11-21T09:00:00.000Z',
      '2026-11-21T09:00Z',
      '2026-11-21T11:00:00+02:00',
      '2026-11-21T09:00:00.0009Z',
    ];
    for (const text of texts) assert.equal(parseInstant(text), '2026-11-21T09:00:00.000Z', text);
  });

  it('is not guessed', () => {
    const vague = [
      '',
      '1',
      '2026',
      '2026-11-21',
      '2026-11-21T09:00:00',
      'Nov 21 2026',
      '2026-13-01T00:00:00Z',
      '+275760-01-01T00:00:00Z',
    ];
    for (const text of vague) assert.equal(parseInstant(text), undefined, text);
  });
});
