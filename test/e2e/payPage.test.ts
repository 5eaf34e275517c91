/** Payers with browsers: their pages follow the money automatically, on local chains, from the first load to the end of each payment. */
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { parseSep7Uri, type Sep7Pay } from '@stellar/typescript-wallet-sdk';
import { parse as parseEip681 } from 'eth-url-parser';
import type { Page, Request, Route } from 'playwright-core';
import type { Clock } from '../../commands/ports.ts';
import { parseAmount } from '../../domain/money.ts';
import { hour_ms, plus } from '../../domain/time.ts';
import { systemClock } from '../../src/process/system.ts';
import { visitor } from '../support/chromium.ts';
import { createLocalService } from '../support/localService.ts';
import { scanned } from '../support/qr.ts';
import type { Answer, Json } from '../support/shop.ts';
import { isFull } from '../support/suite.ts';

const receiver = '0x2222222222222222222222222222222222222222';
const ethereum = 1;

/** In the gate wallets.test.ts follows payments of these chains on the page, and specs of links check their parts. */
const itInFull = isFull ? it : it.skip;

describe('the page of a payment, in a browser', () => {
  let ahead_ms = 0;
  const clock: Clock = { ...systemClock, now: () => plus(systemClock.now(), ahead_ms) };
  const shop = createLocalService([ethereum, 8453, 501, 1500], clock);
  before(() => shop.open());
  after(() => shop.close());

  async function create(source: Json = {}, more: Json = {}): Promise<Answer['body']> {
    const { status, body } = await shop.create({
      appId: shop.wallet().appId,
      type: 'exactOut',
      display: { title: 'Tea for two, with a label that a wallet shows', currency: 'USD' },
      source: { chainId: ethereum, tokenSymbol: 'USDC', ...source },
      destination: { chainId: 8453, tokenSymbol: 'USDC', amount: '3.00', receiverAddress: receiver },
      ...more,
    });
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  }

  /** @param watch called with the open page, which is never reloaded */
  async function watching(payment: Answer['body'], watch: (page: Page) => Promise<void>, query = ''): Promise<void> {
    const { page, leave } = await visitor(shop.url(), { viewport: { width: 360, height: 740 } });
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    const first = await page.goto(`${payment.paymentLink}${query}`);
    await watch(page);
    // After a 503 of a busy machine the page loads once more, when the service answers.
    assert.equal(loads, first?.status() === 503 ? 2 : 1);
    await leave();
  }

  const toTheEnd = async (page: Page) => {
    await page.getByText('has been paid').waitFor();
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
    assert.equal(await page.locator('.scan').count(), 0);
  };

  /** Target of the button, which the QR code also contains. */
  async function walletLink(page: Page): Promise<string> {
    await page.getByText('Waiting for your payment').waitFor();
    const link = (await page.locator('.scan a').getAttribute('href')) ?? '';
    assert.equal(await scanned(page), link);
    return link;
  }

  it('advances from waiting to completed on an EVM chain, and then has the receipt', async () => {
    const payment = await create();
    const { source } = payment;
    await watching(payment, async (page) => {
      const { target_address, chain_id, function_name, parameters } = parseEip681(await walletLink(page));
      assert.deepEqual([chain_id, function_name, parameters?.['address']], ['1', 'transfer', source.receiverAddress]);
      assert.equal(target_address, source.tokenAddress);
      await shop.pay(payment);
      await toTheEnd(page);
    });
    const { page, leave } = await visitor(shop.url());
    await page.goto(payment.paymentLink);
    await page.getByRole('link', { name: 'Printable receipt' }).click();
    const done = await shop.follow(payment.id);
    await page.getByText(done.destination.txHash).waitFor();
    await page.getByText(done.source.txHash).waitFor();
    await leave();
  });

  itInFull('advances from waiting to completed on Solana', async () => {
    const payment = await create({ chainId: 501 });
    await watching(payment, async (page) => {
      const link = new URL(await walletLink(page));
      assert.equal(`${link.protocol}${link.pathname}`, `solana:${payment.source.receiverAddress}`);
      assert.equal(link.searchParams.get('amount'), payment.source.amount);
      await shop.pay(payment);
      await toTheEnd(page);
    });
  });

  itInFull('advances from waiting to completed on Stellar, by the memo', async () => {
    const payment = await create({ chainId: 1500 });
    const { source } = payment;
    await watching(payment, async (page) => {
      const link = parseSep7Uri(await walletLink(page)) as Sep7Pay;
      assert.deepEqual(
        [link.destination, link.memo, link.amount],
        [source.receiverAddress, source.receiverMemo, source.amount],
      );
      assert.equal(link.networkPassphrase, 'Payment Intents Sandbox');
      await page.getByText('Include the memo').waitFor();
      await shop.pay(payment);
      await toTheEnd(page);
    });
  });

  it('advances from waiting to completed by the contract on Stellar, called as the page states', async () => {
    const payer = await shop.stellarAccount('20');
    const payment = await create(
      { chainId: 1500, senderAddress: payer.publicKey() },
      { intent: 'stellar_payin_contracts' },
    );
    const { source } = payment;
    await watching(payment, async (page) => {
      await page.getByText('For developers').click();
      await page.getByRole('heading', { name: 'Call the contract' }).waitFor();
      const command = (await page.locator('code.command').textContent()) ?? '';
      const said = Object.fromEntries(
        [...command.matchAll(/--(\S+) (\S+)/g)].map(([, name = '', value = '']) => [name, value]),
      );
      assert.equal(said['id'], source.receiverAddressContract);
      assert.equal(said['sender'], payer.publicKey());
      assert.equal(said['memo'], source.receiverMemoContract);
      assert.equal(said['amount'], String(parseAmount(source.amount, 7)));
      await shop.pay(payment, undefined, payer.secret());
      await toTheEnd(page);
    });
  });

  it('states the missing amount of an underpayment, in the payer’s language, and accepts the rest', async () => {
    const payment = await create();
    await watching(
      payment,
      async (page) => {
        await page.getByText('Esperando su pago').waitFor();
        await shop.pay(payment, '1.00');
        await page.getByText('Envíe el resto dentro del plazo').waitFor();
        const rest = payment.source.amount.replace(/^3/, '2');
        assert.match((await page.locator('.amount').textContent()) ?? '', new RegExp(`${rest}\\s*USDC`));
        const asked = parseEip681((await scanned(page)) ?? '').parameters;
        assert.equal(asked?.['uint256'], String(parseAmount(rest, 6)));
        await shop.pay(payment, rest);
        await page.getByText('ha recibido su dinero').waitFor();
      },
      '?lang=es',
    );
  });

  it('states that another token arrived, and can still be paid', async () => {
    const payment = await create();
    await watching(payment, async (page) => {
      await page.getByText('Waiting for your payment').waitFor();
      await shop.transfer(ethereum, 'USDT', payment.source.receiverAddress, '3');
      await page.getByRole('heading', { name: 'A different token arrived' }).waitFor();
      await page.getByText('The order can still be paid').waitFor();
      await shop.pay(payment);
      await toTheEnd(page);
      await page.getByText('arrived in a different token').waitFor();
    });
  });

  it('weighs less than 100 kB with everything it loads, and is painted while its scripts are still loading', async () => {
    const { paymentLink } = await create();
    const { page, newTab, leave } = await visitor(shop.url());
    const loaded: Request[] = [];
    page.on('requestfinished', (request) => loaded.push(request));
    await page.goto(paymentLink);
    await page.getByRole('timer').getByText(/left$/).waitFor();
    const sizes = await Promise.all(loaded.map((request) => request.sizes()));
    const bytes = sizes.reduce((sum, of) => sum + of.responseHeadersSize + of.responseBodySize, 0);
    assert.ok(loaded.length > 5 && bytes > 20_000 && bytes < 100_000, `${bytes} bytes in ${loaded.length} answers`);
    const bodies = await Promise.all(loaded.map(async (request) => (await request.response())?.body()));
    const compressed = bodies.reduce((sum, body) => sum + (body ? gzipSync(body).length : 0), 0);
    assert.ok(compressed > 5_000 && compressed < 40_000, `${compressed} bytes compressed`);

    const slow = await newTab();
    const held: Route[] = [];
    await slow.route('**/*.js', (route) => void held.push(route));
    await slow.goto(paymentLink, { waitUntil: 'commit' });
    await slow.locator('svg.qr').waitFor();
    await slow.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length === 1);
    assert.ok(held.length > 0);
    await Promise.all(held.map((route) => route.abort()));
    await leave();
  });

  it('works without scripts: it reloads itself', async () => {
    const payment = await create();
    const { page, leave } = await visitor(shop.url(), { javaScriptEnabled: false });
    await page.goto(payment.paymentLink);
    await page.getByText('Waiting for your payment').waitFor();
    assert.equal(await scanned(page), await page.locator('.scan a').getAttribute('href'));
    await shop.pay(payment);
    await page.getByText('has been paid').waitFor();
    await leave();
  });

  it('states its expiry, the received part of an underpayment, and money that arrived too late', async () => {
    const [never, tooLittle] = [await create(), await create()];
    await shop.pay(tooLittle, '1.00');
    await watching(never, async (page) => {
      await page.getByText('Waiting for your payment').waitFor();
      await shop.rpc(ethereum, 'evm_increaseTime', [(2 * hour_ms) / 1_000]);
      ahead_ms += 2 * hour_ms;
      await page.getByRole('heading', { name: 'This payment has expired' }).waitFor();
      assert.equal(await page.locator('.scan').count(), 0);
      await page.getByText('nothing was charged').waitFor();
      await shop.pay(never);
      await page.getByRole('heading', { name: 'The money arrived too late' }).waitFor();
      await page.getByText('can refund it').first().waitFor();
    });
    await watching(tooLittle, async (page) => {
      await page.getByRole('heading', { name: 'The full amount did not arrive in time' }).waitFor();
      assert.equal(await page.locator('.scan').count(), 0);
    });
  });
});
