/** Payers who pay from a wallet in their browser, on local chains. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Hex } from 'viem';
import { type ChainId, chainOf, chains } from '../../domain/chains.ts';
import { networkId } from '../../src/chains/evm/config.ts';
import { publicNetwork } from '../../src/chains/stellar/config.ts';
import { type Visitor, type VisitorOptions, visitor } from '../support/chromium.ts';
import { createLocalService, type LocalService } from '../support/localService.ts';
import type { Answer, Json } from '../support/shop.ts';
import {
  type Behaviour,
  type EvmWallet,
  evmWallet,
  freighter,
  type SigningWallet,
  solanaWallet,
} from '../support/standInWallets.ts';

export const receiver = '0x2222222222222222222222222222222222222222';

export const phone: VisitorOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
export const tablet: VisitorOptions = { viewport: { width: 820, height: 1180 } };
export const desktop: VisitorOptions = { viewport: { width: 1280, height: 900 } };

export interface WalletWorld {
  readonly shop: LocalService;
  create(chainId: ChainId, more?: Json, source?: Json): Promise<Answer['body']>;
  /** A page with a wallet of the chain's family. */
  withWallet(chainId: ChainId, options?: WalletVisit): Promise<WalletVisitor>;
}

export interface WalletVisit extends VisitorOptions {
  readonly behaviour?: Behaviour;
  /** Secret of a Stellar account. Default: the customer's. */
  readonly stellarSecret?: string;
  readonly evm?: { readonly on?: number; readonly knows?: readonly number[]; readonly key?: Hex };
}

export interface WalletVisitor extends Visitor {
  readonly wallet: EvmWallet | SigningWallet;
}

export const allChains: readonly ChainId[] = chains.map(({ id }) => id);

export function createWalletWorld(chainIds: readonly ChainId[]): WalletWorld {
  const shop = createLocalService(chainIds);
  const destination = chainIds.includes(8453) ? 8453 : (chainIds[0] ?? 8453);
  return {
    shop,
    async create(chainId, more = {}, source = {}) {
      const { status, body } = await shop.create({
        appId: shop.wallet().appId,
        type: 'exactOut',
        display: { title: 'Tea for two', currency: 'USD' },
        source: { chainId, tokenSymbol: 'USDC', ...source },
        destination: {
          chainId: destination,
          tokenSymbol: 'USDC',
          receiverAddress: receiver,
          ...(more['type'] !== 'anyAmount' && { amount: '3.00' }),
        },
        ...more,
      });
      assert.equal(status, 201, JSON.stringify(body));
      return body;
    },
    async withWallet(chainId, { behaviour, stellarSecret, evm, ...options } = {}) {
      const visiting = await visitor(shop.url(), options);
      const shared = behaviour ? { behaviour } : {};
      const wallet = await walletOn(visiting.page, shop, chainId, { ...shared, stellarSecret, evm });
      return { ...visiting, wallet };
    },
  };
}

function walletOn(
  page: Page,
  shop: LocalService,
  chainId: ChainId,
  {
    stellarSecret,
    evm,
    ...behaviour
  }: { readonly behaviour?: Behaviour; stellarSecret?: string | undefined; evm?: WalletVisit['evm'] | undefined },
): Promise<EvmWallet | SigningWallet> {
  const { family } = chainOf(chainId);
  const { keys } = shop.world();
  if (family === 'solana')
    return solanaWallet(page, { secret: keys.solana.customer, rpcUrl: shop.world().rpcUrl(chainId), ...behaviour });
  if (family === 'stellar')
    return freighter(page, { secret: stellarSecret ?? keys.stellar.customer, network: publicNetwork, ...behaviour });
  const served = chains.filter((chain) => chain.family === 'evm' && shop.world().rpcUrl(chain.id) !== '');
  const urls = new Map(served.map(({ id }) => [networkId(id), shop.world().rpcUrl(id)]));
  const elsewhere = served.find(({ id }) => id !== chainId);
  return evmWallet(page, {
    key: evm?.key ?? keys.customer,
    rpcUrl: (id) => urls.get(id) ?? '',
    on: evm?.on ?? networkId(elsewhere?.id ?? chainId),
    ...(evm?.knows && { knows: evm.knows }),
    ...behaviour,
  });
}

export const payButton = (page: Page) =>
  page.locator('#wallets').getByRole('button', { name: /^Pay with (?!.* without gas$)/ });
export const gasFreeButton = (page: Page) => page.locator('#wallets').getByRole('button', { name: / without gas$/ });

/** Presses once, after the page has found the wallet; the rest is automatic. */
export async function paysByOnePress(page: Page, payment: Answer['body']): Promise<void> {
  await page.goto(payment.paymentLink);
  await pressAndFollow(page);
}

/** The payer types a sum first. */
export async function paysChosenAmount(page: Page, payment: Answer['body'], amount: string): Promise<void> {
  await page.goto(`${payment.paymentLink}?lang=en`);
  await page.getByLabel('Amount in USDC').fill(amount);
  await page.getByRole('button', { name: 'Show the code for this amount' }).click();
  await pressAndFollow(page);
}

async function pressAndFollow(page: Page): Promise<void> {
  try {
    await payButton(page).click();
    await page
      .getByText(/Sent, waiting for the network|Payment detected|has been paid/)
      .first()
      .waitFor();
    await page.getByText('has been paid').waitFor();
  } catch (cause) {
    throw new Error(`the page says: ${await page.locator('main').textContent()}`, { cause });
  }
  assert.equal(await page.locator('#wallets').isVisible(), false);
}

/** The page's statement about the wallet. */
export const toldOfWallet = (page: Page, text: RegExp) => page.locator('.told-wallet').getByText(text);
