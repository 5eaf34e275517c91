/** Parts of the log that anybody may keep, and the evidence that an app may export. */

import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import { createFindEvidence } from '../../commands/heads/evidence.ts';
import { entriesFrom, headKeysSince, newestEntry } from '../../commands/heads/sign.ts';
import type { HttpDeps } from '../../src/api/index.ts';
import { type File, verifyEvidence } from '../clients/verify/verifier.ts';
import { headKeys, headWorld } from '../workers/headWorld.ts';
import { goodRequest, startWorld, type World } from './world.ts';

const every = { events: 100, duration_ms: 0 };
const base = '/payment-api/proof';
const fileOf = (text: string): File => ({ name: 'answer.json', text });

describe('HTTP: proof', () => {
  const log = headWorld();
  const reading = { ...log, codec: eventCodec };
  const proof: HttpDeps['proof'] = {
    newest: () => newestEntry(reading),
    entries: (from, max) => entriesFrom(reading, from, max),
    keys: () => headKeysSince(reading),
    evidence: createFindEvidence(reading),
  };
  let world: World;
  let id: string;
  before(async () => {
    world = await startWorld({ proof });
    id = (await world.call('POST', '/payment-api/payments', { headers: world.keys.wallet, body: goodRequest() })).body
      .id;
  });
  after(() => world.stop());

  it('has no head before the first is signed', async () => {
    assert.equal((await world.call('GET', `${base}/head`)).status, 404);
    const asked = await world.call('GET', `/payment-api/payments/${id}/evidence`, { headers: world.keys.wallet });
    assert.deepEqual([asked.status, asked.body.error], [404, 'notFound']);
  });

  it('shows everybody the newest head, all of them page by page, and the keys', async () => {
    for (let n = 0; n < 3; n += 1) {
      await log.grow(`payment-${id}`);
      await log.look({ every });
    }
    await log.grow('payment-x');
    await log.look({ every, keys: async () => headKeys(2, { former: [headKeys(1).current] }) });
    const head = await world.call('GET', `${base}/head`);
    assert.deepEqual([head.status, head.body.type, head.body.data.number], [200, 'HeadSigned', 5]);
    assert.equal(head.headers['access-control-allow-origin'], '*');
    assert.match(String(head.headers['cache-control']), /^public/);
    const pages = [
      await world.call('GET', `${base}/heads?limit=3`),
      await world.call('GET', `${base}/heads?after=3&limit=3`),
    ];
    assert.deepEqual(
      pages.map(({ body }) => [body.data.length, body.hasMore]),
      [
        [3, true],
        [2, false],
      ],
    );
    await verifyEvidence(
      [...pages, head].map(({ text }) => fileOf(text)),
      { key: headKeys(1).current.publicKey },
    );
    assert.deepEqual((await world.call('GET', `${base}/heads/2`)).body, pages[0]?.body.data[1]);
    const keys = (await world.call('GET', `${base}/keys`)).body.data;
    assert.deepEqual(
      keys,
      [2, 1].map((byte, at) => ({ publicKey: headKeys(byte).current.publicKey, since: [4, 1][at] })),
    );
  });

  it('gives the same answer to an unknown number and to an invalid text', async () => {
    for (const number of ['0', '99', '-1', '1e3', 'x', '99999999999999999999'])
      assert.equal((await world.call('GET', `${base}/heads/${number}`)).status, 404, number);
    assert.equal((await world.call('GET', `${base}/heads?after=-1`)).status, 400);
  });

  it('gives an app the evidence of its own payments, and nobody else', async () => {
    const path = `/payment-api/payments/${id}/evidence`;
    const mine = await world.call('GET', path, { headers: world.keys.wallet });
    assert.equal(mine.status, 200);
    await verifyEvidence([fileOf(mine.text)], { key: headKeys(2).current.publicKey });
    const theirs = await world.call('GET', path, { headers: world.keys.other });
    assert.deepEqual([theirs.status, theirs.body.error], [404, 'paymentNotFound']);
    assert.equal((await world.call('GET', path)).status, 401);
  });
});
