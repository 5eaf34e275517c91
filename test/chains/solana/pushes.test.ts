import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { base58 } from '@scure/base';
import { firstValueFrom, take, takeWhile, toArray } from 'rxjs';
import { Keypair } from 'solana-web3-v1';
import { chainOf } from '../../../domain/chains.ts';
import type { Push } from '../../../src/chains/family.ts';
import { createPushes } from '../../../src/chains/solana/pushes.ts';
import { onStop } from '../../support/hooks.ts';
import { solanaLab } from '../../support/solana.ts';
import { impatient, listen, serve } from '../pushingNode.ts';

const chain = chainOf(501);
const slot = { jsonrpc: '2.0', method: 'slotNotification', params: { result: { parent: 1, root: 0, slot: 2 } } };
const told = (data: unknown) => ({
  jsonrpc: '2.0',
  method: 'programNotification',
  params: {
    result: {
      context: { slot: 2 },
      value: { pubkey: 'x', account: { lamports: 1, data, owner: 'x', executable: false, space: 165 } },
    },
    subscription: 1,
  },
});
const base64 = (bytes: Uint8Array) => [Buffer.from(bytes).toString('base64'), 'base64'];

const pushed = (url: string, count: number): Promise<Push[]> =>
  firstValueFrom(
    createPushes({ chain, urls: [url], ticker: impatient(), random: () => 0.5 }).pipe(take(count), toArray()),
  );

describe('pushes of a Solana node', () => {
  it('contain a slot, and the owners of changed accounts of the catalogue’s tokens', async () => {
    const lab = await solanaLab();
    const [payer, to] = [await lab.person(), Keypair.generate().publicKey];
    lab.solana.advanceSlots(6);
    const ticker = { after: () => () => {} };
    const seen: Push[] = [];
    const both = firstValueFrom(
      createPushes({ chain, urls: [lab.solana.wsUrl], ticker, random: () => 0 }).pipe(
        takeWhile((push) => push.kind === 'head' || push.to !== String(to), true),
        toArray(),
      ),
    );
    both.then((all) => seen.push(...all));
    // The connection is open when this resolves: the node reports no earlier payments.
    for (let paid = 0; paid < 500 && seen.length === 0; paid++) {
      await lab.pay({ from: payer, to, amount: 1n });
      lab.solana.advanceSlots();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.ok(seen.some(({ kind }) => kind === 'head'));
    const owners = new Set(seen.flatMap((push) => (push.kind === 'transfer' ? [push.to] : [])));
    assert.ok(owners.has(String(to)));
    assert.deepEqual(
      [...owners].filter((owner) => owner !== String(to) && owner !== String(payer.publicKey)),
      [],
    );
  });

  it('are requested from the token program, for each token by its mint, as soon as it is confirmed', async () => {
    const asked: unknown[] = [];
    const url = await listen((socket, _, text) => {
      asked.push(JSON.parse(text));
      socket.on('message', (data) => {
        asked.push(JSON.parse(String(data)));
        if (asked.length > chain.tokens.length) socket.send(JSON.stringify(slot));
      });
    });
    await pushed(url, 1);
    assert.deepEqual(asked, [
      { jsonrpc: '2.0', id: 0, method: 'slotSubscribe' },
      ...chain.tokens.map(({ address }, at) => ({
        jsonrpc: '2.0',
        id: at + 1,
        method: 'programSubscribe',
        params: [
          'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
          {
            commitment: 'confirmed',
            encoding: 'base64',
            dataSlice: { offset: 32, length: 32 },
            filters: [{ dataSize: 165 }, { memcmp: { offset: 0, bytes: address } }],
          },
        ],
      })),
    ]);
  });

  it('name the owner, whether the node sends the requested slice or the whole account', async () => {
    const [one, other] = [randomBytes(32), randomBytes(32)];
    const account = Buffer.concat([randomBytes(32), other, randomBytes(101)]);
    const url = await serve(() => [told(base64(one)), told(base64(account)), told(base64(one))]);
    const named = (owner: Uint8Array) => ({ kind: 'transfer', to: base58.encode(owner) });
    assert.deepEqual(await pushed(url, 3), [named(one), named(other), named(one)]);
  });

  it('contain nothing else, whatever the node sends', async () => {
    const url = await serve(() => [
      '{',
      'null',
      '"text"',
      { id: 0, result: 24_040 },
      { id: 1, error: { code: -32601, message: 'Method not found' } },
      { params: null },
      { params: { result: null } },
      { params: { result: { slot: '2' } } },
      { params: { result: { context: { slot: 2 }, value: { err: null } } } },
      told(null),
      told('error: data too large for bs58 encoding'),
      told([]),
      told([5, 'base64']),
      told({ parsed: { info: { owner: 'x' } }, program: 'spl-token' }),
      ...[0, 31, 33, 40, 82, 164, 166, 1_000, 60_000].map((length) => told(base64(randomBytes(length)))),
      slot,
    ]);
    assert.deepEqual(await pushed(url, 1), [{ kind: 'head' }]);
  });

  it('arrive from every node, whatever the others do', async () => {
    const refusing = await serve(() => [{ id: 0, error: { code: -32601, message: 'Method not found' } }]);
    const silent = await listen(() => {});
    const going = await serve(() => [slot]);
    const urls = [refusing, silent, 'ws://127.0.0.1:9', going];
    const pushes = createPushes({ chain, urls, ticker: impatient(), random: () => 0.5 });
    const seen: Push[] = [];
    const listening = pushes.subscribe((push) => seen.push(push));
    onStop(() => listening.unsubscribe());
    while (seen.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    listening.unsubscribe();
    assert.deepEqual(seen.slice(0, 3), [{ kind: 'head' }, { kind: 'head' }, { kind: 'head' }]);
  });
});
