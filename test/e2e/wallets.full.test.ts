/** One press pays on every chain of the catalogue, at each width, in light and dark colours, and from right to left. */
import assert from 'node:assert/strict';
import { chainOf } from '../../domain/chains.ts';
import { standingOut } from '../support/obstacles.ts';
import { allChains, createWalletWorld, desktop, payButton, paysByOnePress, phone, tablet } from './wallets.ts';

const widths = { phone, tablet, desktop } as const;
const schemes = ['light', 'dark'] as const;

describe('a payer with a wallet in the browser, on every chain', () => {
  const { shop, create, withWallet } = createWalletWorld(allChains);
  before(() => shop.open());
  after(() => shop.close());

  for (const chainId of allChains) {
    for (const [width, options] of Object.entries(widths)) {
      for (const colorScheme of schemes) {
        it(`pays by one press on ${chainOf(chainId).name}, on a ${width}, ${colorScheme}`, async () => {
          const { page, leave } = await withWallet(chainId, { ...options, colorScheme });
          await paysByOnePress(page, await create(chainId));
          await leave();
        });
      }
    }

    it(`pays by one press on ${chainOf(chainId).name} from right to left`, async () => {
      const { page, leave } = await withWallet(chainId, phone);
      const payment = await create(chainId);
      await page.goto(`${payment.paymentLink}?lang=ar`);
      await page.locator('#wallets ul button').first().waitFor();
      assert.deepEqual(await standingOut(page), []);
      await page.locator('#wallets ul button').first().click();
      await page.getByRole('heading', { name: 'تم الدفع' }).waitFor();
      assert.equal(await payButton(page).isVisible(), false);
      await leave();
    });
  }
});
