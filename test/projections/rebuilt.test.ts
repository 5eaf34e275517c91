import assert from 'node:assert/strict';
import fc from 'fast-check';
import { eventCodec } from '../../commands/codec.ts';
import { readStream } from '../../commands/handle.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { viewOf } from '../../domain/payment/view.ts';
import { projectionSets, workSet } from '../../projections/sets.ts';
import { getPayment } from '../../queries/payments.ts';
import type { Database } from '../../src/postgres/database.ts';
import { createWorld, histories, paymentIdOf, play, type World } from '../support/histories.ts';
import type { Step } from '../support/historySteps.ts';
import { minute } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, rowsOf, wholeLog } from '../support/readModels.ts';
import { isFull } from '../support/suite.ts';

const runs = isFull ? 12 : 3;

describe('read models', () => {
  let database: Database;
  before(async () => {
    database = await freshDatabase();
  });

  const lived = async (steps: Parameters<typeof play>[1][]): Promise<World> => {
    const world = createWorld();
    for (const step of steps) await play(world, step);
    return world;
  };

  it('are the same row by row, live in small batches with restarts or rebuilt at once', async () => {
    const property = fc.asyncProperty(histories, fc.integer({ min: 1, max: 9 }), async (steps, size) => {
      const { store } = await lived([...steps]);
      const log = await wholeLog(store);
      const pieces = Array.from({ length: Math.ceil(log.length / size) }, (_, n) =>
        log.slice(n * size, n * size + size),
      );
      for (const set of projectionSets) {
        const live = await rowsOf(database, await fill(database, store, set, pieces));
        const rebuilt = await rowsOf(database, await fill(database, store, set, [log]));
        assert.deepEqual(rebuilt, live);
      }
    });
    await fc.assert(property, { numRuns: runs });
  });

  it('answer for every payment the same as folding its stream', async () => {
    const property = fc.asyncProperty(histories, async (steps) => {
      const { store } = await lived([...steps]);
      await fill(database, store, workSet, [await wholeLog(store)]);
      const none = async () => [];
      for (let who = 0; who <= 5; who += 1) {
        const stream = await readStream(store, `payment-${paymentIdOf(who)}`);
        const payment = stream.reduce(
          (state, { type, data }) => paymentDecider.evolve(state, { type, data } as never),
          paymentDecider.initial,
        );
        const folded = payment && viewOf(payment, stream.at(-1)?.metadata.at ?? minute(0));
        const found = await getPayment({ sql: database, history: none, read: eventCodec.read }, paymentIdOf(who));
        assert.deepEqual(
          found,
          folded && { ...folded, orderId: folded.orderId?.replace(/[\0\ud800]/g, '\ufffd') ?? null },
        );
      }
    });
    await fc.assert(property, { numRuns: runs });
  });

  it('contain every kind of row, so that these comparisons prove something', async () => {
    // Random steps rarely complete a payment and then fund a refund of it.
    const kinds = ['create', 'confirm', 'requestPayout', 'sign', 'confirmPayout', 'refund', 'refund'] as const;
    const funded = kinds.map((kind): Step => ({ kind, who: 1, n: 0 }));
    const steps = [...fc.sample(histories, { numRuns: 8, seed: 7 }), funded];
    const seen = new Map<string, number>();
    for (const history of steps) {
      const { store } = await lived([...history]);
      const log = await wholeLog(store);
      for (const set of projectionSets) {
        const rows = await rowsOf(database, await fill(database, store, set, [log]));
        for (const [table, found] of Object.entries(rows)) seen.set(table, (seen.get(table) ?? 0) + found.length);
      }
    }
    assert.deepEqual(
      [...seen].filter(([, rows]) => rows === 0),
      [],
    );
    assert.equal(seen.size, 33);
  });
});
