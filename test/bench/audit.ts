/** The auditor's verifier over filled logs: its duration, its memory, and the growth of both. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { spawnEmbeddedNode } from '../../src/store/node/spawn.ts';
import { fill } from './fill.ts';
import { loadText } from './machine.ts';
import { table, whole } from './table.ts';

interface Measured {
  readonly events: number;
  readonly transactions: number;
  readonly seconds: number;
  readonly memory_mb: number;
  readonly found: number;
  readonly first: unknown;
}

/** Measures an audit of a tenth of the payments, and of all of them. @returns a table with a row for each */
export async function benchAudit({ payments }: { readonly payments: number }): Promise<string> {
  const sizes = [Math.ceil(payments / 10), payments];
  const rows: { readonly size: number; readonly measured: Measured }[] = [];
  for (const size of sizes) rows.push({ size, measured: await measure(size) });
  const head = ['audit', 'events', 'transactions', 'seconds', 'events/s', 'memory, MB', 'findings'];
  const cells = rows.map(({ size, measured }) => [
    `${whole(size)} payments`,
    whole(measured.events),
    whole(measured.transactions),
    measured.seconds.toFixed(1),
    whole(measured.events / measured.seconds),
    whole(measured.memory_mb),
    whole(measured.found),
  ]);
  const [small, large] = rows.map(({ measured }) => measured);
  const growth = (of: (measured: Measured) => number): string =>
    large && small ? (of(large) / of(small)).toFixed(2) : '–';
  const grown = `growth: time × ${growth(({ seconds }) => seconds)}, memory × ${growth(({ memory_mb }) => memory_mb)}`;
  const found = rows.flatMap(({ measured }) =>
    measured.first === null ? [] : [`\n${JSON.stringify(measured.first)}`],
  );
  return `${table(head, cells)}\n${grown}; the log from the node’s process, chains that answer at once; load of the machine after: ${loadText()}${found.join('')}`;
}

async function measure(size: number): Promise<Measured> {
  const dataDir = await mkdtemp(join(tmpdir(), 'payments-bench-audit-'));
  try {
    await fill(join(dataDir, 'eventstore'), size);
    const node = await spawnEmbeddedNode({ dataDir: join(dataDir, 'eventstore') });
    try {
      const program = fileURLToPath(new URL('auditOne.ts', import.meta.url));
      const { stdout } = await promisify(execFile)(process.execPath, [
        '--max-semi-space-size=64',
        program,
        node.url,
        String(size),
        join(dataDir, 'audit'),
      ]);
      return JSON.parse(stdout) as Measured;
    } finally {
      await node.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
