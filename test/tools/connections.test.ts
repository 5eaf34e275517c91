import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeConnections } from '../../src/lib/connections.ts';
import { connections } from '../../tools/connections.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

describe('the stores that a tool finds', () => {
  const databaseUrl = 'postgres://payments:secret@db/payments';
  const names = [
    'EVENTSTORE_URL',
    'EVENTSTORE_URL_FILE',
    'EVENTSTORE_DEFAULT_URL',
    'DATABASE_URL',
    'DATABASE_URL_FILE',
  ];
  const before = names.map((name) => [name, process.env[name]] as const);
  let data: string;
  beforeEach(async () => {
    data = temporaryDirectory();
    for (const name of names) delete process.env[name];
    await writeConnections(data, { databaseUrl, eventStoreUrl: 'esdb://last:2113' });
  });
  after(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  const storeOf = async (eventstore?: string) =>
    (await connections({ data, ...(eventstore && { eventstore }) }, 'join')).eventStoreUrl;

  it('are those of the last service: it starts no empty one beside a store elsewhere', async () => {
    assert.equal(await storeOf(), 'esdb://last:2113');
    assert.equal((await connections({ data }, 'refuse')).databaseUrl, databaseUrl);
  });

  it('are those that the environment names, or its files, before that', async () => {
    process.env['EVENTSTORE_DEFAULT_URL'] = 'esdb://beside:2113?tls=false';
    assert.equal(await storeOf(), 'esdb://beside:2113?tls=false');
    process.env['EVENTSTORE_URL_FILE'] = join(data, 'url');
    process.env['DATABASE_URL_FILE'] = join(data, 'database');
    writeFileSync(process.env['EVENTSTORE_URL_FILE'], 'esdb://cluster:2113\n');
    writeFileSync(process.env['DATABASE_URL_FILE'], 'postgres://elsewhere/payments\n');
    assert.equal(await storeOf(), 'esdb://cluster:2113');
    assert.equal((await connections({ data }, 'join')).databaseUrl, 'postgres://elsewhere/payments');
  });

  it('are a node that it starts itself if the service has one of its own and does not run', async () => {
    const url = 'esdb+unix:///somewhere/eventstore/socket';
    await writeConnections(data, { databaseUrl, eventStoreUrl: url });
    process.env['EVENTSTORE_URL'] = url;
    const { eventStoreUrl, close } = await connections({ data }, 'refuse');
    await close();
    assert.ok(eventStoreUrl.includes(data), eventStoreUrl);
  });

  it('are the embedded node if EVENTSTORE_URL names it, whatever was used before', async () => {
    process.env['EVENTSTORE_DEFAULT_URL'] = 'esdb://beside:2113?tls=false';
    process.env['EVENTSTORE_URL'] = 'embedded';
    const { eventStoreUrl, close } = await connections({ data }, 'refuse');
    await close();
    assert.ok(eventStoreUrl.includes(data), eventStoreUrl);
  });

  it('are the given ones, before all others', async () => {
    process.env['EVENTSTORE_URL'] = 'esdb://cluster:2113';
    assert.equal(await storeOf('esdb://given:2113'), 'esdb://given:2113');
  });
});
