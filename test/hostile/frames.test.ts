/** What whoever reaches the event store's socket sends must not stop the service. */
import assert from 'node:assert/strict';
import { EventStoreDBClient, eventTypeFilter, jsonEvent } from '@eventstore/db-client';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Client, credentials, status } from '@grpc/grpc-js';
import { socketOf } from '../../src/eventstore/socket.ts';
import { readConnections } from '../../src/runtime/connections.ts';
import { createSandbox } from '../support/sandbox.ts';

/** Eleven bytes on the wire: the frame's head of five, and a length of four GiB. */
const endless = Buffer.from('0affffffff0f', 'hex');
const asIs = (bytes: Buffer): Buffer => bytes;

describe('frames and filters that would hang the event store', () => {
  const sandbox = createSandbox({ chains: [8453] });
  let url: string;
  before(async () => {
    assert.equal(await sandbox.start(), 'ready', sandbox.printed());
    url = (await readConnections(sandbox.dataDir))?.eventStoreUrl ?? '';
  });
  after(() => sandbox.destroy());

  async function stillTakesPayments(): Promise<void> {
    const answer = await sandbox.tryToCreate({
      appId: sandbox.file().wallet.appId,
      type: 'exactOut',
      display: { title: 'Bread' },
      source: { chainId: 8453, tokenSymbol: 'USDC' },
      destination: { chainId: 8453, tokenSymbol: 'USDC', amount: '3.00', receiverAddress: `0x${'22'.repeat(20)}` },
    });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    assert.doesNotMatch(sandbox.printed(), /eventStoreLost/);
  }

  it('are refused, each by itself, while the service takes payments', async () => {
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

  it('are given up on, when they match for ever, while the service takes payments', async () => {
    const client = new EventStoreDBClient({ endpoint: `unix:${socketOf(url)}` }, { insecure: true });
    await client.appendToStream('stranger-1', jsonEvent({ type: `${'a'.repeat(60)}!`, data: {} }));
    const filter = eventTypeFilter({ regex: '^(a+)+$' });
    const ended = Array.from({ length: 5 }, () => {
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
