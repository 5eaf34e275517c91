/** Paying without gas: the payer signs an authorization in a wallet of the browser, and the page hands it over. */
import assert from 'node:assert/strict';
import type { VNode } from 'preact';
import { payPage } from '../../web/pay/page.ts';
import { visitor } from '../support/chromium.ts';
import { evmWallet, WalletError } from '../support/standInWallets.ts';
import { servePages } from './pageServer.ts';
import { payModel, stories } from './samples/payPages.ts';
import { account, answering, base, hash, keys, type Paying, says } from './walletVisits.ts';

describe('paying without gas', () => {
  const typedData = {
    domain: { name: 'USD Coin', version: '2', chainId: base, verifyingContract: '0x' },
    primaryType: 'TransferWithAuthorization',
    types: {},
    message: { to: account, value: '10010000', validAfter: '0', validBefore: '9', nonce: hash },
  };
  const signature = `0x${'11'.repeat(65)}`;
  const authorization = { chainId: base, tokenAddress: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', typedData };

  interface Hand {
    readonly offers?: readonly object[];
    /** Answers to signatures, in order; the last one repeats. Null: the connection breaks. */
    readonly answers?: readonly (readonly [status: number, body: object] | null)[];
    readonly wallet?: Readonly<Record<string, unknown>>;
  }

  async function free(
    { offers = [authorization], answers = [], wallet = {} }: Hand,
    look: (at: Paying & { readonly posted: object[]; readonly asked: readonly string[] }) => Promise<void>,
  ) {
    const posted: object[] = [];
    const pages: Record<string, VNode> = {
      pay: payPage({ ...payModel(stories.waiting, 'en', undefined, undefined), gasFree: true }),
    };
    await using server = await servePages(pages);
    const visiting = await visitor(server.url(''));
    const { page } = visiting;
    await page.route('**/pay/authorization', async (route) => {
      if (route.request().method() === 'GET') return route.fulfill({ json: { authorizations: offers, last: null } });
      const answer = answers[Math.min(posted.length, answers.length - 1)];
      posted.push(route.request().postDataJSON());
      return answer ? route.fulfill({ status: answer[0], json: answer[1] }) : route.abort();
    });
    // The account has no coin.
    const behaviour = answering({ eth_getBalance: '0x0', eth_signTypedData_v4: signature, ...wallet });
    const { asked } = await evmWallet(page, { key: keys.customer, rpcUrl: () => '', on: base, behaviour });
    await page.goto('pay');
    await page.getByRole('button', { name: /without gas$/ }).click();
    await look({ page, server, pages, visiting, posted, asked });
    await visiting.leave();
  }

  it('signs what the server asks for, and hands the same signature over until its transaction is known', () =>
    free(
      {
        answers: [
          null,
          [202, { status: 'pending', transaction: null }],
          [200, { status: 'pending', transaction: hash }],
        ],
      },
      async ({ page, posted, asked }) => {
        await says(page, /Sent, waiting/);
        assert.equal(posted.length, 3);
        assert.deepEqual(posted[0], {
          chainId: base,
          tokenAddress: authorization.tokenAddress,
          from: account,
          ...typedData.message,
          signature,
        });
        assert.deepEqual(new Set(posted.map((each) => JSON.stringify(each))).size, 1);
        assert.ok(!asked.includes('eth_sendTransaction'));
      },
    ));

  it('says that nothing was sent where nothing is offered, or the page shows another amount', async () => {
    const other = { ...authorization, typedData: { ...typedData, message: { ...typedData.message, value: '1' } } };
    for (const offers of [[], [other]])
      await free({ offers }, async ({ page, posted, asked }) => {
        await says(page, /cannot be made without gas right now. Nothing was sent/);
        assert.ok(!asked.includes('eth_signTypedData_v4'));
        assert.deepEqual(posted, []);
      });
  });

  it('says that nothing was sent when the service refuses, or its relay ended', async () => {
    for (const answers of [
      [[409, { error: 'relayTooDear' }]],
      [
        [202, { status: 'pending', transaction: null }],
        [200, { status: 'failed', transaction: null }],
      ],
    ] as const)
      await free({ answers }, ({ page }) => says(page, /Nothing was sent. Pay with an ordinary transfer/));
  });

  it('is declined like a transfer', () =>
    free(
      {
        wallet: {
          eth_signTypedData_v4: () => {
            throw new WalletError(4001, 'User rejected the request.');
          },
        },
      },
      async ({ page, posted }) => {
        await says(page, /declined/);
        assert.deepEqual(posted, []);
      },
    ));
});
