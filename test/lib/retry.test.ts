import assert from 'node:assert/strict';
import { type Clock, Unavailable } from '../../commands/ports.ts';
import { instant } from '../../domain/time.ts';
import { retryUnavailable } from '../../src/process/retryUnavailable.ts';

describe('the retries of a start', () => {
  function patience() {
    const naps: number[] = [];
    const told: string[] = [];
    const clock: Clock = {
      now: () => instant(0),
      sleep: async (duration_ms) => {
        naps.push(duration_ms);
      },
    };
    return { naps, told, patience: { clock, tell: ({ message }: Error) => told.push(message) } };
  }

  it('wait for a store that is late, and report each time', async () => {
    const { naps, told, patience: given } = patience();
    let tries = 0;
    const answer = await retryUnavailable(given, async () => {
      tries += 1;
      if (tries < 4) throw new Unavailable('Postgres cannot answer now');
      return 'there';
    });
    assert.equal(answer, 'there');
    assert.deepEqual(naps, [500, 1_000, 2_000]);
    assert.equal(told.length, 3);
  });

  it('end after half a minute of pauses, with the last cause', async () => {
    const { naps, patience: given } = patience();
    await assert.rejects(
      retryUnavailable(given, async () => {
        throw new Unavailable('still away');
      }),
      /still away/,
    );
    assert.equal(naps.length, 7);
    assert.equal(
      naps.reduce((sum, nap) => sum + nap, 0),
      31_500,
    );
  });

  it('are for temporary causes alone', async () => {
    const { naps, patience: given } = patience();
    await assert.rejects(
      retryUnavailable(given, async () => {
        throw new Error('relation is missing');
      }),
      /relation is missing/,
    );
    assert.deepEqual(naps, []);
  });
});
