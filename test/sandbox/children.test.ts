/** The port of a restarted program: payments, links and pages keep their address. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { onSamePort } from '../../sandbox/children.ts';
import { freePort } from '../../sandbox/freePort.ts';

describe('the port of a program of the sandbox', () => {
  it('is the previous one', async () => {
    const port = await freePort();
    assert.equal(await onSamePort(`http://127.0.0.1:${port}/webhooks`, listened), port);
  });

  it('is another one while another program has that', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    assert.notEqual(await onSamePort(`http://127.0.0.1:${port}`, listened), port);
    taken.close();
  });

  it('is at first one that no outgoing connection is given', async function () {
    if (process.platform !== 'linux') this.skip();
    const outgoing = Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split('\t')[0]);
    const port = await onSamePort(undefined, async (given) => given);
    assert.ok(port > 0 && port < outgoing, `${port} is not below ${outgoing}`);
  });

  it('is searched three times, and the last error is passed on', async () => {
    const asked: number[] = [];
    const refuse = async (port: number) => {
      asked.push(port);
      throw new Error(`no ${asked.length}`);
    };
    await assert.rejects(onSamePort('http://127.0.0.1:25000', refuse), /^Error: no 3$/);
    assert.equal(asked[0], 25_000);
  });
});

async function listened(port: number): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
  return port;
}
