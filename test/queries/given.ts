import type { PaymentEvent } from '../../domain/payment/events.ts';
import { workSet } from '../../projections/sets.ts';
import type { Database } from '../../src/postgres/database.ts';
import { append, createWorld, paymentIdOf, type World } from '../support/histories.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';

/** A database whose read models of "work" contain a spec's history; each spec begins with an empty log. */
export interface Given {
  readonly database: Database;
  /** A spec may replace the log. */
  world: World;
  /** Payments 1, 2, … with these histories, each with its own deposit address. */
  payments(...histories: (readonly PaymentEvent[])[]): Promise<void>;
  /** Brings the read models to the log's end. */
  project(): Promise<void>;
}

export const addressOf = (n: number): string => `0x90F79bf6EB2c4f870365E785982E1f101E93b90${n}`;

/** Called inside a `describe`; filled before each of its specs. */
export function givenReadModels(): Given {
  const made = {} as { database: Database; world: World };
  before(async () => {
    made.database = await freshDatabase();
  });
  beforeEach(async () => {
    made.world = createWorld();
    await made.database.query('TRUNCATE ops.work_failures CASCADE');
  });
  const project = async () =>
    void (await fill(made.database, made.world.store, workSet, [await wholeLog(made.world.store)]));

  return Object.assign(made, {
    project,
    async payments(...histories: (readonly PaymentEvent[])[]) {
      for (const [index, [first, ...rest]] of histories.entries()) {
        if (first?.type !== 'PaymentCreated') continue;
        made.world.clock.advance(1_000);
        const deposit = { ...first.data.deposit, address: addressOf(index + 1) };
        const data = { ...first.data, paymentId: paymentIdOf(index + 1), deposit };
        await append(made.world, `payment-${paymentIdOf(index + 1)}`, [{ type: 'PaymentCreated', data }, ...rest]);
      }
      await project();
    },
  });
}
