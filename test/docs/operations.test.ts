import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { waitReasons } from '../../domain/transfer/shapes.ts';
import { openLines } from '../../src/chains/node/metrics.ts';
import { createLogger, createTelemetry } from '../../src/process/telemetry.ts';

const root = new URL('../../', import.meta.url).pathname;
const text = (file: string) => readFileSync(`${root}${file}`, 'utf8');
/** First cells of a page's tables, up to its details. */
const listed = (file: string) =>
  [...(text(file).split('\n## Details\n')[0] ?? '').matchAll(/^\| `(\w+)/gm)].map(([, name]) => name);

describe('the pages of metrics and alarms', () => {
  it('explain every metric, and no other', () => {
    const { registry } = createTelemetry(createLogger('silent'));
    openLines(registry);
    const names = registry
      .getMetricsAsArray()
      .map(({ name }) => name)
      .filter((name) => name.startsWith('pi_'));
    assert.deepEqual(listed('docs/operate/metrics.md').sort(), names.sort());
  });

  it('explain every alarm', () => {
    const raised = globSync('src/**/*.ts', { cwd: root }).flatMap((file) =>
      [...text(file).matchAll(/\balarm\(\s*'(\w+)'/g)].map(([, name]) => name),
    );
    assert.ok(raised.length >= 5);
    const explained = listed('docs/operate/alarms.md');
    assert.equal(new Set(explained).size, explained.length);
    assert.deepEqual(
      raised.filter((name) => !explained.includes(name)),
      [],
    );
  });

  it('explain every reason for which a transfer waits, as each is an alarm', () => {
    const explained = listed('docs/operate/alarms.md');
    assert.deepEqual(
      waitReasons.filter((reason) => reason !== 'treasuryBusy' && !explained.includes(reason)),
      [],
    );
  });
});
