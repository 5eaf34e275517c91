import { enableCompileCache, flushCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { isFull } from './suite.ts';

// A run starts some two hundred processes of the same code: they share compiled code.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url));
enableCompileCache(process.env['NODE_COMPILE_CACHE']);

// Properties get the same cases in each gate, so that a failure comes from the change. A full run draws new cases.
const seed = process.env['PROPERTY_SEED'] ?? (isFull ? undefined : '1');
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });

/** The event store that specs share, if the run was given one. Child processes inherit neither: they have their own stores. */
export const givenEventStore = process.env['EVENTSTORE_URL'];
delete process.env['EVENTSTORE_URL'];
delete process.env['DATABASE_URL'];

/** Shared parts of a test run are started lazily, once, and stopped here when the run ends. */
type Stopper = () => Promise<unknown> | unknown;

const stoppers: Stopper[] = [];

export function onStop(stopper: Stopper): void {
  stoppers.push(stopper);
}

const groupStoppers: Stopper[] = [];

/** Registers a part that the files of a group share. It ends before this process runs a file outside the group. */
export function onGroupEnd(stopper: Stopper): void {
  groupStoppers.push(stopper);
}

/** @throws AggregateError of all failures */
export const stopGroup = (): Promise<void> => stopEach(groupStoppers);

/** Stops the youngest first, and the others even if one cannot be stopped. @throws AggregateError of all failures */
export const stopAll = (): Promise<void> => stopEach(stoppers);

async function stopEach(each: Stopper[]): Promise<void> {
  const errors: unknown[] = [];
  for (let stop = each.pop(); stop; stop = each.pop()) {
    try {
      await stop();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'parts of the test run could not be stopped');
}

export const mochaHooks = {
  beforeAll: () => flushCompileCache(),
  afterAll: stopAll,
};
