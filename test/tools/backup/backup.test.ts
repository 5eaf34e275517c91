import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv, promisify } from 'node:util';
import { eventCodec, streamPrefixes } from '../../../commands/codec.ts';
import { createHandle } from '../../../commands/handle.ts';
import type { EventStore } from '../../../commands/ports.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { writeConnections } from '../../../src/lib/connections.ts';
import { randomIds, systemClock } from '../../../src/process/system.ts';
import { parseMasterKey } from '../../../src/security/masterKey.ts';
import { openEventStore } from '../../../src/store/client.ts';
import { spawnEmbeddedNode } from '../../../src/store/node/spawn.ts';
import { withSeals } from '../../../src/store/sealed.ts';
import { backUp, readSegment, restore, writeSegment } from '../../../tools/backup/archive.ts';
import { created } from '../../support/payments.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';

const { signal } = new AbortController();
const onProgress = () => {};
const masterKey = '0123456789abcdef'.repeat(4);
const deciding = { clock: systemClock, ids: randomIds, codec: eventCodec };
const run = promisify(execFile);
const program = (name: string) => fileURLToPath(new URL(`../../../tools/${name}.ts`, import.meta.url));

async function openLog(directory: string) {
  const node = await spawnEmbeddedNode({ dataDir: join(directory, 'eventstore') });
  const store = openEventStore({ url: node.url });
  const sealed = withSeals(store, { masterKey: parseMasterKey(masterKey), deciding, tell: assert.fail });
  const handle = createHandle({ ...deciding, store: sealed.workers });
  return {
    store,
    sealed,
    url: node.url,
    record: (id: string) => handle(paymentDecider, id, () => [created()], { cause: 'worker:test', appId: null }),
    async close() {
      await store.close();
      await node.stop();
    },
  };
}
type Log = Awaited<ReturnType<typeof openLog>>;

/** All trusted events without positions, which differ between stores. */
async function eventsOf({ sealed }: Log) {
  await sealed.sealed();
  const all = [];
  for await (const { events, live } of sealed.all({ after: null, prefixes: streamPrefixes, signal })) {
    all.push(...events.map(({ position: _, ...event }) => event));
    if (live) return all;
  }
  return all;
}

describe('a backup of the log', () => {
  let log: Log;
  const directory = temporaryDirectory();
  const backup = (store: EventStore = log.store) =>
    backUp({ store, clock: systemClock, directory, signal, onProgress });
  before(async () => {
    log = await openLog(temporaryDirectory());
    for (const id of ['one', 'two', 'three']) await log.record(id);
  });
  after(() => log.close());

  it('is made while the log is written to, and continues where it was', async () => {
    const first = await backup();
    assert.equal(first.added, first.events);
    await log.record('four');
    assert.deepEqual(await backup(), { events: first.events + 1, added: 1 });
    assert.deepEqual(await backup(), { events: first.events + 1, added: 0 });
    for (const file of readdirSync(directory)) assert.equal(statSync(join(directory, file)).mode & 0o777, 0o600);
  });

  it('becomes the same log in an empty store, with its hash chains and seals, however often it is stopped', async () => {
    const restored = await openLog(temporaryDirectory());
    const stop = new AbortController();
    const stopped = restore({
      ...{ store: restored.store, directory, signal: stop.signal },
      onProgress: ({ events }) => void (events === 2 && stop.abort(new Error('power cut'))),
    });
    await assert.rejects(stopped, /power cut/);
    const { events } = await backup();
    assert.equal(await restore({ store: restored.store, directory, signal, onProgress }), events);
    assert.deepEqual(await eventsOf(restored), await eventsOf(log));
    await restored.record('five');
    await restored.close();
  });

  it('is restored into no log that holds other events', async () => {
    const other = await openLog(temporaryDirectory());
    await other.record('one');
    const restoring = restore({ store: other.store, directory, signal, onProgress });
    await assert.rejects(restoring, { name: 'BackupError', message: /other events than the backup/ });
    await other.close();
  });

  it('may be made twice at once: neither overwrites the other’s named files', async () => {
    const there = temporaryDirectory();
    const events = await log.store.read('payment-one');
    const first = writeSegment(there, 1, events);
    const second = writeSegment(there, 1, [...events, ...(await log.store.read('payment-two'))]);
    assert.deepEqual(
      [first, second].map((each) => readSegment(there, each).length),
      [first.events, second.events],
    );
  });

  it('accepts nothing from another log, which may be as long', async () => {
    const { events } = await backup();
    const other = await openLog(temporaryDirectory());
    for (const id of ['six', 'seven', 'eight', 'nine', 'ten']) await other.record(id);
    await assert.rejects(backup(other.store), { name: 'BackupError', message: /copy of another log/ });
    await other.close();
    assert.equal((await backup()).events, events);
  });

  it('writes nothing when any part of it is missing or was changed', async () => {
    const copy = temporaryDirectory();
    for (const file of readdirSync(directory)) writeFileSync(join(copy, file), readFileSync(join(directory, file)));
    const touched: string[] = [];
    const store = { append: async (stream: string) => void touched.push(stream), read: async () => [] } as never;
    const segments = readdirSync(copy).filter((file) => file.startsWith('log-'));
    const last = join(copy, segments.at(-1) ?? '');
    const bytes = readFileSync(last);
    writeFileSync(last, bytes.with(bytes.length - 9, (bytes.at(-9) ?? 0) ^ 1));
    await assert.rejects(restore({ store, directory: copy, signal, onProgress }), /not as it was written/);
    unlinkSync(last);
    await assert.rejects(restore({ store, directory: copy, signal, onProgress }), /not whole/);
    writeFileSync(join(copy, 'backup.json'), '{}');
    await assert.rejects(restore({ store, directory: copy, signal, onProgress }), /no backup of this program/);
    const nowhere = temporaryDirectory();
    await assert.rejects(restore({ store, directory: nowhere, signal, onProgress }), /npm run backup makes one/);
    assert.deepEqual(touched, []);
  });
});

describe('npm run backup and restore', () => {
  it('carry log and secrets to another machine', async () => {
    const [here, there, kept] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()];
    const passphrase = join(kept, 'passphrase');
    writeFileSync(passphrase, 'correct horse battery\n');
    const log = await openLog(here);
    await log.record('one');
    await writeConnections(here, { databaseUrl: 'postgres://localhost/none', eventStoreUrl: log.url });
    const { DATABASE_URL: _, EVENTSTORE_URL: __, ...plain } = process.env;
    const env = { ...plain, MASTER_KEY: masterKey, SMTP_URL: 'smtps://user:"quoted"@mail' };
    const backup = join(kept, 'backup');
    const tool = (name: string, ...args: string[]) => run(process.execPath, [program(name), ...args], { env });
    const made = await tool('backup', backup, '--data', here, '--passphrase-file', passphrase);
    assert.match(made.stdout, /holds 2 events, 2 of them new/);
    assert.match(made.stdout, /Sealed beside it: MASTER_KEY, SMTP_URL/);
    const written = await eventsOf(log);
    await log.close();

    const secrets = join(there, 'secrets.env');
    const wrong = tool('restore', backup, '--data', there, '--secrets-to', secrets, '--passphrase-file', '/dev/null');
    await assert.rejects(wrong, { stderr: /passphrase is empty/ });
    await tool('restore', backup, '--data', there, '--secrets-to', secrets, '--passphrase-file', passphrase);
    const restored = parseEnv(readFileSync(secrets, 'utf8'));
    assert.deepEqual({ ...restored }, { MASTER_KEY: masterKey, SMTP_URL: env.SMTP_URL });
    assert.equal(statSync(secrets).mode & 0o777, 0o600);
    const again = await openLog(there);
    assert.deepEqual(await eventsOf(again), written);
    await again.close();
  });
});
