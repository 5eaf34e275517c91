import { SingleBar } from 'cli-progress';

/** A bar on a terminal, one line per step elsewhere. */
export function progress(steps: readonly string[]): { done(step: string): void; end(): void } {
  const began_ms = performance.now();
  const seconds = () => ((performance.now() - began_ms) / 1000).toFixed(1);
  if (!process.stdout.isTTY) {
    return { done: (step) => console.log(`  ✓ ${step.padEnd(18)} ${seconds().padStart(5)} s`), end: () => {} };
  }
  const bar = new SingleBar({
    format: '  starting {bar} {value}/{total} {step}',
    hideCursor: true,
    clearOnComplete: true,
    barsize: 24,
  });
  bar.start(steps.length, 0, { step: '' });
  return { done: (step) => bar.increment(1, { step: `${step}, ${seconds()} s` }), end: () => bar.stop() };
}
