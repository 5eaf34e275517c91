/** Payment links, reusable links and cashback in the dashboard: forms, errors beside their fields, questions before final steps. */

import assert from 'node:assert/strict';
import { createRoleCheck } from '../../commands/handle.ts';
import { createWithdrawCashback } from '../../commands/withdrawCashback.ts';
import { cashback, receive } from '../../domain/cashback.ts';
import type { Chain } from '../../domain/chains.ts';
import type { HttpDeps } from '../../src/api/index.ts';
import { createEvmDeposits } from '../../src/chains/evm/addresses.ts';
import { createCreditWorld } from '../support/credit.ts';
import { createWorld, type World as Log } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freePayouts } from '../support/payoutCosts.ts';
import { Jar, type PageAnswered } from './desk.ts';
import { startWorld, type World } from './world.ts';

const home = '/dashboard/apps/merchant_demo';
const payment = { amount: '5.00', sourceChainId: '8453', sourceTokenSymbol: 'USDC' };

describe('HTTP: links and cashback in the dashboard', () => {
  let world: World;
  let cleo: Jar;
  beforeEach(() => start());
  afterEach(() => world.stop());

  async function start(more: Partial<HttpDeps> = {}): Promise<void> {
    world = await startWorld(more);
    cleo = new Jar(world.url);
    cleo.cookies.set('__Host-session', 'cleo.session.token');
  }
  const field = (name: string, { text }: PageAnswered): string =>
    new RegExp(`name="${name}" value="([^"]+)"`).exec(text)?.[1] ?? assert.fail(text);
  const errorsIn = ({ text }: PageAnswered): readonly string[] =>
    [...text.matchAll(/<p class="error" id="field-(\w+)-error">/g)].map(([, name = '']) => name);
  const payments = async () =>
    (await world.call('GET', '/payment-api/payments?limit=100', { headers: world.keys.merchantAdmin })).body.data;

  describe('a payment link', () => {
    it('is of each type, and leads to a page with its link: to copy, to scan, to send by mail', async () => {
      const cases = [
        [{ type: 'exactOut' }, ['exactOut', '5.01', '5.00']],
        [{ type: 'exactIn' }, ['exactIn', '5.00', '4.99']],
        [{ type: 'anyAmount', amount: '' }, ['anyAmount', null, null]],
        [{}, ['exactOut', '5.01', '5.00']],
      ] as const;
      for (const [more, expected] of cases) {
        const made = await cleo.post(`${home}/links/new`, { ...payment, ...more });
        assert.equal(made.status, 303, made.text);
        const [{ type, source, destination }] = await payments();
        assert.deepEqual([type, source.amount, destination.amount], expected);
      }
    });

    it('is one payment per form, however often it is sent; another form creates another', async () => {
      const nonce = field('nonce', await cleo.get(`${home}/links/new`));
      const answers = await Promise.all([1, 2, 3].map(() => cleo.post(`${home}/links/new`, { ...payment, nonce })));
      assert.equal(new Set(answers.map(({ to }) => to)).size, 1);
      const other = field('nonce', await cleo.get(`${home}/links/new`));
      assert.notEqual((await cleo.post(`${home}/links/new`, { ...payment, nonce: other })).to, answers[0]?.to);
      assert.equal((await payments()).length, 2);
    });

    it('has every error beside its field', async () => {
      const cases: readonly (readonly [Record<string, string>, readonly string[]])[] = [
        [{ amount: '' }, ['amount']],
        [{ amount: 'ten' }, ['amount']],
        [{ amount: '0' }, ['amount']],
        [{ amount: '0.01', type: 'exactIn' }, ['amount']],
        [{ amount: '0.0000001' }, ['amount']],
        [{ type: 'anyAmount' }, ['amount']],
        [{ sourceChainId: '7' }, ['sourceChainId']],
        [{ sourceChainId: '501' }, ['sourceChainId']],
        [{ sourceTokenSymbol: 'DAI' }, ['sourceTokenSymbol']],
        [{ sourceTokenSymbol: 'USDT' }, ['sourceTokenSymbol']],
        [{ orderId: 'o'.repeat(129) }, []],
      ];
      for (const [more, names] of cases) {
        const answer = await cleo.post(`${home}/links/new`, { ...payment, ...more });
        assert.equal(answer.status, 400, JSON.stringify(more));
        if (names.length > 0) assert.deepEqual(errorsIn(answer), names, JSON.stringify(more));
        assert.match(answer.text, /role="alert"|class="error"/);
      }
      assert.deepEqual(await payments(), []);
    });
  });

  describe('a reusable link', () => {
    const page = `${home}/links/reusable`;
    const make = async (fields: Record<string, string> = {}) => {
      const made = await cleo.post(page, { amount: '12.50', title: 'Tea', ...fields });
      assert.equal(made.status, 303, made.text);
      return made.to ?? '';
    };

    it('is created by a form: once, however often that is sent', async () => {
      const nonce = field('nonce', await cleo.get(page));
      const ways = await Promise.all([1, 2, 3].map(() => make({ nonce })));
      assert.equal(new Set(ways).size, 1);
      assert.notEqual(await make(), await make());
      const list = await cleo.get(`${home}/links`);
      assert.equal([...list.text.matchAll(/<strong><bdi>Tea<\/bdi>/g)].length, 3);
    });

    it('is shown with its address, its code and a mail; payers open it there', async () => {
      const shown = await cleo.get(await make({ source: '8453-USDC', title: 'Tee & Käse' }));
      const [url = ''] = /http:\/\/[^"]+\/link\/[\w-]{36}/.exec(shown.text) ?? [];
      assert.match(shown.text, /<svg class="qr"/);
      assert.ok(shown.text.includes(`mailto:?subject=Tee%20%26%20K%C3%A4se&amp;body=${encodeURIComponent(url)}`));
      assert.ok(shown.text.includes(`data-copy="${url}"`));
      assert.match(await fetch(url).then((answer) => answer.text()), /Tee &amp; Käse/);
    });

    it('lists its payments, and those of no other link', async () => {
      const [tea, cake] = [await make({ title: 'Tea', source: '8453-USDC' }), await make({ title: 'Cake' })];
      assert.match((await cleo.get(tea)).text, /No payment of this link/);
      const [url = ''] = /http:\/\/[^"]+\/link\/[\w-]{36}/.exec((await cleo.get(tea)).text) ?? [];
      const payer = new Jar(world.url);
      const { pathname } = new URL(url);
      const opened = await payer.post(pathname, { nonce: field('nonce', await payer.get(pathname)) });
      assert.equal(opened.status, 303, opened.text);
      const [{ id, orderId }] = await payments();
      const shown = await cleo.get(tea);
      assert.ok(shown.text.includes(`href="${home}/payments/${id}"><bdi>${orderId}`), shown.text);
      assert.match((await cleo.get(cake)).text, /No payment of this link/);
    });

    it('has every error beside its field', async () => {
      const cases: readonly (readonly [Record<string, string>, readonly string[]])[] = [
        [{ amount: 'ten' }, ['amount']],
        [{ amount: '0.01' }, ['amount']],
        [{ amount: '10001' }, ['amount']],
        [{ amount: '5', minAmount: '1' }, ['minAmount']],
        [{ amount: '', minAmount: '9', maxAmount: '1' }, ['maxAmount']],
        [{ source: '7-USDC' }, ['source']],
        [{ source: '8453-USDT' }, ['source']],
        [{ source: 'anywhere' }, ['source']],
        [{ type: 'anyAmount' }, ['type']],
        [{ title: 'a'.repeat(201) }, ['title']],
      ];
      for (const [fields, names] of cases) {
        const answer = await cleo.post(page, { amount: '12.50', ...fields });
        assert.equal(answer.status, 400, JSON.stringify(fields));
        assert.deepEqual(errorsIn(answer), names, JSON.stringify(fields));
      }
      assert.match((await cleo.get(`${home}/links`)).text, /No reusable link yet/);
    });

    it('is closed after a question, once, permanently', async () => {
      const to = await make();
      const question = await cleo.get(`${to}/close`);
      assert.match(question.text, /Close this link\?/);
      assert.match((await cleo.get(to)).text, /Open/);
      for (const told of [/The link is closed/, /Closed/]) {
        const closed = await cleo.post(`${to}/close`);
        assert.deepEqual([closed.status, closed.to], [303, to]);
        assert.match((await cleo.get(to)).text, told);
      }
      assert.equal((await cleo.get(`${to}/close`)).status, 404);
    });

    it('needs a wallet to pay to, and states so before the form is filled in', async () => {
      const ann = new Jar(world.url);
      ann.cookies.set('__Host-session', 'ann.session.token');
      assert.match((await ann.get('/dashboard/apps/wallet_demo/links')).text, /None for this app/);
      const refused = await ann.post('/dashboard/apps/wallet_demo/links/reusable', { amount: '5.00' });
      assert.equal(refused.status, 403);
      assert.match(refused.text, /First say where you are paid/);
    });
  });

  describe('cashback', () => {
    const page = `${home}/cashback`;
    let log: Log;
    beforeEach(async () => {
      await world.stop();
      log = createWorld();
      const paid = { ordinal: 1, account: p.customerWallet, digest: 'ab'.repeat(32), orderId: 'A-7', cents: 1_000n };
      const by = { cause: 'worker:spec', appId: 'merchant_demo' } as const;
      await log.handle(cashback, 'merchant_demo', (state) => receive(state, paid, log.clock.now()), by);
      await start({ cashback: reading(), withdrawCashback: withdrawing() });
    });

    const withdrawing = () =>
      createWithdrawCashback({
        // The world's log has the team.
        roleCheck: (app, who, action) => createRoleCheck(world.people.handle)(app, who, action),
        handle: log.handle,
        clock: log.clock,
        deposits: { evm: createEvmDeposits({ treasury: p.treasuryAccount }) },
        canReceive: {},
        feeOf: () => ({ fixed_microUsd: 10_000n, basisPoints: 0 }),
        payoutCostOf: freePayouts,
        offers: ({ id }: Chain) => id === 8453,
        checkRoute: () => undefined,
      });
    const account = async () => {
      const handled = await log.handle(cashback, 'merchant_demo', () => [], { cause: 'worker:read', appId: null });
      return 'state' in handled ? handled.state : assert.fail();
    };
    const reading = (): HttpDeps['cashback'] => ({
      ...createCreditWorld(log.clock, () => '').deps,
      async of() {
        const { balance_cents, received_cents, withdrawn_cents, received } = await account();
        const [balance, sum, withdrawn] = [balance_cents, received_cents, withdrawn_cents].map(Number);
        return {
          balance_cents: balance ?? 0,
          received_cents: sum ?? 0,
          withdrawn_cents: withdrawn ?? 0,
          received,
          payments: [],
        };
      },
      movements: async () => [
        {
          at: log.clock.now(),
          cents: 1_000n,
          paymentId: null,
          account: p.customerWallet,
          amountLocal: '9.10',
          currencyLocal: 'EUR',
          orderId: 'A-7',
          about: 'bread',
        },
      ],
    });
    const asking = (amount: string) => cleo.post(page, { amount });

    it('is shown: the balance, and its movements with the fields that buyers sent', async () => {
      const { text } = await cleo.get(page);
      for (const words of ['10.00', 'A-7', 'bread', '9.10 EUR', 'in 1 payment']) assert.ok(text.includes(words), words);
    });

    it('is withdrawn after a question that names amount and wallet; the question alone withdraws nothing', async () => {
      const question = await asking('6.00');
      assert.equal(question.status, 200);
      assert.match(question.text, /Withdraw 6\.00 USD\?/);
      assert.ok(question.text.includes('0x7099') && question.text.includes('Base'));
      assert.equal((await account()).balance_cents, '1000');
      const answer = { amount: '6.00', withdrawalId: field('withdrawalId', question) };
      const done = await Promise.all([1, 2, 3].map(() => cleo.post(`${page}/withdraw`, answer)));
      assert.deepEqual(
        done.map(({ status }) => status),
        [303, 303, 303],
      );
      assert.equal(new Set(done.map(({ to }) => to)).size, 1);
      assert.match(done[0]?.to ?? '', /\/payments\/[0-9a-f-]{36}$/);
      assert.deepEqual([(await account()).balance_cents, (await account()).withdrawn_cents], ['400', '600']);
    });

    it('is refused beside the field: too much, nothing, parts of a cent, not an amount', async () => {
      for (const amount of ['10.01', '0', '0.001', '-1', 'all', '1e3', '']) {
        const answer = await asking(amount);
        assert.equal(answer.status, 400, amount);
        assert.deepEqual(errorsIn(answer), ['amount'], amount);
      }
      const withdrawalId = '8f14e45f-ceea-467f-a9d5-1b2c3d4e5f60';
      for (const amount of ['10.01', '0', '0.001', '9'.repeat(50)]) {
        const answer = await cleo.post(`${page}/withdraw`, { amount, withdrawalId });
        assert.equal(answer.status, 400, amount);
        assert.deepEqual(errorsIn(answer), ['amount'], amount);
      }
      for (const fields of [{ amount: '1.00' }, { amount: '1.00', withdrawalId: 'mine' }])
        assert.equal((await cleo.post(`${page}/withdraw`, fields)).status, 400);
      assert.equal((await account()).balance_cents, '1000');
    });

    it('is never paid out by another site’s form, nor by following a link', async () => {
      const fields = { amount: '1.00', withdrawalId: '8f14e45f-ceea-467f-a9d5-1b2c3d4e5f60' };
      const forged = await cleo.post(`${page}/withdraw`, fields, { origin: 'https://evil.example' });
      assert.equal(forged.status, 403);
      assert.equal((await cleo.get(`${page}/withdraw?${new URLSearchParams(fields)}`)).status, 405);
      assert.equal((await account()).balance_cents, '1000');
    });
  });
});
