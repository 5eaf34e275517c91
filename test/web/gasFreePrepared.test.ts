/** Paying without gas by what the service prepares: Solana's wallets and Freighter on the page, when they or the service do not do as they should. */
import assert from 'node:assert/strict';
import type { Page, Route } from 'playwright-core';
import { keepKeys } from '../../sandbox/keys.ts';
import { messageSigner } from '../../sandbox/signMessage.ts';
import { publicNetwork } from '../../src/chains/stellar/config.ts';
import { payPage } from '../../web/pay/page.ts';
import { visitor } from '../support/chromium.ts';
import { type Behaviour, declines, freighter, type SigningWallet, solanaWallet } from '../support/standInWallets.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { servePages } from './pageServer.ts';
import { payModel, stories } from './samples/payPages.ts';

const keys = keepKeys(temporaryDirectory());
const txHash = 'ab'.repeat(32);

type Reply = readonly [status: number, body: object];
const refused = (status: number, pointer: string): Reply => [status, { errors: [{ pointer }] }];
const result = (status: string, more: object = {}): Reply => [
  status === 'pending' ? 202 : 200,
  { status, transaction: null, reason: null, message: null, ...more },
];
const offers = (...authorizations: object[]): Reply => [200, { authorizations, last: null }];
const underWay: Reply = [200, { authorizations: [], last: { status: 'pending', transaction: txHash, reason: null } }];

interface Family {
  readonly story: 'waitingOnSolana' | 'waitingOnStellar';
  readonly account: string;
  readonly asks: string;
  /** The service's offer, and the page's answer to it. */
  readonly prepared: object;
  readonly posted: object;
  readonly signs: Behaviour;
  openWallet(page: Page, behaviour: Behaviour): Promise<SigningWallet>;
}

const solana: Family = {
  story: 'waitingOnSolana',
  account: messageSigner(keys.solana.customer).address,
  asks: 'signTransaction',
  prepared: { chainId: 501, transaction: 'AQID' },
  posted: { chainId: 501, transaction: 'BAUG' },
  signs: (method) => (method === 'signTransaction' ? [4, 5, 6] : undefined),
  openWallet: (page, behaviour) =>
    solanaWallet(page, {
      secret: keys.solana.customer,
      rpcUrl: 'http://127.0.0.1:1',
      chain: 'solana:mainnet',
      behaviour,
    }),
};

const stellar: Family = {
  story: 'waitingOnStellar',
  account: messageSigner(keys.stellar.customer).address,
  asks: 'SUBMIT_AUTH_ENTRY',
  prepared: { chainId: 1500, entry: 'AQID', preimage: 'BAUG' },
  posted: { chainId: 1500, entry: 'AQID', signature: 'BwgJ' },
  signs: (type) => (type === 'SUBMIT_AUTH_ENTRY' ? { signedAuthEntry: 'BwgJ' } : undefined),
  openWallet: (page, behaviour) =>
    freighter(page, { secret: keys.stellar.customer, network: publicNetwork, behaviour }),
};

interface Visit {
  /** Answers to requests for offers, in order; the last one repeats. Default: the offer of the family. */
  readonly asked?: readonly Reply[];
  /** Answers to signatures, in order; the last one repeats. */
  readonly answers?: readonly Reply[];
  readonly wallet?: Behaviour;
}

interface Paying {
  readonly page: Page;
  readonly wallet: SigningWallet;
  readonly posted: readonly object[];
  /** Accounts of the requests for offers; null without one. */
  readonly accounts: readonly (string | null)[];
}

async function free(
  family: Family,
  { asked = [offers(family.prepared)], answers = [], wallet: behaviour = family.signs }: Visit,
  look: (at: Paying) => Promise<void>,
): Promise<void> {
  const [posted, accounts]: [object[], (string | null)[]] = [[], []];
  const model = { ...payModel(stories[family.story], 'en'), gasFree: true };
  await using server = await servePages({ pay: payPage(model) });
  const visiting = await visitor(server.url(''));
  const { page } = visiting;
  const reply = (route: Route, replies: readonly Reply[], nth: number) => {
    const [status, json] = replies[Math.min(nth, replies.length - 1)] ?? assert.fail('nothing is answered');
    return route.fulfill({ status, json });
  };
  await page.route('**/pay/authorization*', (route) => {
    const request = route.request();
    if (request.method() === 'GET') {
      accounts.push(new URL(request.url()).searchParams.get('account'));
      return reply(route, asked, accounts.length - 1);
    }
    posted.push(request.postDataJSON());
    return reply(route, answers, posted.length - 1);
  });
  const wallet = await family.openWallet(page, behaviour);
  await page.goto('pay');
  await look({ page, wallet, posted, accounts });
  await visiting.leave();
}

const button = (page: Page) => page.getByRole('button', { name: /without gas$/ });
const press = (page: Page) => button(page).click();
const says = (page: Page, text: RegExp) => page.locator('.told-wallet').filter({ hasText: text }).waitFor();

for (const family of [solana, stellar]) {
  describe(`paying without gas ${family.story === 'waitingOnSolana' ? 'on Solana' : 'with Freighter'}`, () => {
    const signatures = ({ asked }: SigningWallet) => asked.filter((each) => each === family.asks).length;

    it('signs what was prepared for the wallet’s account, and hands it over until its transaction is known', () =>
      free(
        family,
        { answers: [result('pending'), result('pending', { transaction: txHash })] },
        async ({ page, wallet, posted, accounts }) => {
          await press(page);
          await says(page, /Sent, waiting/);
          assert.deepEqual([posted, accounts[0]], [[family.posted, family.posted], family.account]);
          assert.equal(signatures(wallet), 1);
        },
      ));

    const unsigned: readonly (readonly [what: string, asked: readonly Reply[], text: RegExp])[] = [
      ['nothing is offered', [offers()], /cannot be made without gas right now. Nothing was sent/],
      ['the account has too little', [refused(409, '/token')], /too little USDC on .* Nothing was sent/],
      ['the service is busy', [refused(503, '')], /cannot be prepared right now. Nothing was sent/],
      ['another tab has signed already', [underWay], /Sent, waiting/],
    ];
    for (const [what, asked, text] of unsigned)
      it(`signs nothing if ${what}`, () =>
        free(family, { asked }, async ({ page, wallet, posted }) => {
          await press(page);
          await says(page, text);
          assert.deepEqual([signatures(wallet), posted], [0, []]);
        }));

    const unpaid: readonly (readonly [what: string, answers: readonly Reply[], text: RegExp])[] = [
      ['altered it', [refused(400, '/transaction')], /Nothing was sent. Pay with an ordinary transfer/],
      ['signed too late', [refused(400, '/expired')], /It took too long, so nothing was sent. Try again/],
      ['has too little by then', [refused(400, '/token')], /too little USDC/],
      ['signed, and the relay expired', [result('pending'), result('failed', { reason: 'expired' })], /took too long/],
      ['signed, and gas is too dear', [refused(409, '')], /Nothing was sent. Pay with an ordinary transfer/],
    ];
    for (const [what, answers, text] of unpaid)
      it(`lets the payer press again if the wallet ${what}`, () =>
        free(family, { answers }, async ({ page }) => {
          await press(page);
          await says(page, text);
          assert.equal(await button(page).isEnabled(), true);
          assert.equal(await page.evaluate(() => sessionStorage.length), 0);
        }));

    it('waits for the signature of another tab if that was first', () =>
      free(
        family,
        { asked: [offers(family.prepared), underWay], answers: [refused(409, '')] },
        async ({ page, posted }) => {
          await press(page);
          await says(page, /Sent, waiting/);
          assert.equal(posted.length, 1);
        },
      ));

    it('lets the payer sign again once the service states that nothing was moved', () =>
      free(
        family,
        {
          asked: [
            offers(family.prepared),
            underWay,
            [200, { authorizations: [], last: { status: 'failed', transaction: null, reason: 'expired' } }],
          ],
          answers: [result('pending', { transaction: txHash })],
        },
        async ({ page }) => {
          await page.clock.install();
          await press(page);
          await says(page, /Sent, waiting/);
          // Each poll of the page is due 4 s after the one before.
          const over = page.locator('.told-wallet').filter({ hasText: /took too long, so nothing was sent/ });
          while (!(await over.isVisible())) await page.clock.fastForward(4_000);
          await button(page).waitFor();
          assert.equal(await page.evaluate(() => sessionStorage.length), 0);
        },
      ));

    it('is declined in the wallet: nothing is handed over', () =>
      free(family, { wallet: declines(family.asks) }, async ({ page, posted }) => {
        await press(page);
        await says(page, /declined/);
        assert.deepEqual(posted, []);
      }));
  });
}

describe('a wallet that cannot sign without sending', () => {
  it('has the ordinary button alone', () =>
    free(
      {
        ...solana,
        openWallet: (page, behaviour) =>
          solanaWallet(page, {
            secret: keys.solana.customer,
            rpcUrl: 'http://127.0.0.1:1',
            chain: 'solana:mainnet',
            signsOnly: false,
            behaviour,
          }),
      },
      {},
      async ({ page }) => {
        await page.locator('#wallets ul button').first().waitFor();
        assert.equal(await page.locator('#wallets ul button').count(), 1);
        assert.equal(await button(page).count(), 0);
      },
    ));
});
