/** Forbidden webhook targets, at every place that must refuse them. */
import assert from 'node:assert/strict';
import { isRefusal } from '../../domain/decider.ts';
import { readWebhookUrl } from '../../domain/merchant/webhook.ts';
import { createAddressCheck, createTargetCheck } from '../../src/security/publicAddress.ts';
import { createWebhookPost } from '../../src/workers/webhooks/webhookPost.ts';
import { badAddresses, badUrls, goodUrls } from '../support/badTargets.ts';
import { startTlsServer, testCertificate } from '../support/tlsServer.ts';

const addresses = Object.values(badAddresses).flat();
const headers = { 'Content-Type': 'application/json' };
const body = Buffer.from('{}');

describe(`${badUrls.length} bad targets of webhooks`, () => {
  it('are more than forty', () => assert.ok(badUrls.length >= 40 && addresses.length >= 40));

  describe('as a setting', () => {
    const isAllowed = createTargetCheck([]);
    const isSettable = (url: string) => {
      const read = readWebhookUrl(url);
      return !isRefusal(read) && isAllowed(read);
    };

    for (const url of badUrls) {
      it(`are refused: ${JSON.stringify(url).slice(0, 60)}`, () => assert.ok(!isSettable(url)));
    }

    for (const url of goodUrls) it(`are not: ${url}`, () => assert.ok(isSettable(url)));

    it('may be names of a private network where the operator allows its addresses', () => {
      const isAllowed = createTargetCheck(['10.1.0.0/16']);
      for (const url of ['https://hooks.internal/', 'https://10.1.0.7/']) assert.ok(isAllowed(url), url);
      for (const url of ['https://10.2.0.7/', 'https://169.254.169.254/']) assert.ok(!isAllowed(url), url);
    });
  });

  describe('at a delivery', () => {
    const blocked = { statusCode: null, error: 'blockedAddress', responsePreview: null, sent: false };
    const post = async (answers: readonly string[], more: object = {}) => {
      const { cert } = await testCertificate();
      const resolve = async () => answers;
      return createWebhookPost({ isAllowed: createAddressCheck([]), resolve, extraCa: [cert], ...more });
    };

    for (const [kind, some] of Object.entries(badAddresses)) {
      it(`are not sent to, spelled in the URL: ${kind}`, async () => {
        const send = await post([]);
        for (const address of some) {
          const url = `https://${address.includes(':') ? `[${address}]` : address}/`;
          assert.deepEqual(await send({ url, headers, body }), blocked, address);
        }
      });

      it(`are not sent to when a name resolves to them, alone or among good ones: ${kind}`, async () => {
        for (const address of some) {
          for (const answers of [[address], ['8.8.8.8', address], [address, '2606:4700:4700::1111']]) {
            const send = await post(answers);
            assert.deepEqual(await send({ url: 'https://shop.example/', headers, body }), blocked, answers.join(' '));
          }
        }
      });
    }

    it('are not reached by a name that is good at its lookup and bad afterwards', async () => {
      const [good, bad] = [await startTlsServer(answering200), await startTlsServer(answering200)];
      const isAllowed = createAddressCheck(['127.0.0.1/32']);
      let lookUps = 0;
      const resolve = async () => {
        lookUps += 1;
        return lookUps === 1 ? ['127.0.0.1'] : ['127.0.0.2'];
      };
      const send = await post([], { isAllowed, resolve });
      const url = `https://localhost:${good.port}/`;
      assert.equal((await send({ url, headers, body })).statusCode, 200);
      assert.deepEqual(await send({ url, headers, body }), blocked);
      assert.deepEqual([good.connections, bad.connections, lookUps], [1, 0, 2]);
    });

    it('are not followed: a redirect is an answer like any other', async () => {
      const target = await startTlsServer(answering200);
      const isAllowed = createAddressCheck(['127.0.0.1/32']);
      const send = await post(['127.0.0.1'], { isAllowed });
      for (const location of [`https://127.0.0.1:${target.port}/`, ...badUrls.filter((url) => !/[\r\n]/.test(url))]) {
        const here = await startTlsServer((socket) =>
          socket.end(`HTTP/1.1 307 X\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`),
        );
        const { statusCode } = await send({ url: `https://localhost:${here.port}/`, headers, body });
        assert.deepEqual([statusCode, here.requests.length], [307, 1], location);
      }
      assert.equal(target.connections, 0);
    });
  });
});

const answering200 = (socket: { end(text: string): void }) =>
  socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
