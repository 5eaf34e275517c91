/** Freighter's own library sends the extension the messages that the page sends, and reads the same answers. */
import assert from 'node:assert/strict';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { keepKeys } from '../../sandbox/keys.ts';
import { messageSigner } from '../../sandbox/signMessage.ts';
import { publicNetwork } from '../../src/chains/stellar/config.ts';
import { emptyForm } from '../../web/parts/field.ts';
import { payPage } from '../../web/pay/page.ts';
import { refundPage } from '../../web/pay/refund.ts';
import { visitor } from '../support/chromium.ts';
import { type Behaviour, freighter } from '../support/standInWallets.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { servePages } from './pageServer.ts';
import { payModel, stories } from './samples/payPages.ts';

const secret = keepKeys(temporaryDirectory()).stellar.customer;
const account = messageSigner(secret).address;
const transaction = 'AAAAAgAAAAA=';
const preimage = 'AAAACQ==';
const text = 'Refund address\nof “payment” 1';

/** A message to the extension, without its own number. */
type Message = Readonly<Record<string, unknown>>;

/** Records each message to the extension, as the page's window hears it. */
function record(): void {
  const all: unknown[] = [];
  Object.assign(globalThis, { messages: all });
  addEventListener('message', ({ source, origin, data }) => {
    if (source === window && origin === location.origin && data?.source === 'FREIGHTER_EXTERNAL_MSG_REQUEST')
      all.push({ ...data, messageId: typeof data.messageId });
  });
}

/** An omitted value and an undefined one are equal for the extension. */
const messages = async (page: Page): Promise<readonly Message[]> =>
  // biome-ignore lint/suspicious/noExplicitAny: set by the script above
  JSON.parse(await page.evaluate(() => JSON.stringify((globalThis as any).messages.splice(0))));

async function library(): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: "import freighter from '@stellar/freighter-api'; globalThis.freighterApi = freighter;",
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    format: 'iife',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

describe('messages to Freighter', () => {
  const signs: Behaviour = (type) =>
    type === 'SUBMIT_TRANSACTION' ? { signedTransaction: 'BBBB', signerAddress: account } : undefined;
  const refund = refundPage({
    ...payModel(stories.tooLow, 'en'),
    form: emptyForm,
    toSign: { text, number: 1, sender: account, address: account, memo: null, chainId: 1500 },
  });
  const waiting = payModel(stories.waitingOnStellar, 'en');
  const pages = { pay: payPage(waiting), free: payPage({ ...waiting, gasFree: true }), refund };
  const offered = { authorizations: [{ chainId: 1500, entry: 'AQID', preimage }], last: null };
  let posted: unknown;

  async function visit(path: string, act: (page: Page) => Promise<void>): Promise<void> {
    await using server = await servePages(pages);
    const { page, leave } = await visitor(server.url(''));
    await page.addInitScript(record);
    await page.addInitScript({ content: await library() });
    await freighter(page, { secret, network: publicNetwork, behaviour: signs });
    const answers = { '/transaction': { transaction, seal: 'seal' }, '/signed': { txHash: 'ab'.repeat(32) } };
    for (const [part, json] of Object.entries(answers))
      await page.route(`**/${path}${part}`, (route) => route.fulfill({ json }));
    await page.route(`**/${path}/authorization*`, (route) => {
      if (route.request().method() === 'GET') return route.fulfill({ json: offered });
      posted = route.request().postDataJSON();
      return route.fulfill({ json: { status: 'pending', transaction: 'ab'.repeat(32) } });
    });
    await page.goto(path);
    await act(page);
    await leave();
  }

  const press = (page: Page) => page.locator('#wallets ul button').click();

  it('equal those of its library for a payment', () =>
    visit('pay', async (page) => {
      await press(page);
      await page.locator('.told-wallet').getByText('Sent, waiting').waitFor();
      const ours = await messages(page);
      const answers = await page.evaluate(
        async ({ xdr, address, networkPassphrase }) => {
          // biome-ignore lint/suspicious/noExplicitAny: set by the library above
          const api = (globalThis as any).freighterApi;
          return [
            await api.isConnected(),
            await api.requestAccess(),
            (await api.getNetworkDetails()).networkPassphrase,
            await api.signTransaction(xdr, { address, networkPassphrase }),
          ];
        },
        { xdr: transaction, address: account, networkPassphrase: publicNetwork },
      );
      assert.deepEqual(ours, await messages(page));
      assert.deepEqual(
        ours.map(({ type }) => type),
        ['REQUEST_CONNECTION_STATUS', 'REQUEST_ACCESS', 'REQUEST_NETWORK_DETAILS', 'SUBMIT_TRANSACTION'],
      );
      assert.deepEqual(answers, [
        { isConnected: true },
        { address: account },
        publicNetwork,
        { signedTxXdr: 'BBBB', signerAddress: account },
      ]);
    }));

  it('equal those of its library for an authorization entry, and both get one signature', () =>
    visit('free', async (page) => {
      await page.getByRole('button', { name: /without gas$/ }).click();
      await page.locator('.told-wallet').getByText('Sent, waiting').waitFor();
      const ours = await messages(page);
      const { signedAuthEntry } = await page.evaluate(
        async ({ entry, address, networkPassphrase }) => {
          // biome-ignore lint/suspicious/noExplicitAny: set by the library above
          const api = (globalThis as any).freighterApi;
          await api.isConnected();
          await api.requestAccess();
          await api.getNetworkDetails();
          return api.signAuthEntry(entry, { address, networkPassphrase });
        },
        { entry: preimage, address: account, networkPassphrase: publicNetwork },
      );
      // Its library asks again whether the access that was granted is allowed.
      const theirs = (await messages(page)).filter(({ type }) => type !== 'REQUEST_ALLOWED_STATUS');
      assert.deepEqual(ours, theirs);
      assert.deepEqual(posted, { chainId: 1500, entry: 'AQID', signature: signedAuthEntry });
    }));

  it('equal those of its library for a text to sign, and both get one signature', () =>
    visit('refund', async (page) => {
      await page.evaluate(() => {
        document.querySelector('form[method="post"]')?.addEventListener('submit', (event) => event.preventDefault());
      });
      await press(page);
      const field = page.getByLabel('Signature');
      await page.waitForFunction(() => document.querySelector<HTMLInputElement>('[name="signature"]')?.value !== '');
      const ours = await messages(page);
      const { signedMessage } = await page.evaluate(
        // biome-ignore lint/suspicious/noExplicitAny: set by the library above
        ({ message, address }) => (globalThis as any).freighterApi.signMessage(message, { address }),
        { message: text, address: account },
      );
      // The library asks first whether the page is allowed; the page asks for access in any case.
      const theirs = (await messages(page)).filter(({ type }) => type !== 'REQUEST_ALLOWED_STATUS');
      const [connection, access, ...signing] = ours;
      assert.deepEqual([connection?.['type'], access?.['type']], ['REQUEST_CONNECTION_STATUS', 'REQUEST_ACCESS']);
      assert.deepEqual(signing, theirs);
      assert.equal(theirs[0]?.['blob'], text);
      assert.deepEqual(signedMessage, await field.inputValue());
      assert.equal(signedMessage, await messageSigner(secret).sign(text));
    }));
});
