/** Connections that unknown clients hold open, and the client addresses that the service derives. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { createClients, networksOf } from '../../src/api/rateLimits.ts';
import { defaultConnectionLimits } from '../../src/api/server.ts';
import { patience_ms } from '../support/patience.ts';
import { goodRequest, startWorld, type World } from './world.ts';

const create = '/payment-api/payments';

describe('HTTP: the door', () => {
  const held: Socket[] = [];
  let world: World;
  afterEach(async () => {
    for (const socket of held.splice(0)) socket.destroy();
    await world.stop();
  });

  /** Opens a connection and sends this text. Its errors are ignored. */
  function open(text: string, localAddress = '127.0.0.1'): Promise<Socket> {
    const { hostname, port } = new URL(world.url);
    return new Promise((resolve) => {
      const socket = connect({ host: hostname, port: Number(port), localAddress }, () => {
        socket.write(text, () => resolve(socket));
      });
      socket.on('error', () => resolve(socket));
      held.push(socket);
    });
  }

  const halfRequest = (key = '') =>
    `POST ${create} HTTP/1.1\r\nHost: a\r\n${key}Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"type":`;

  const honest = (method: 'GET' | 'POST', path: string, body?: object) =>
    fetch(`${world.url}${path}`, {
      method,
      signal: AbortSignal.timeout(patience_ms),
      headers: { ...world.keys.wallet, 'Content-Type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });

  it('answers honest requests while 520 connections hold half a request each', async () => {
    world = await startWorld({}, { connections: { ...defaultConnectionLimits, requestTimeout_ms: 2 * patience_ms } });
    const key = `X-API-Key: ${world.keys.wallet['X-API-Key']}\r\n`;
    await Promise.all(Array.from({ length: 520 }, (_, index) => open(halfRequest(index % 2 ? key : ''))));
    const made = await honest('POST', create, goodRequest());
    assert.equal(made.status, 201);
    const { id } = (await made.json()) as { id: string };
    assert.equal((await honest('GET', `${create}/${id}`)).status, 200);
    assert.equal(held.filter(({ readyState }) => readyState === 'open').length, 520, 'all are still held');
  });

  it('answers a request that does not arrive in time with 408, and closes', async () => {
    world = await startWorld({}, { connections: { ...defaultConnectionLimits, requestTimeout_ms: 200 } });
    const socket = await open(halfRequest());
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    assert.match(answer, /^HTTP\/1\.1 408 /);
    assert.match(answer, /"requestTimeout"/);
  });

  it('closes connections of one address beyond its share, and serves the others', async () => {
    world = await startWorld({}, { connections: { ...defaultConnectionLimits, connectionsPerAddressMax: 3 } });
    const stranger = '127.0.0.2';
    for (let count = 0; count < 3; count += 1) await open('', stranger);
    const beyond = await open('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n', stranger);
    assert.equal(await textOf(beyond), '');
    assert.equal((await honest('GET', '/healthz')).status, 200);
    held[0]?.destroy();
    await untilServed(stranger);
  });

  it('does not count the connections of a trusted proxy as one caller’s', async () => {
    const connections = { ...defaultConnectionLimits, connectionsPerAddressMax: 3 };
    world = await startWorld({}, { connections, clients: createClients(['127.0.0.2/32']) });
    for (let count = 0; count < 5; count += 1) await open('', '127.0.0.2');
    const one = await open('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', '127.0.0.2');
    assert.match(await textOf(one), /^HTTP\/1\.1 200 /);
  });

  async function untilServed(address: string): Promise<void> {
    for (;;) {
      const socket = await open('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', address);
      if ((await textOf(socket)).startsWith('HTTP/1.1 200 ')) return;
    }
  }
});

async function textOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

describe('HTTP: the caller’s address', () => {
  const proxies = ['10.0.0.0/8', 'fd00::/8'];
  const caller = (remoteAddress: string, forwarded?: string, trusted = proxies) =>
    createClients(trusted).of({
      socket: { remoteAddress },
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    } as unknown as IncomingMessage);

  it('is that of the connection; nobody chooses another one', () => {
    assert.equal(caller('203.0.113.7'), '203.0.113.7');
    assert.equal(caller('203.0.113.7', '198.51.100.1'), '203.0.113.7');
    assert.equal(caller('10.0.0.1', '198.51.100.1', []), '10.0.0.1');
  });

  it('is the last one that a trusted proxy names; earlier ones are not believed', () => {
    assert.equal(caller('10.0.0.1', '198.51.100.1'), '198.51.100.1');
    assert.equal(caller('10.0.0.1', '192.0.2.99, 198.51.100.1'), '198.51.100.1');
    assert.equal(caller('10.0.0.1', '192.0.2.99, 198.51.100.1, 10.0.0.2'), '198.51.100.1');
    assert.equal(caller('::ffff:10.0.0.1', '198.51.100.1:40312'), '198.51.100.1');
  });

  it('is the proxy’s own if it names no address', () => {
    assert.equal(caller('10.0.0.1'), '10.0.0.1');
    assert.equal(caller('10.0.0.1', ''), '10.0.0.1');
    assert.equal(caller('10.0.0.1', '198.51.100.1, unknown'), '10.0.0.1');
  });

  it('is the /64 of an IPv6 address, however it is written', () => {
    assert.equal(caller('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64');
    assert.equal(caller('2001:db8::1'), '2001:db8:0:0::/64');
    assert.equal(caller('fd00::1', '[2001:0DB8:1::5]:443'), '2001:db8:1:0::/64');
    assert.equal(caller('::1'), '0:0:0:0::/64');
    assert.equal(caller('::ffff:203.0.113.7'), '203.0.113.7');
  });

  it('counts for the networks around a /64 as well, which have the limits of a few callers each', () => {
    assert.deepEqual(networksOf('2001:db8:1:2ff::/64'), [
      { network: '2001:db8:1:2ff::/64', callers: 1 },
      { network: '2001:db8:1:200::/56', callers: 4 },
      { network: '2001:db8:1::/48', callers: 8 },
    ]);
    assert.deepEqual(networksOf('203.0.113.7'), [{ network: '203.0.113.7', callers: 1 }]);
  });

  it('refuses proxies that are not blocks of addresses', () => {
    assert.throws(() => createClients(['proxy.internal']), /is no block of addresses/);
  });
});
