/** Wallets that sign what the service prepares, on the page: Solana's and Freighter, when they or the service do not do as they should. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { keepKeys } from '../../sandbox/keys.ts';
import { messageSigner } from '../../sandbox/signMessage.ts';
import { publicNetwork } from '../../src/chains/stellar/config.ts';
import { payPage } from '../../web/pay/page.ts';
import { type Visitor, visitor } from '../support/chromium.ts';
import { type Behaviour, declines, freighter, type SigningWallet, solanaWallet } from '../support/standInWallets.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { servePages } from './pageServer.ts';
import { payModel, type StoryName, stories } from './samples/payPages.ts';

const keys = keepKeys(temporaryDirectory());
const account = messageSigner(keys.stellar.customer).address;
const txHash = 'ab'.repeat(32);
const signedWell: Behaviour = (type) => (type === 'SUBMIT_TRANSACTION' ? { signedTransaction: 'BBBB' } : undefined);
const signature = Array.from({ length: 64 }, (_, nth) => nth);
const sentWell: Behaviour = (method) => (method === 'signAndSendTransaction' ? signature : undefined);

/** Answer of the service to a request of the page. */
interface Answer {
  readonly status: number;
  readonly json: object;
}
const ok = (json: object): Answer => ({ status: 200, json });
const refused = (status: number, pointer = ''): Answer => ({ status, json: { errors: [{ pointer }] } });

interface Visit {
  readonly story: StoryName;
  /** Sum that the payer chose. */
  readonly amount?: string;
  readonly behaviour: Behaviour;
  readonly answers?: Readonly<Record<string, Answer>>;
}

interface Paying {
  readonly page: Page;
  readonly wallet: SigningWallet;
  /** Bodies that the page posted, by the last part of the path. */
  readonly posted: Readonly<Record<string, unknown>>;
}

async function paying({ story, amount, behaviour, answers = {} }: Visit, act: (at: Paying) => Promise<void>) {
  const model = payModel(stories[story], 'en');
  const offer = model.walletOffer;
  assert.ok(offer !== null && offer.family !== 'evm');
  const shown = amount === undefined ? model : { ...model, walletOffer: { ...offer, amount } };
  await using server = await servePages({ pay: payPage(shown) });
  const visiting: Visitor = await visitor(server.url(''));
  const { page } = visiting;
  const wallet =
    offer.family === 'solana'
      ? await solanaWallet(page, {
          secret: keys.solana.customer,
          rpcUrl: 'http://127.0.0.1:1',
          chain: offer.chain,
          behaviour,
        })
      : await freighter(page, { secret: keys.stellar.customer, network: publicNetwork, behaviour });
  const posted: Record<string, unknown> = {};
  const usual = {
    transaction: ok({ transaction: 'AAAA', seal: 'seal' }),
    signed: ok({ txHash }),
    payin: ok({ txHash }),
  };
  for (const [part, { status, json }] of Object.entries({ ...usual, ...answers }))
    await page.route(`**/pay/${part}`, (route) => {
      posted[part] = route.request().postDataJSON();
      return route.fulfill({ status, json });
    });
  await page.goto('pay');
  await act({ page, wallet, posted });
  await visiting.leave();
}

const press = (page: Page) => page.locator('#wallets ul button').click();
const says = (page: Page, text: RegExp) => page.locator('.told-wallet').filter({ hasText: text }).waitFor();
const signs = ({ asked }: SigningWallet) =>
  asked.filter((each) => ['SUBMIT_TRANSACTION', 'signAndSendTransaction'].includes(each)).length;

describe('Freighter on the page of a payment', () => {
  it('has the signed transaction sent with its seal, for the account that signed', () =>
    paying({ story: 'waitingOnStellar', behaviour: signedWell }, async ({ page, wallet, posted }) => {
      await press(page);
      await says(page, /Sent, waiting/);
      assert.deepEqual(posted, {
        transaction: { account },
        signed: { account, transaction: 'BBBB', seal: 'seal' },
      });
      assert.equal(signs(wallet), 1);
    }));

  it('has both requests state the sum that the payer chose', () =>
    paying({ story: 'waitingOnStellar', amount: '4.25', behaviour: signedWell }, async ({ page, posted }) => {
      await press(page);
      await says(page, /Sent, waiting/);
      assert.deepEqual(posted, {
        transaction: { account, amount: '4.25' },
        signed: { account, amount: '4.25', transaction: 'BBBB', seal: 'seal' },
      });
    }));

  const unsigned: readonly (readonly [what: string, story: StoryName, behaviour: Behaviour, text: RegExp])[] = [
    [
      'is on another network',
      'waitingOnStellar',
      (type) => (type === 'REQUEST_NETWORK_DETAILS' ? { networkDetails: { networkPassphrase: 'Test' } } : undefined),
      /is not on Stellar. Nothing was sent/,
    ],
    [
      'names no network',
      'waitingOnStellar',
      (type) => (type === 'REQUEST_NETWORK_DETAILS' ? {} : undefined),
      /is not on Stellar. Nothing was sent/,
    ],
    ['has an account that may not pay into the contract', 'waitingForCall', () => undefined, /Only the account G/],
    [
      'names no account',
      'waitingOnStellar',
      (type) => (type === 'REQUEST_ACCESS' ? { publicKey: '' } : undefined),
      /You declined in the wallet/,
    ],
  ];
  for (const [what, story, behaviour, text] of unsigned) {
    it(`${what}: it is asked to sign nothing`, () =>
      paying({ story, behaviour }, async ({ page, wallet, posted }) => {
        await press(page);
        await says(page, text);
        assert.deepEqual([signs(wallet), posted], [0, {}]);
      }));
  }

  const failed: readonly (readonly [
    what: string,
    behaviour: Behaviour,
    answers: NonNullable<Visit['answers']>,
    text: RegExp,
  ])[] = [
    ['declines', declines('SUBMIT_TRANSACTION'), {}, /You declined in the wallet/],
    [
      'signs nothing',
      (type) => (type === 'SUBMIT_TRANSACTION' ? { signedTransaction: '' } : undefined),
      {},
      /You declined in the wallet/,
    ],
    ['signs too late', signedWell, { signed: refused(409, '/expired') }, /It took too long, so nothing was sent/],
    ['has too little', signedWell, { transaction: refused(409, '/token') }, /too little USDC on Stellar/],
  ];
  for (const [what, behaviour, answers, text] of failed) {
    it(`${what}: the payer can press again`, () =>
      paying({ story: 'waitingOnStellar', behaviour, answers }, async ({ page }) => {
        await press(page);
        await says(page, text);
        assert.equal(await page.locator('#wallets ul button').isEnabled(), true);
        assert.equal(await page.evaluate(() => sessionStorage.length), 0);
      }));
  }

  it('has signed, and the service’s answer is lost: the page does not say that nothing was sent', () =>
    paying(
      { story: 'waitingOnStellar', behaviour: signedWell, answers: { signed: refused(503) } },
      async ({ page }) => {
        await press(page);
        await says(page, /has not shown the payment yet. Check the wallet: pay again only if the payment failed/);
        assert.equal(await page.locator('#wallets ul button').isVisible(), false);
        await page.getByRole('button', { name: 'Pay again' }).waitFor();
      },
    ));
});

describe('a wallet of Solana on the page of a payment', () => {
  it('sends what was prepared, and the page registers the signature in base58', () =>
    paying({ story: 'waitingOnSolana', amount: '4.25', behaviour: sentWell }, async ({ page, wallet, posted }) => {
      await press(page);
      await says(page, /Sent, waiting/);
      await page.waitForFunction(() => sessionStorage.length === 1);
      const solana = messageSigner(keys.solana.customer).address;
      assert.deepEqual(posted['transaction'], { account: solana, amount: '4.25' });
      assert.equal(signs(wallet), 1);
      const kept = await page.evaluate(() => JSON.parse(sessionStorage.getItem(sessionStorage.key(0) ?? '') ?? ''));
      assert.match(kept.hash, /^1[1-9A-HJ-NP-Za-km-z]{80,90}$/);
    }));

  it('lets the prepared transaction expire: nothing was sent', async () => {
    let visited: Page | undefined;
    const late: Behaviour = async (method) => {
      if (method !== 'signAndSendTransaction') return undefined;
      await visited?.clock.fastForward(61_000);
      throw new Error('Blockhash not found');
    };
    await paying({ story: 'waitingOnSolana', behaviour: late }, async ({ page }) => {
      visited = page;
      await page.clock.install();
      await page.reload();
      await press(page);
      await says(page, /It took too long, so nothing was sent/);
    });
  });

  for (const [what, answer] of [
    ['too few bytes', [1, 2, 3]],
    ['nothing', []],
  ] as const) {
    it(`answers ${what} for a signature: the page does not say that nothing was sent`, () =>
      paying(
        {
          story: 'waitingOnSolana',
          behaviour: (method) => (method === 'signAndSendTransaction' ? answer : undefined),
        },
        async ({ page }) => {
          await press(page);
          await says(page, /has not shown the payment yet/);
        },
      ));
  }

  it('has no prepared transaction while the service is busy: nothing is signed', () =>
    paying(
      { story: 'waitingOnSolana', behaviour: sentWell, answers: { transaction: refused(429) } },
      async ({ page, wallet }) => {
        await press(page);
        await says(page, /cannot be prepared right now. Nothing was sent/);
        assert.equal(signs(wallet), 0);
      },
    ));
});
