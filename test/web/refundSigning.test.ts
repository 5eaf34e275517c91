/** The payer signs the refund address by one press in a wallet of each chain family, and hostile wallets sign nothing that counts. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Transfer } from '../../domain/payment/events.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { messageSigner } from '../../sandbox/signMessage.ts';
import { publicNetwork } from '../../src/chains/stellar/config.ts';
import { goodRequest, paymentSecrets, startWorld, type World } from '../api/world.ts';
import { type VisitorOptions, visitor } from '../support/chromium.ts';
import { obstacles } from '../support/obstacles.ts';
import * as p from '../support/payments.ts';
import { type Behaviour, declines, evmWallet, freighter, solanaWallet } from '../support/standInWallets.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const keys = keepKeys(temporaryDirectory());
const phone: VisitorOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const desktop: VisitorOptions = { viewport: { width: 1280, height: 900 } };

interface Asked {
  readonly asked: readonly string[];
}

interface Family {
  readonly name: string;
  readonly asset: p.Asset;
  readonly key: string;
  readonly otherKey: string;
  /** Name of the wallet on the page. */
  readonly wallet: string;
  /** Request for the signature. */
  readonly request: string;
  readonly options: VisitorOptions;
  install(page: Page, key: string, behaviour?: Behaviour): Promise<Asked>;
}

const families: readonly Family[] = [
  {
    name: 'an EVM chain',
    asset: p.baseUsdc,
    key: keys.customer,
    otherKey: keys.treasury,
    wallet: 'Stand-in',
    request: 'personal_sign',
    options: phone,
    install: (page, key, behaviour) =>
      evmWallet(page, { key: key as `0x${string}`, rpcUrl: () => '', on: 1, ...(behaviour && { behaviour }) }),
  },
  {
    name: 'Solana',
    asset: p.solanaUsdc,
    key: keys.solana.customer,
    otherKey: keys.solana.treasury,
    wallet: 'Stand-in for Solana',
    request: 'signMessage',
    options: desktop,
    install: (page, secret, behaviour) =>
      solanaWallet(page, { secret, rpcUrl: 'http://127.0.0.1:1', ...(behaviour && { behaviour }) }),
  },
  {
    name: 'Stellar',
    asset: p.stellarUsdc,
    key: keys.stellar.customer,
    otherKey: keys.stellar.treasury,
    wallet: 'Freighter',
    request: 'SUBMIT_BLOB',
    options: phone,
    install: (page, secret, behaviour) =>
      freighter(page, { secret, network: publicNetwork, ...(behaviour && { behaviour }) }),
  },
];

describe('a refund address, signed in a wallet of the browser', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  /** A payment whose money is held: it came from the wallet of this key. */
  async function held({ asset, key }: Family): Promise<{ readonly id: string; readonly path: string }> {
    const { body } = await world.call('POST', '/payment-api/payments', {
      headers: world.keys.wallet,
      body: goodRequest(),
    });
    const from = messageSigner(key).address;
    const transfer: Transfer = { ...p.payin({ amount: '3.00', in: asset }), from };
    const isOwn = asset === p.baseUsdc;
    const ended = isOwn ? p.bounced('amountTooLow', '3.00') : p.bouncedOther('wrongChain', '3.00', asset);
    await world.happen(body.id, [p.confirmed(transfer), ended]);
    return { id: body.id, path: `/pay/${paymentSecrets.secretOf(body.id)}` };
  }

  const proven = async (id: string): Promise<string> => {
    const { body } = await world.call('GET', `/payment-api/payments/${id}/refunds`, {
      headers: world.keys.walletAdmin,
    });
    return body.held[0].provenAmount;
  };
  const signButton = (page: Page) => page.locator('#wallets').getByRole('button', { name: /^Sign with/ });
  const told = (page: Page, text: RegExp) => page.locator('.told-wallet').filter({ hasText: text }).waitFor();

  /** The page that asks for the signature. */
  async function toSign(page: Page, path: string): Promise<void> {
    await page.goto(`${path}/refund?lang=en`);
    await page.getByRole('button', { name: 'Show the text to sign' }).click();
    await signButton(page).waitFor();
  }

  async function visit(
    { options, install, key }: Family,
    act: (page: Page, wallet: Asked) => Promise<void>,
    more: { readonly behaviour?: Behaviour; readonly withKey?: string } = {},
  ): Promise<void> {
    const { page, leave } = await visitor(world.url, options);
    const wallet = await install(page, more.withKey ?? key, more.behaviour);
    await act(page, wallet);
    await leave();
  }

  for (const family of families) {
    const { name, key, wallet, request } = family;

    it(`is the paying account by default, and one press signs and saves it: ${name}`, async () => {
      const { id, path } = await held(family);
      await visit(family, async (page, { asked }) => {
        await page.goto(`${path}/refund?lang=en`);
        assert.equal(await page.getByLabel(/^Address on/).inputValue(), messageSigner(key).address);
        assert.match((await page.locator('.ask').textContent()) ?? '', /network cost of less than \$0\.01/);
        await page.getByRole('button', { name: 'Show the text to sign' }).click();
        await page.getByRole('button', { name: `Sign with ${wallet}`, exact: true }).waitFor();
        assert.deepEqual(await obstacles(page), []);
        await signButton(page).evaluate((button: HTMLButtonElement) => {
          for (let times = 0; times < 3; times += 1) button.click();
        });
        await page.getByText('The refund goes to').waitFor();
        assert.equal(asked.filter((each) => each === request).length, 1);
      });
      assert.equal(await proven(id), '3.00');
    });

    it(`is not saved after a press that signs nothing of the paying account: ${name}`, async () => {
      const { id, path } = await held(family);
      const notSigned = /The wallet did not sign. Choose the account that paid/;
      await visit(
        family,
        async (page, { asked }) => {
          await toSign(page, path);
          await signButton(page).click();
          await told(page, notSigned);
          assert.ok(!asked.includes(request), 'another account is asked for no signature');
        },
        { withKey: family.otherKey },
      );
      await visit(
        family,
        async (page) => {
          await toSign(page, path);
          await signButton(page).click();
          await told(page, notSigned);
          assert.equal(await page.getByLabel('Signature').inputValue(), '');
          assert.equal(await signButton(page).isEnabled(), true);
        },
        { behaviour: declines(request) },
      );
      assert.equal(await proven(id), '0.00');
    });
  }

  const [evm, solana, stellar] = families as [Family, Family, Family];
  const answers: readonly (readonly [what: string, family: Family, answer: unknown])[] = [
    ['an object', evm, { signature: '0x' }],
    ['a text of 10 MB', evm, 'f'.repeat(10_000_000)],
    ['too few bytes', solana, [1, 2, 3]],
    ['no text', stellar, { signedBlob: null }],
  ];
  for (const [what, family, answer] of answers) {
    it(`is not sent when the wallet answers ${what}`, async () => {
      const { path } = await held(family);
      await visit(
        family,
        async (page) => {
          await toSign(page, path);
          await signButton(page).click();
          await told(page, /The wallet did not sign/);
          assert.equal(await page.getByLabel('Signature').inputValue(), '');
        },
        { behaviour: (method) => (method === family.request ? answer : undefined) },
      );
    });
  }

  it('is refused when the wallet signs another text, and the page asks again', async () => {
    const { id, path } = await held(evm);
    const another = await messageSigner(keys.customer).sign('another text');
    await visit(
      evm,
      async (page) => {
        await toSign(page, path);
        await signButton(page).click();
        await page.getByText('This is not a signature of this text by this account.').first().waitFor();
      },
      { behaviour: (method) => (method === 'personal_sign' ? another : undefined) },
    );
    assert.equal(await proven(id), '0.00');
  });
});
