/** Shared parts of a test run are started lazily, once, and stopped here when the run ends. */
type Stopper = () => Promise<void> | void;

const stoppers: Stopper[] = [];

export function onStop(stopper: Stopper): void {
  stoppers.push(stopper);
}

export const mochaHooks = {
  async afterAll(): Promise<void> {
    for (const stop of stoppers.splice(0).reverse()) await stop();
  },
};
