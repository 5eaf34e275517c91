import assert from 'node:assert/strict';
import { Unavailable } from '../../commands/ports.ts';
import { isRefusal } from '../../domain/decider.ts';
import { createOpenPlaces, type OpenLimits } from '../../src/api/rateLimits.ts';
import { steppedClock } from './world.ts';

const own = { keyless: false };
const stranger = { keyless: true };

describe('the places that an app has for open payments', () => {
  const world = (limits: Partial<OpenLimits>, open: { all: number; keyless: number }) => {
    const counted: string[] = [];
    const clock = steppedClock();
    let away = false;
    const take = createOpenPlaces({
      clock,
      limits: { openPerAppMax: 0, keylessOpenPerAppMax: 0, ...limits },
      async countOpen(appId, kind, max) {
        counted.push(`${kind} ${appId}`);
        if (away) throw new Unavailable('Postgres is away');
        return Math.min(open[kind], max);
      },
    });
    const taken = async (times: number, by: typeof own) => {
      const answers = [];
      for (let time = 0; time < times; time += 1) answers.push(await take('wallet_demo', by));
      return answers.map((answer) => (isRefusal(answer) ? answer.refused : 'taken'));
    };
    return { take, taken, counted, clock, leave: () => (away = true) };
  };

  it('are counted, including those used since then; the refusal states when to try again', async () => {
    const { take, taken, counted, clock } = world({ openPerAppMax: 5 }, { all: 3, keyless: 0 });
    assert.deepEqual(await taken(3, own), ['taken', 'taken', 'rateLimited']);
    const refusal = await take('wallet_demo', own);
    assert.equal(refusal?.retryAfter_s, 60);
    assert.match(refusal?.message ?? '', /open payments: try again in 60 s/);
    assert.deepEqual(counted, ['all wallet_demo']);
    clock.advance(1_000);
    assert.deepEqual(await taken(1, own), ['taken']);
    assert.equal(counted.length, 2);
  });

  it('are counted once for all concurrent requests', async () => {
    const { take, counted } = world({ openPerAppMax: 5 }, { all: 0, keyless: 0 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => take('wallet_demo', own)));
    assert.equal(answers.filter(isRefusal).length, 3);
    assert.equal(counted.length, 1);
  });

  it('are limited further for strangers: an app’s own key still creates', async () => {
    const { taken } = world({ openPerAppMax: 50, keylessOpenPerAppMax: 5 }, { all: 4, keyless: 4 });
    assert.deepEqual(await taken(2, stranger), ['taken', 'rateLimited']);
    assert.deepEqual(await taken(2, own), ['taken', 'taken']);
  });

  it('cannot be counted while Postgres is away: strangers wait, a key still creates', async () => {
    const { take, taken, leave } = world({ openPerAppMax: 5, keylessOpenPerAppMax: 5 }, { all: 0, keyless: 0 });
    leave();
    await assert.rejects(take('wallet_demo', stranger), Unavailable);
    assert.deepEqual(await taken(1, own), ['taken']);
  });

  it('are unlimited without a limit, and then nothing is counted', async () => {
    const { taken, counted } = world({}, { all: 1_000_000, keyless: 1_000_000 });
    assert.deepEqual(await taken(1, stranger), ['taken']);
    assert.deepEqual(counted, []);
  });
});
