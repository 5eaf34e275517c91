import assert from 'node:assert/strict';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { startWeatherNode, type WeatherNode } from '../../../sandbox/weather/proxy.ts';
import { wsUrlOf } from '../../../sandbox/weather/wsUrl.ts';
import { chainClient, isolatedAnvil } from '../../support/anvil.ts';
import { onStop } from '../../support/hooks.ts';
import { solanaLab } from '../../support/solana.ts';

describe('WebSockets in any weather', () => {
  const before = async (family: 'evm' | 'solana', rpcUrl: string): Promise<WeatherNode> => {
    const node = await startWeatherNode({
      rpcUrl,
      wsUrl: wsUrlOf(family, rpcUrl),
      family,
      weather: { slow: { most_ms: 1 } },
    });
    onStop(() => node.stop());
    return node;
  };
  const open = async (node: WeatherNode): Promise<WebSocket> => {
    const socket = new WebSocket(node.wsUrl);
    await once(socket, 'open');
    return socket;
  };
  const told = async (socket: WebSocket): Promise<Record<string, unknown>> =>
    JSON.parse(String((await once(socket, 'message'))[0]));

  it('pass through to an EVM chain, both ways, until the node cuts them', async () => {
    const { rpcUrl } = await isolatedAnvil(8453);
    const node = await before('evm', rpcUrl);
    const socket = await open(node);
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }));
    assert.ok((await told(socket))['result']);
    const head = told(socket);
    await chainClient(rpcUrl).mine({ blocks: 1 });
    assert.equal((await head)['method'], 'eth_subscription');

    const closed = once(socket, 'close');
    node.cutSockets();
    await closed;
    assert.equal((await open(node)).readyState, WebSocket.OPEN);
  });

  it('pass through to Solana, whose port for them is another one', async () => {
    const { solana } = await solanaLab();
    const node = await before('solana', solana.rpcUrl);
    const socket = await open(node);
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'slotSubscribe', params: [] }));
    assert.ok((await told(socket))['result']);
    const slot = told(socket);
    solana.advanceSlots(1);
    assert.equal((await slot)['method'], 'slotNotification');
  });

  it('are for programs and pages of this machine alone', async () => {
    const { rpcUrl } = await isolatedAnvil(8453);
    const socket = new WebSocket((await before('evm', rpcUrl)).wsUrl, { origin: 'https://evil.example' });
    await once(socket, 'error');
    const { status } = await fetch((await before('evm', rpcUrl)).url, {
      method: 'POST',
      headers: { origin: 'https://evil.example' },
    });
    assert.equal(status, 403);
  });
});

describe('a weather node', () => {
  it('ends the connection where the chain is gone', async () => {
    const node = await startWeatherNode({ rpcUrl: 'http://127.0.0.1:1', family: 'evm' });
    onStop(() => node.stop());
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
    await assert.rejects(fetch(node.url, { method: 'POST', body }));
  });

  it('lets the local Solana answer as of an older slot', async () => {
    const { solana } = await solanaLab();
    const node = await startWeatherNode({ rpcUrl: solana.rpcUrl, family: 'solana' });
    onStop(() => node.stop());
    const slot = async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSlot', params: [{ commitment: 'confirmed' }] });
      return ((await (await fetch(node.url, { method: 'POST', body })).json()) as { result: number }).result;
    };
    solana.advanceSlots(10);
    const newest = await slot();
    node.change({ lag: { blocks: 3 } });
    assert.equal(await slot(), newest - 3);
  });
});
