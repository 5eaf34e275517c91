import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { openLines } from '../../src/chains/node/metrics.ts';
import { createLogger, createTelemetry } from '../../src/process/telemetry.ts';

const root = new URL('../../', import.meta.url).pathname;
const text = (file: string) => readFileSync(`${root}${file}`, 'utf8');
const page = text('docs/operate/operations.md');

/** First cells of a section's table. */
const listed = (section: string) =>
  [...(page.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)/gm)].map(([, name]) => name);

describe('docs/operate/operations.md', () => {
  it('explains every metric, and none that is gone', () => {
    const { registry } = createTelemetry(createLogger('silent'));
    openLines(registry);
    const names = registry
      .getMetricsAsArray()
      .map(({ name }) => name)
      .filter((name) => name.startsWith('pi_'));
    assert.deepEqual(listed('Metrics').sort(), names.sort());
  });

  it('explains every alarm', () => {
    const raised = globSync('src/**/*.ts', { cwd: root }).flatMap((file) =>
      [...text(file).matchAll(/\balarm\(\s*'(\w+)'/g)].map(([, name]) => name),
    );
    assert.ok(raised.length >= 5);
    assert.deepEqual(
      raised.filter((name) => !listed('Alarms').includes(name)),
      [],
    );
  });
});
