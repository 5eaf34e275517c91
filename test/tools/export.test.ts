import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { tableFromIPC } from 'apache-arrow';
import { readParquet } from 'parquet-wasm/node';
import type { EventStore } from '../../commands/ports.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { reportsSet, workSet } from '../../projections/sets.ts';
import type { Database } from '../../src/postgres/database.ts';
import { openEventStore } from '../../src/store/client.ts';
import { spawnEmbeddedNode } from '../../src/store/node/spawn.ts';
import type { ExportManifest } from '../../tools/export/run.ts';
import { append, createWorld, paymentIdOf, type World } from '../support/histories.ts';
import { runTool } from '../support/operatorTools.ts';
import { done } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const payments = 150;
const eventsEach = done.length;

const manifestIn = (directory: string): ExportManifest =>
  JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8'));

const paidOut = (n: number): readonly PaymentEvent[] =>
  done.map((event) =>
    event.type === 'PaymentCreated' ? { ...event, data: { ...event.data, paymentId: paymentIdOf(n) } } : event,
  );

describe('npm run export', () => {
  let database: Database;
  let world: World;
  let env: Readonly<Record<string, string>>;
  let close: () => Promise<void>;
  before(async () => {
    database = await freshDatabase();
    const node = await spawnEmbeddedNode({ dataDir: join(temporaryDirectory(), 'eventstore') });
    const opened = openEventStore({ url: node.url });
    close = async () => {
      await opened.close();
      await node.stop();
    };
    world = { ...createWorld(), store: opened as EventStore };
    env = { EVENTSTORE_URL: node.url };
    for (let n = 1; n <= payments; n += 1) await append(world, `payment-${paymentIdOf(n)}`, paidOut(n));
    for (const set of [workSet, reportsSet]) await fill(database, world.store, set, [await wholeLog(world.store)]);
  });
  after(() => close());

  const tool = (...args: string[]) => runTool('export', args, { database, env });

  it('writes payments as Parquet, states their number, and a night later only the changes', async () => {
    const out = join(temporaryDirectory(), 'warehouse');
    const first = await tool('payments', '--format', 'parquet', '--out', out);
    assert.equal(first.code, 0, first.said);
    assert.match(first.said, /holds 150 rows in 1 files, 150 of them new, up to position \d+\./);
    const file = readFileSync(join(out, 'payments-000001.parquet'));
    const table = tableFromIPC(readParquet(file).intoIPCStream());
    assert.equal(table.numRows, payments);
    assert.equal(
      String(table.schema.fields.find(({ name }) => name === 'destination_amount')?.type),
      'Decimal[38e+18]',
    );
    const again = await tool('payments', '--format', 'parquet', '--out', out);
    assert.match(again.said, /150 rows in 1 files, 0 of them new/);
  });

  it('continues after it is killed while it writes events, and has each event once, in the order of the log', async () => {
    const out = join(temporaryDirectory(), 'events');
    const args = ['events', '--format', 'ndjson', '--part-rows', '500', '--out', out];
    await killedOnceItHasWritten(join(out, 'manifest.json'), args);
    const { code, said } = await tool(...args);
    assert.equal(code, 0, said);
    const { parts } = manifestIn(out);
    const lines = parts.flatMap(({ file }) => readFileSync(join(out, file), 'utf8').trim().split('\n'));
    assert.equal(lines.length, payments * eventsEach);
    const positions = lines.map((line) => BigInt(JSON.parse(line).position));
    assert.ok(positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? 0n)));
  });

  it('exports a period of transfers, and explains the refusal of invalid options', async () => {
    const out = join(temporaryDirectory(), 'november');
    const month = ['--from', '2026-11-01', '--to', '2026-12-01'];
    const { code, said } = await tool('transfers', ...month, '--out', out);
    assert.equal(code, 0, said);
    assert.match(said, /holds 300 rows in 1 files/);
    const again = await tool('transfers', '--out', out, '--format', 'ndjson');
    assert.match(again.said, /holds another export .*name another directory/);
    const further = join(temporaryDirectory(), 'further');
    assert.equal((await tool('events', '--after', '0', '--out', further)).code, 0);
    const manifest = { ...manifestIn(further), upTo: '99999999999' };
    writeFileSync(join(further, 'manifest.json'), JSON.stringify(manifest));
    assert.match((await tool('events', '--out', further)).said, /it was restored from a backup/);
    const { known = { position: '0' } } = manifestIn(further);
    const elsewhere = { ...manifestIn(further), upTo: '1', known: { ...known, eventId: 'of-another-log' } };
    writeFileSync(join(further, 'manifest.json'), JSON.stringify(elsewhere));
    assert.match(
      (await tool('events', '--out', further)).said,
      /event of-another-log is not at position \d+\): .* restored/,
    );
    assert.match((await tool('payments', ...month, '--after', '7')).said, /cannot be combined/);
  });

  async function killedOnceItHasWritten(file: string, args: readonly string[]): Promise<void> {
    const program = fileURLToPath(new URL('../../tools/export.ts', import.meta.url));
    const settings = { ...process.env, ...env, MASTER_KEY: '0123456789abcdef'.repeat(4) };
    const child: ChildProcess = spawn(process.execPath, [program, ...args], { env: settings, stdio: 'ignore' });
    const ended = once(child, 'exit');
    while (child.exitCode === null && !existsSync(file)) await delay(1);
    child.kill('SIGKILL');
    await ended;
  }
});
