/** Payments without gas over HTTP: answers while money is on its way, and answers to faulty requests. */
import assert from 'node:assert/strict';
import type { LinkDraft } from '../../commands/linkDrafts.ts';
import { systemClock } from '../../src/process/system.ts';
import { createPaymentSecrets } from '../../src/security/masterKey.ts';
import { linkTerms } from '../support/historySteps.ts';
import { confirmed, detected, funded } from '../support/payments.ts';
import { paymentId, relayDesk } from '../support/relayDesk.ts';
import { anyPayer, ask402, authorize, encodedHeader, headerOf, type Requirement } from '../support/x402.ts';
import { startWorld, type World } from './world.ts';

const secrets = createPaymentSecrets(Buffer.alloc(32, 3));
const path = `/pay/${secrets.secretOf(paymentId)}`;

const none = (): never => assert.fail('not called here');

describe('x402 over HTTP', () => {
  let world: World;
  let desk: Awaited<ReturnType<typeof relayDesk>>;
  let link: string;
  beforeEach(async () => {
    desk = await relayDesk();
    world = await startWorld({
      relays: desk.relays,
      networks: new Map([['eip155:8453', 8453]]),
      paymentSecrets: secrets,
      clock: { ...desk.clock, sleep: systemClock.sleep },
      settleWait_ms: 50,
    });
    link = `${world.url}${path}`;
  });
  afterEach(() => world.stop());

  const requirement = async (): Promise<Requirement> => (await ask402(link)).required.accepts[0];
  const signed = async (payer = anyPayer()) => {
    const due = await requirement();
    const validBefore = String(Math.floor(Date.parse(desk.clock.now()) / 1_000) + 300);
    return { payer, header: headerOf(due, await authorize(payer, due, { validBefore })) };
  };

  it('is pending until the payin has funded the payment, requests no second signature, and then gives the same answer each time', async () => {
    const { payer, header } = await signed();
    for (let round = 1; round <= 2; round += 1) {
      const { status, response, required, headers } = await ask402(link, header);
      assert.deepEqual([status, response.success, response.errorReason], [402, false, 'settlement_pending']);
      assert.deepEqual([response.payer, required, headers.get('retry-after')], [payer.address, null, '5']);
    }
    const other = await ask402(link, (await signedBy(anyPayer())).header);
    assert.deepEqual([other.status, other.response.errorReason], [402, 'duplicate_settlement']);
    assert.deepEqual(other.required.accepts, []);
    assert.equal((await ask402(link)).status, 409);
    const transfer = desk.paidBy(payer.address);
    await desk.record([detected(transfer)]);
    assert.equal((await ask402(link, header)).response.transaction, transfer.txHash);
    await desk.record([confirmed(transfer), funded([transfer])]);
    const paid = [await ask402(link, header), await ask402(link, header)];
    for (const { status, response, body } of paid) {
      assert.deepEqual([status, response.success, response.transaction], [200, true, transfer.txHash]);
      assert.deepEqual(body, paid[0]?.body);
    }
    const unsigned = await ask402(link);
    assert.deepEqual([unsigned.status, unsigned.body], [200, { status: 'paid', transaction: transfer.txHash }]);

    async function signedBy(by: ReturnType<typeof anyPayer>) {
      const due = (await desk.desk())?.payment.deposits.evm ?? assert.fail();
      const first = JSON.parse(Buffer.from(header, 'base64').toString()).accepted as Requirement;
      assert.equal(first.payTo, due.address);
      const validBefore = String(Math.floor(Date.parse(desk.clock.now()) / 1_000) + 300);
      return { header: headerOf(first, await authorize(by, first, { validBefore })) };
    }
  });

  it('states that gas is too expensive, or that the hour’s limit is used up and when it ends', async () => {
    desk.around.limits = { ...desk.around.limits, perRelay_microUsd: 1n };
    const dear = await ask402(link, (await signed()).header);
    assert.deepEqual([dear.status, dear.response.errorReason], [402, 'gas_limit']);
    assert.match(dear.response.errorMessage, /gas for this payment costs up to/);
    desk.around.limits = { ...desk.around.limits, perRelay_microUsd: 10n ** 9n, perHour_microUsd: 1n };
    const full = await ask402(link, (await signed()).header);
    assert.deepEqual([full.status, full.body.error], [429, 'rateLimited']);
    assert.ok(Number(full.headers.get('retry-after')) > 3_000);
  });

  it('refuses what no client sends: no payment is made of it', async () => {
    const { header } = await signed();
    const good = JSON.parse(Buffer.from(header, 'base64').toString());
    const wrong = [
      'not base64 %',
      encodedHeader('{'),
      encodedHeader([]),
      encodedHeader({ ...good, x402Version: 3 }),
      encodedHeader({ ...good, accepted: null }),
      encodedHeader({ ...good, accepted: { ...good.accepted, scheme: 'upto' } }),
      encodedHeader({ ...good, payload: { ...good.payload, signature: 1 } }),
      encodedHeader({ ...good, payload: {} }),
      'A'.repeat(9_000),
    ];
    for (const each of wrong) assert.equal((await ask402(link, each)).status, 400, each.slice(0, 80));
    const both = await ask402(link, header, { headers: { 'X-PAYMENT': header } });
    assert.equal(both.status, 400);
    assert.equal(await desk.relay(1), null);
  });

  it('answers at one path, however the path is spelled, for any method', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
      assert.equal((await ask402(link, undefined, { method })).status, 402, method);
    for (const spelled of ['x402/', 'X402', '%78402', '/x402', 'x402//', 'x402%2f', '../x402', 'x402;a'])
      assert.ok([402, 404, 405].includes((await fetch(`${link}/${spelled}`)).status), spelled);
    assert.equal((await fetch(`${world.url}/pay/${'x'.repeat(43)}/x402`)).status, 404);
  });

  it('may be called by pages of any origin, which read and send its headers', async () => {
    const preflight = await fetch(`${link}/x402`, { method: 'OPTIONS', headers: { Origin: 'https://a.example' } });
    assert.equal(preflight.status, 204);
    assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /PAYMENT-SIGNATURE, X-PAYMENT/);
    const asked = await fetch(`${link}/x402`, { headers: { Origin: 'https://a.example' } });
    assert.equal(asked.headers.get('access-control-allow-origin'), '*');
    assert.match(asked.headers.get('access-control-expose-headers') ?? '', /PAYMENT-RESPONSE/);
  });

  it('stores nothing while nobody has signed', async () => {
    const before = (await desk.store.read(`payment-${paymentId}`)).length;
    for (let n = 0; n < 5; n += 1) await ask402(link);
    await fetch(`${link}/authorization`);
    assert.equal((await desk.store.read(`payment-${paymentId}`)).length, before);
    assert.deepEqual(await desk.typesIn('relayGas-2026-11-21T09'), []);
  });

  it('tells nobody but the payer of a link’s order which page and transaction it has', async () => {
    const terms = linkTerms('l'.repeat(36), 'wallet_demo', desk.clock.now());
    const links = { create: none, close: none, list: none, payments: none };
    const draft: LinkDraft = { ...desk.draftOf(), exists: true, quote: 'quote' };
    const shop = await startWorld({
      relays: desk.relays,
      networks: new Map([['eip155:8453', 8453]]),
      clock: { ...desk.clock, sleep: systemClock.sleep },
      settleWait_ms: 50,
      links: { ...links, find: async () => ({ ...terms, closedAt: null }) },
      linkDrafts: { paymentIdOf: () => null, draft: async () => draft },
    });
    const url = `${shop.url}/link/${terms.linkId}?order=purchase-00000001`;
    const { payer, header } = await signed();
    assert.equal((await ask402(url, header)).response.errorReason, 'settlement_pending');
    const transfer = desk.paidBy(payer.address);
    await desk.record([detected(transfer), confirmed(transfer), funded([transfer])]);
    const own = await ask402(url, header);
    assert.deepEqual([own.status, own.body.transaction], [200, transfer.txHash]);
    assert.match(own.body.paymentLink, /\/pay\//);
    const guessed = await ask402(url);
    assert.deepEqual([guessed.status, guessed.body], [200, { status: 'paid' }]);
    await shop.stop();
  });

  it('answers a page’s refusal as a problem, and its signature with the result', async () => {
    const { authorizations } = await (await fetch(`${link}/authorization`)).json();
    const { typedData, chainId, tokenAddress } = authorizations[0];
    const payer = anyPayer();
    const message = { ...typedData.message, from: payer.address };
    const { EIP712Domain: _, ...types } = typedData.types;
    const signature = await payer.signTypedData({ ...typedData, types, message });
    const hand = async (more: object = {}) => {
      const answer = await fetch(`${link}/authorization`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ chainId, tokenAddress, ...message, signature, ...more }),
      });
      return { status: answer.status, body: await answer.json() };
    };
    assert.equal((await hand({ signature: `0x${'11'.repeat(65)}` })).body.error, 'invalidRequest');
    assert.equal((await hand({ more: 1 })).status, 400);
    desk.around.limits = { ...desk.around.limits, perRelay_microUsd: 1n };
    const dear = await hand();
    assert.deepEqual([dear.status, dear.body.error], [409, 'relayTooDear']);
    desk.around.limits = { ...desk.around.limits, perRelay_microUsd: 10n ** 9n };
    const taken = await hand();
    assert.deepEqual([taken.status, taken.body.status], [202, 'pending']);
    assert.equal((await desk.relay(1))?.ordered.form.nonce, message.nonce);
  });
});
