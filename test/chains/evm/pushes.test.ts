import assert from 'node:assert/strict';
import { firstValueFrom, Subject, take, toArray } from 'rxjs';
import type { WebSocket } from 'ws';
import { chainOf } from '../../../domain/chains.ts';
import { createPushes } from '../../../src/chains/evm/pushes.ts';
import type { Push } from '../../../src/chains/family.ts';
import { accountOf } from '../../support/anvil.ts';
import { onStop } from '../../support/hooks.ts';
import { impatient, listen, serve } from '../pushingNode.ts';
import { createWorld } from './world.ts';

const chain = chainOf(8453);
const customer = accountOf(501);
const transfer = (to: string) => ({ params: { result: { topics: ['0xdd', '0x00', `0x${'0'.repeat(24)}${to}`] } } });
const head = { params: { result: { number: '0x1' } } };

const pushed = (url: string, count: number, ticker = impatient()): Promise<Push[]> =>
  firstValueFrom(createPushes({ chain, urls: [url], ticker, random: () => 0.5 }).pipe(take(count), toArray()));

describe('pushes of an EVM node', () => {
  it('contain a block, and the receivers of the catalogue’s tokens', async () => {
    const world = await createWorld(8453);
    const seen = new Subject<Push>();
    const url = world.rpcUrl.replace('http', 'ws');
    const ticker = { after: () => () => {} };
    const listening = createPushes({ chain, urls: [url], ticker, random: () => 0 }).subscribe(seen);
    onStop(() => listening.unsubscribe());
    const both = firstValueFrom(seen.pipe(take(2), toArray()));
    let done = false;
    const paid = (async () => {
      while (!done) await world.pay(customer, 5n);
    })();
    const kinds = (await both).map((push) => (push.kind === 'transfer' ? push.to : push.kind)).sort();
    done = true;
    await paid;
    assert.deepEqual(kinds, [customer, 'head'].sort());
  });

  it('contain nothing else, whatever the node sends', async () => {
    const url = await serve(() => [
      '{',
      'null',
      '{"id":0,"result":"0x1"}',
      '{"params":null}',
      '{"params":{"result":{"topics":["0xdd","0x00","0x12"]}}}',
      'x'.repeat(90_000),
      head,
    ]);
    assert.deepEqual(await pushed(url, 1), [{ kind: 'head' }]);
  });

  it('are received up to a bound: a connection with an endless message is replaced by another one', async () => {
    const endless = (socket: WebSocket) => {
      for (let part = 0; part < 3; part += 1) socket.send('x'.repeat(50_000), { fin: false });
    };
    const url = await listen((socket, connection) => {
      if (connection === 1) endless(socket);
      else socket.send(JSON.stringify(head));
    });
    assert.deepEqual(await pushed(url, 1), [{ kind: 'head' }]);
  });

  it('arrive again after the connection was lost', async () => {
    const url = await serve((connection) => [transfer(`${connection}`.repeat(40))]);
    const receivers = (await pushed(url, 3)).map((push) => push.kind === 'transfer' && push.to.toLowerCase());
    assert.deepEqual(
      receivers,
      ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`),
    );
  });

  it('are requested more and more rarely while nothing arrives, up to once a minute', async () => {
    const url = await serve((connection) => (connection > 9 ? [head] : []));
    const ticker = impatient();
    await pushed(url, 1, ticker);
    const rests_ms = ticker.pauses_ms.filter((pause_ms) => pause_ms < 60_000);
    assert.deepEqual(rests_ms.slice(0, 4), [750, 1_500, 3_000, 6_000]);
    assert.ok(rests_ms.every((pause_ms) => pause_ms <= 60_000));
  });
});
