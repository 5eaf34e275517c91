import { enableCompileCache, flushCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// A run starts some two hundred processes of the same code: what this one has compiled they read.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'payment-intents-compiled');
enableCompileCache(process.env['NODE_COMPILE_CACHE']);

/** Shared parts of a test run are started lazily, once, and stopped here when the run ends. */
type Stopper = () => Promise<void> | void;

const stoppers: Stopper[] = [];

export function onStop(stopper: Stopper): void {
  stoppers.push(stopper);
}

export const mochaHooks = {
  beforeAll: () => flushCompileCache(),

  async afterAll(): Promise<void> {
    for (const stop of stoppers.splice(0).reverse()) await stop();
  },
};
