/**
 * Specs that run at the same time, because each mostly waits. They must not disturb one another.
 * @param runs by title
 */
export function itAtOnce(runs: Readonly<Record<string, () => Promise<void>>>): void {
  const running = new Map<string, Promise<void>>();
  before(() => {
    for (const [title, run] of Object.entries(runs)) {
      const ran = run();
      // Its spec reports a failure, which may happen before that spec begins.
      ran.catch(() => {});
      running.set(title, ran);
    }
  });
  for (const title of Object.keys(runs)) it(title, () => running.get(title));
}
