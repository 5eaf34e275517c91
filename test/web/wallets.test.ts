/** Wallets on the page of a payment: hostile announcements, wallets that lie or are silent, and payers who press twice or load again. */
import assert from 'node:assert/strict';
import { build } from 'esbuild';
import { type Address, encodeFunctionData, erc20Abi } from 'viem';
import { walletOfferOf } from '../../src/chains/families.ts';
import { payPage } from '../../web/pay/page.ts';
import { obstacles, standingOut } from '../support/obstacles.ts';
import { type Behaviour, declines, type EvmWallet, evmWallet, solanaWallet } from '../support/standInWallets.ts';
import { payModel, stories } from './samples/payPages.ts';
import {
  account,
  answering,
  base,
  buttons,
  fail,
  hash,
  keys,
  paying,
  says,
  told,
  until,
  withWallet,
} from './walletVisits.ts';

/** A library as one script for an init script of a page. */
async function bundled(code: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname },
    bundle: true,
    format: 'iife',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

describe('wallets that announce themselves', () => {
  const hostile: readonly { readonly name: string; readonly icon: string }[] = [
    {
      name: '<img src=x onerror="globalThis.ran=true"><script>globalThis.ran=true</script>',
      icon: 'javascript:globalThis.ran=true',
    },
    { name: '\u202eksaMateM\u0000\u2066', icon: `data:image/png;base64,${'A'.repeat(10_000_000)}` },
    { name: 'W'.repeat(5_000), icon: 'data:text/html,<script>globalThis.ran=true</script>' },
    { name: '', icon: 'https://elsewhere.example/pixel.png' },
    {
      name: 'Scripted',
      icon: 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" onload="globalThis.ran=true"%3E%3Cscript%3EglobalThis.ran=true%3C/script%3E%3C/svg%3E',
    },
  ];

  it('are shown as short texts, with an icon only from a small picture, and nothing of theirs runs', () =>
    paying(
      {
        options: { viewport: { width: 320, height: 640 } },
        install: async (page) => {
          for (const info of hostile) await evmWallet(page, { key: keys.customer, rpcUrl: () => '', on: base, info });
        },
      },
      async ({ page }) => {
        await buttons(page)
          .nth(hostile.length - 1)
          .waitFor();
        const names = await page.locator('#wallets bdi').allTextContents();
        assert.deepEqual(names, [
          '<img src=x onerror="globalThis.ran=true"',
          'ksaMateM',
          'W'.repeat(40),
          'your wallet',
          'Scripted',
        ]);
        const found = await page.evaluate(() => ({
          ran: 'ran' in globalThis,
          icons: [...document.querySelectorAll<HTMLImageElement>('#wallets img')].map(({ src }) => src.slice(0, 18)),
          elements: document.querySelectorAll('[onerror], #wallets [src="x"], script:not([src])').length,
          sideways: document.documentElement.scrollWidth > document.documentElement.clientWidth,
        }));
        assert.deepEqual(found, { ran: false, icons: ['data:image/svg+xml'], elements: 0, sideways: false });
      },
    ));

  it('are at most twelve, and one that is announced again is listed once', () =>
    paying(
      {
        install: async (page) => {
          for (let nth = 0; nth < 14; nth += 1)
            await evmWallet(page, { key: keys.customer, rpcUrl: () => '', on: base, info: { name: `Wallet ${nth}` } });
        },
      },
      async ({ page }) => {
        await buttons(page).nth(11).waitFor();
        await page.evaluate(() => dispatchEvent(new Event('eip6963:requestProvider')));
        assert.equal(await buttons(page).count(), 12);
      },
    ));

  it('are distinguished when two announce one id and name: each is called only for its own press', async () => {
    const same = { uuid: '350670db-19fa-4704-a166-e52e178b59d2', name: 'MetaMask' };
    const wallets: EvmWallet[] = [];
    await paying(
      {
        install: async (page) => {
          for (const rdns of ['io.metamask', 'example.imitation'])
            wallets.push(
              await evmWallet(page, {
                key: keys.customer,
                rpcUrl: () => '',
                on: base,
                info: { ...same, rdns },
                behaviour: answering(),
              }),
            );
        },
      },
      async ({ page }) => {
        await buttons(page).nth(1).waitFor();
        assert.deepEqual(await page.locator('#wallets small').allTextContents(), [
          ' io.metamask',
          ' example.imitation',
        ]);
        await page.getByRole('button', { name: 'io.metamask' }).click();
        await says(page, /Sent, waiting/);
        const sends = wallets.map(({ asked }) => asked.filter((method) => method === 'eth_sendTransaction').length);
        assert.deepEqual([sends, wallets[1]?.asked], [[1, 0], []]);
      },
    );
  });

  it('are those that mipd finds', async () => {
    const store = await bundled(
      "import { createStore } from 'mipd'; const store = createStore(); globalThis.named = () => store.getProviders().map(({ info }) => info.name);",
    );
    const names = ['One', 'Two', 'Three'];
    await paying(
      {
        install: async (page) => {
          await page.addInitScript({ content: store });
          for (const name of names)
            await evmWallet(page, { key: keys.customer, rpcUrl: () => '', on: base, info: { name } });
        },
      },
      async ({ page }) => {
        await buttons(page).nth(2).waitFor();
        // biome-ignore lint/suspicious/noExplicitAny: set by the script above
        const theirs = await page.evaluate(() => (globalThis as any).named());
        assert.deepEqual(await page.locator('#wallets bdi').allTextContents(), theirs);
        assert.deepEqual(theirs, names);
      },
    );
  });

  it('are those of the Wallet Standard that can pay on the chain, as its own library finds them', async () => {
    const app = await bundled(
      "import { getWallets } from '@wallet-standard/app'; const { get } = getWallets(); globalThis.able = (chain) => get().filter(({ chains }) => chains.includes(chain)).map(({ name }) => name); globalThis.all = () => get().length;",
    );
    await paying(
      {
        story: 'waitingOnSolana',
        install: async (page) => {
          await page.addInitScript({ content: app });
          for (const chain of ['solana:mainnet', 'solana:devnet'])
            await solanaWallet(page, { secret: keys.solana.customer, rpcUrl: 'http://127.0.0.1:1', chain });
        },
      },
      async ({ page }) => {
        await buttons(page).first().waitFor();
        const theirs = await page.evaluate(() => {
          // biome-ignore lint/suspicious/noExplicitAny: set by the script above
          const { all, able } = globalThis as any;
          return [all(), able('solana:mainnet')];
        });
        assert.deepEqual(theirs, [2, ['Stand-in for Solana']]);
        assert.deepEqual(await page.locator('#wallets bdi').allTextContents(), theirs[1]);
      },
    );
  });

  it('are hidden where nobody announces any', () =>
    paying({}, async ({ page }) => {
      await page.getByRole('timer').getByText(/left$/).waitFor();
      await page.waitForTimeout(700);
      assert.equal(await page.locator('#wallets').isVisible(), false);
    }));
});

describe('a wallet that does not pay', () => {
  const declined = /You declined in the wallet. Nothing was sent/;
  const refusals: readonly (readonly [what: string, answers: Record<string, unknown>, text: RegExp])[] = [
    [
      'has another request open',
      { eth_requestAccounts: () => fail(-32002, 'Request already pending') },
      /has not answered/,
    ],
    ['has too little of the token', { eth_call: '0x1' }, /too little USDC on Base/],
    ['has no coin for the network', { eth_getBalance: '0x0' }, /too little ETH for the network cost/],
    ['has no account to show', { eth_accounts: [] }, /could not send/],
    ['fails for a reason of its own', { eth_sendTransaction: () => fail(-32603, 'Internal error') }, /could not send/],
    ['answers nothing', { eth_sendTransaction: null }, /has not shown the payment yet/],
    ['answers a text that is no hash', { eth_sendTransaction: '0x12' }, /has not shown the payment yet/],
    ['answers an object', { eth_sendTransaction: { hash } }, /has not shown the payment yet/],
  ];
  for (const [what, answers, text] of refusals) {
    it(`${what}: the page says so`, () =>
      withWallet(answers, async ({ page, server }) => {
        await buttons(page).first().click();
        await says(page, text);
        assert.deepEqual(
          server.asked.filter((asked) => asked.startsWith('POST')),
          [],
        );
      }));
  }

  for (const method of ['eth_requestAccounts', 'wallet_switchEthereumChain', 'eth_sendTransaction']) {
    it(`declines ${method}: the payer can press again`, async () => {
      const again = answering();
      let declining = true;
      const decline = declines(method);
      await withWallet(
        {},
        async ({ page, wallet }) => {
          await buttons(page).first().click();
          await says(page, declined);
          declining = false;
          await buttons(page).first().click();
          await says(page, /Sent, waiting/);
          assert.equal(wallet.asked.filter((asked) => asked === method).length, 2);
        },
        {
          on: 1,
          behaviour: (asked, params) => (declining ? decline(asked, params) : undefined) ?? again(asked, params),
        },
      );
    });
  }

  it('does not know the chain: it is asked to add it, with public endpoints', () =>
    withWallet(
      {},
      async ({ page, wallet }) => {
        await buttons(page).first().click();
        await says(page, /Sent, waiting/);
        assert.deepEqual(wallet.asked.slice(0, 7), [
          'eth_requestAccounts',
          'eth_chainId',
          'wallet_switchEthereumChain',
          'wallet_addEthereumChain',
          'eth_chainId',
          'wallet_switchEthereumChain',
          'eth_chainId',
        ]);
      },
      { on: 1, knows: [1] },
    ));

  it('claims that it switched and did not: nothing is sent', () =>
    withWallet(
      { wallet_switchEthereumChain: 'yes' },
      async ({ page, wallet }) => {
        await buttons(page).first().click();
        await says(page, /is not on Base. Nothing was sent/);
        assert.ok(!wallet.asked.includes('eth_sendTransaction'));
      },
      { on: 1 },
    ));

  it('is switched to another chain while the payer reads: nothing is sent', () =>
    withWallet({ eth_chainId: (before: number) => (before === 0 ? '0x2105' : '0x1') }, async ({ page, wallet }) => {
      await buttons(page).first().click();
      await says(page, /is not on Base. Nothing was sent/);
      assert.ok(!wallet.asked.includes('eth_sendTransaction'));
    }));

  it('is on the real chain while the page is of a simulated one: nothing is sent', async () => {
    const firstBlocks: readonly unknown[] = [
      { timestamp: '0x648a5ce5' },
      {},
      null,
      () => fail(-32601, 'the method does not exist'),
    ];
    for (const eth_getBlockByNumber of firstBlocks)
      await withWallet(
        { eth_getBlockByNumber },
        async ({ page, wallet }) => {
          await buttons(page).first().click();
          await says(page, /a real network, and this payment is a simulation/);
          assert.ok(!wallet.asked.includes('eth_sendTransaction'));
        },
        { mode: 'sandbox' },
      );
  });

  it('is on a chain that began this year: a simulated payment is sent', () =>
    withWallet(
      { eth_getBlockByNumber: { timestamp: '0x69000000' } },
      async ({ page }) => {
        await buttons(page).first().click();
        await says(page, /Sent, waiting/);
      },
      { mode: 'sandbox' },
    ));

  it('is switched to another account while the page connects: that account pays, and its balance counts', async () => {
    const other = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
    const usual = answering({ eth_accounts: [other] });
    const asked: { readonly method: string; readonly params: readonly unknown[] }[] = [];
    await withWallet(
      {},
      async ({ page }) => {
        await buttons(page).first().click();
        await says(page, /Sent, waiting/);
        const firstOf = (name: string) => asked.filter(({ method }) => method === name).map(({ params }) => params[0]);
        const senders = firstOf('eth_sendTransaction').map((sent) => (sent as { readonly from: string }).from);
        assert.deepEqual([senders, firstOf('eth_getBalance')], [[other], [other]]);
      },
      {
        behaviour(method, params) {
          asked.push({ method, params });
          return usual(method, params);
        },
      },
    );
  });

  it('is silent: after a minute the other ways are open again, and its late transaction is accepted', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    await withWallet({ eth_sendTransaction: () => promise }, async ({ page, server }) => {
      await page.clock.install();
      await page.reload();
      await buttons(page).first().click();
      await says(page, /Confirm the payment in Stand-in/);
      assert.equal(await buttons(page).first().isDisabled(), true);
      await page.clock.runFor(61_000);
      await says(page, /has not answered/);
      assert.equal(await buttons(page).first().isDisabled(), false);
      resolve(hash);
      await says(page, /Sent, waiting/);
      await until(() => server.asked.includes('POST /pay/payin'));
    });
  });
});

describe('a payment that a wallet sent', () => {
  it('is exactly the requested one, and is registered at once', async () => {
    const usual = answering();
    const sent: unknown[] = [];
    const behaviour: Behaviour = (method, params) => {
      if (method === 'eth_sendTransaction') sent.push(...params);
      return usual(method, params);
    };
    await withWallet(
      {},
      async ({ page, server }) => {
        await buttons(page).first().click();
        await says(page, /Sent, waiting for the network. Do not pay again/);
        await until(() => server.asked.includes('POST /pay/payin'));
        assert.equal(await buttons(page).first().isVisible(), false);
      },
      { behaviour },
    );
    const { sourceTokenAddress, depositAddress } = payModel(stories.waiting, 'en').facts.payment;
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [depositAddress as Address, 10_010_000n],
    });
    assert.deepEqual(sent, [{ from: account, to: sourceTokenAddress, data, value: '0x0', chainId: '0x2105' }]);
  });

  it('is sent once, however often the payer presses', () =>
    withWallet({}, async ({ page, wallet }) => {
      await buttons(page)
        .first()
        .evaluate((button: HTMLButtonElement) => {
          for (let times = 0; times < 5; times += 1) button.click();
        });
      await says(page, /Sent, waiting/);
      assert.equal(wallet.asked.filter((method) => method === 'eth_sendTransaction').length, 1);
      assert.equal(wallet.asked.filter((method) => method === 'eth_requestAccounts').length, 1);
    }));

  it('is offered on an open page when more money becomes due', () =>
    withWallet(
      { eth_getTransactionByHash: {} },
      async ({ page, pages, server, wallet }) => {
        await server.listened();
        assert.equal(await page.locator('#wallets').isVisible(), false);
        pages['pay'] = payPage(payModel(stories.underpaid, 'en'));
        server.tell();
        await buttons(page).first().click();
        await says(page, /Sent, waiting/);
        assert.equal(wallet.asked.filter((method) => method === 'eth_sendTransaction').length, 1);
      },
      { story: 'detected' },
    ));

  it('is still sent after a reload, and in the same state', () =>
    withWallet({ eth_getTransactionByHash: {} }, async ({ page, wallet }) => {
      await buttons(page).first().click();
      await says(page, /Sent, waiting/);
      await page.reload();
      await says(page, /Sent, waiting/);
      assert.equal(await buttons(page).first().isVisible(), false);
      assert.equal(wallet.asked.filter((method) => method === 'eth_sendTransaction').length, 1);
    }));

  it('is still sent after the payer states another sum, where any is accepted', async () => {
    const wanting = (amount: string) => {
      const model = payModel(stories.waitingForAny, 'en');
      return payPage({ ...model, walletOffer: walletOfferOf(model.facts.payment, amount) });
    };
    await withWallet(
      { eth_getTransactionByHash: {} },
      async ({ page, pages, wallet }) => {
        pages['pay'] = wanting('25.00');
        await page.reload();
        await buttons(page).first().click();
        await says(page, /Sent, waiting/);
        pages['pay'] = wanting('30.00');
        await page.reload();
        await says(page, /Sent, waiting/);
        assert.equal(await buttons(page).first().isVisible(), false);
        assert.equal(wallet.asked.filter((method) => method === 'eth_sendTransaction').length, 1);
      },
      { story: 'waitingForAny' },
    );
  });

  const fates: readonly (readonly [what: string, answers: Record<string, unknown>, after_ms: number, text: RegExp])[] =
    [
      [
        'was rejected by the network',
        { eth_getTransactionReceipt: { status: '0x0' } },
        5_000,
        /rejected the transaction. Nothing was paid/,
      ],
      ['was dropped or replaced', {}, 20_000, /no longer has this transaction/],
      [
        'was made of another chain’s or an old hash',
        { eth_getTransactionReceipt: { status: '0x1' } },
        125_000,
        /has not shown the payment yet/,
      ],
    ];
  for (const [what, answers, after_ms, text] of fates) {
    it(`${what}: the payer can pay again`, () =>
      withWallet(answers, async ({ page }) => {
        await page.clock.install();
        await page.reload();
        await buttons(page).first().click();
        await says(page, /Sent, waiting/);
        for (let passed_ms = 0; passed_ms < after_ms; passed_ms += 4_000) {
          await page.clock.runFor(4_000);
          await page.evaluate(() => {});
        }
        await says(page, text);
        await page.getByRole('button', { name: 'Pay again' }).click();
        assert.equal(await buttons(page).first().isEnabled(), true);
        assert.equal(await told(page).isVisible(), false);
      }));
  }

  it('is over as soon as the page shows the payment', () =>
    withWallet({}, async ({ page, server, pages }) => {
      await buttons(page).first().click();
      await says(page, /Sent, waiting/);
      pages['pay'] = payPage(payModel(stories.detected, 'en'));
      server.tell();
      await page.getByRole('heading', { name: 'Payment detected' }).waitFor();
      await page.locator('#wallets').waitFor({ state: 'hidden' });
      assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    }));
});

describe('wallets on the page', () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    it(`are accessible, found, declined and sent, in ${colorScheme}`, () =>
      withWallet(
        {
          eth_sendTransaction: (before: number) => (before === 0 ? fail(4001, 'no') : hash),
          eth_getTransactionByHash: {},
        },
        async ({ page }) => {
          await buttons(page).first().waitFor();
          assert.deepEqual(await obstacles(page), []);
          await buttons(page).first().click();
          await says(page, /You declined/);
          assert.deepEqual(await obstacles(page), []);
          await buttons(page).first().click();
          await says(page, /Sent, waiting/);
          assert.deepEqual(await obstacles(page), []);
          assert.deepEqual(await standingOut(page), []);
          assert.equal(await page.locator('.qr').isVisible(), false);
          await page.getByRole('status').filter({ hasText: 'Sent, waiting' }).waitFor();
        },
        { options: { viewport: { width: 320, height: 640 }, colorScheme } },
      ));
  }
});
