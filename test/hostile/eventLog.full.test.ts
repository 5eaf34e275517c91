/** Attacks on the event store of a running service: through its socket, and with events that the service did not write. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EventStoreDBClient, eventTypeFilter, jsonEvent } from '@eventstore/db-client';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Client, credentials, status } from '@grpc/grpc-js';
import { seal, tipOf } from '../../commands/codec.ts';
import { readConnections } from '../../src/lib/connections.ts';
import { systemClock } from '../../src/process/system.ts';
import { newApiKey } from '../../src/security/apiKey.ts';
import { openEventStore } from '../../src/store/client.ts';
import { socketOf } from '../../src/store/wire.ts';
import { createSandbox } from '../support/sandbox.ts';
import { isFull } from '../support/suite.ts';

const nobody = 65_534;

/** Eleven bytes on the wire: the frame's head of five, and a length of four GiB. */
const endless = Buffer.from('0affffffff0f', 'hex');
const asIs = (bytes: Buffer): Buffer => bytes;

describe('the event store of a running service', () => {
  const sandbox = createSandbox({ chains: [8453] });
  let url: string;
  let socket: string;
  before(async () => {
    assert.equal(await sandbox.start(), 'ready', sandbox.printed());
    url = (await readConnections(sandbox.dataDir))?.eventStoreUrl ?? '';
    socket = socketOf(url) ?? '';
  });
  after(() => sandbox.destroy());

  const order = (appId: string) => ({
    appId,
    type: 'exactOut',
    display: { title: 'Bread' },
    source: { chainId: 8453, tokenSymbol: 'USDC' },
    destination: { chainId: 8453, tokenSymbol: 'USDC', amount: '3.00', receiverAddress: `0x${'22'.repeat(20)}` },
  });

  describe('frames and filters that would hang the event store', () => {
    async function stillTakesPayments(): Promise<void> {
      const answer = await sandbox.tryToCreate(order(sandbox.file().wallet.appId));
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      assert.doesNotMatch(sandbox.printed(), /eventStoreLost/);
    }

    it('are refused, each separately, while the service accepts payments', async () => {
      const client = new Client(`unix:${socketOf(url)}`, credentials.createInsecure());
      const send = (path: string): Promise<number> =>
        new Promise((resolve) => {
          const call = client.makeBidiStreamRequest(path, asIs, asIs);
          call.on('data', () => {});
          call.on('error', () => {});
          call.on('status', ({ code }) => resolve(code));
          call.write(endless);
        });
      for (const { path } of Object.values(streams.StreamsService)) {
        assert.equal(await send(path), status.INTERNAL);
        await stillTakesPayments();
      }
      client.close();
    });

    it('are aborted, when they match for ever, while the service accepts payments', async () => {
      const client = new EventStoreDBClient({ endpoint: `unix:${socketOf(url)}` }, { insecure: true });
      await client.appendToStream('stranger-1', jsonEvent({ type: `${'a'.repeat(60)}!`, data: {} }));
      const filter = eventTypeFilter({ regex: '^(a+)+$' });
      const ended = Array.from({ length: isFull ? 5 : 2 }, () => {
        const subscription = client.subscribeToAll({ filter });
        return new Promise<string>((resolve) => {
          subscription.on('data', () => {});
          subscription.on('error', ({ message }) => resolve(message));
        });
      });
      await stillTakesPayments();
      for (const message of await Promise.all(ended)) assert.match(message, /took longer than/);
      await stillTakesPayments();
      await client.dispose();
    });
  });

  describe('its event log', () => {
    it('is reached by its own user alone: a socket in a directory of that user', () => {
      const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
      assert.equal(mode(socket), '600');
      assert.equal(mode(dirname(socket)), '700');
      assert.equal(mode(join(dirname(socket), 'events')), '700');
    });

    it('cannot be reached by another user of the machine', function () {
      if (process.getuid?.() !== 0) this.skip();
      // The folder is open, so that only the socket's own protection is tried.
      chmodSync(sandbox.dataDir, 0o755);
      const asking = `require('node:net').connect(${JSON.stringify(socket)})
        .on('connect', () => process.exit(0)).on('error', ({ code }) => { console.log(code); process.exit(1); })`;
      const ask = (more: object) => spawnSync(process.execPath, ['-e', asking], { encoding: 'utf8', ...more });
      assert.equal(ask({}).status, 0, 'its own user can');
      const { stdout, stderr } = ask({ uid: nobody, gid: nobody, cwd: '/' });
      assert.equal(stdout.trim(), 'EACCES', stderr);
    });

    it('accepts no key that the service did not issue, also when it is appended behind the lock', async () => {
      const { merchant, wallet } = sandbox.file();
      const store = openEventStore({ url });
      const stream = `merchant-${merchant.appId}`;
      const last = (await store.read(stream, { backwards: true, max: 1 }))[0];
      assert.ok(last?.metadata.seal, 'the service seals');
      const { key, ...kept } = newApiKey();
      const issued = {
        type: 'ApiKeyIssued',
        data: { ...kept, scope: 'orders', name: null, expiresAt: null },
      };
      const { appId, schemaVersion } = last.metadata;
      const facts = { at: systemClock.now(), cause: 'operator:root', appId, schemaVersion };
      await store.append(stream, last.revision, seal(stream, tipOf(last), [issued], facts, { eventId: randomUUID }));
      await store.close();

      // An order without the forged key is projected later than the key's event.
      const other = await sandbox.tryToCreate(order(wallet.appId));
      assert.equal(other.status, 201, JSON.stringify(other.body));
      assert.equal((await sandbox.tryToCreate(order(merchant.appId), key)).status, 401);
      const keys = await sandbox.query<{ key_id: string }>(
        `SELECT key_id FROM api_keys WHERE key_id = '${kept.keyId}'`,
      );
      assert.deepEqual(keys, []);
      assert.match(sandbox.printed(), /chainBroken/);
      assert.match(sandbox.printed(), new RegExp(`${stream} is not as it was written`));
    });
  });
});
