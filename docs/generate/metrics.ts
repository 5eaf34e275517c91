/** Makes docs/reference/metrics.md from the registry that /metrics serves. */
import type { Registry } from 'prom-client';
import { openLines } from '../../src/chains/node/metrics.ts';
import { createLogger, createTelemetry } from '../../src/process/telemetry.ts';

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames?: readonly string[];
}

export function registryOfService(): Registry {
  const { registry } = createTelemetry(createLogger('silent'));
  openLines(registry);
  return registry;
}

/** Our own metrics; prom-client adds those of the process. */
export const ownMetrics = (): readonly Metric[] =>
  (registryOfService().getMetricsAsArray() as readonly unknown[] as readonly Metric[])
    .filter(({ name }) => name.startsWith('pi_'))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));

const row = ({ name, type, labelNames = [], help }: Metric): string =>
  `| \`${name}\` | ${type} | ${labelNames.map((label) => `\`${label}\``).join(', ')} | ${help} |`;

export const metricsDocument = (): string => `# Metrics

For operators: every metric that \`/metrics\` on the operations port serves. Made by \`npm run docs\` from the code; do not edit.

Every instance serves \`/metrics\` on \`OPERATIONS_HOST\` and \`OPERATIONS_PORT\` ([configuration.md](configuration.md)). The alerts on these metrics are in
[runbooks.md](../operate/runbooks.md).

| metric | type | labels | meaning |
| --- | --- | --- | --- |
${ownMetrics().map(row).join('\n')}

\`/metrics\` also serves the default metrics of prom-client for the process: \`process_*\` (processor time, memory, open files) and \`nodejs_*\` (event
loop, heap, garbage collection).`;
