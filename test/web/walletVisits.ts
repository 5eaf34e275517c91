/** Visits to a payment's page with stand-in wallets of EVM chains, whose answers a spec replaces one by one. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { VNode } from 'preact';
import { keepKeys } from '../../sandbox/keys.ts';
import { payPage } from '../../web/pay/page.ts';
import { type Visitor, type VisitorOptions, visitor } from '../support/chromium.ts';
import { patience_ms } from '../support/patience.ts';
import { type Behaviour, type EvmWallet, evmWallet, nothing, WalletError } from '../support/standInWallets.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { type PageServer, servePages } from './pageServer.ts';
import { payModel, type StoryName, stories } from './samples/payPages.ts';

export const keys = keepKeys(temporaryDirectory());
export const base = 8453;
export const hash = `0x${'ab'.repeat(32)}`;
export const account = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

/** Answers everything, so that no chain is called. */
const easy: Readonly<Record<string, unknown>> = {
  eth_requestAccounts: [account],
  eth_accounts: [account],
  eth_call: `0x${(10n ** 12n).toString(16)}`,
  eth_getBalance: '0x1',
  eth_sendTransaction: hash,
  eth_getTransactionReceipt: null,
  eth_getTransactionByHash: null,
  eth_getBlockByNumber: { timestamp: '0x69000000' },
};

/** @param answers of methods instead of the default ones: values, or functions of the number of earlier calls */
export function answering(answers: Readonly<Record<string, unknown>> = {}): Behaviour {
  const times = new Map<string, number>();
  return (method) => {
    const answer = method in answers ? answers[method] : easy[method];
    const before = times.get(method) ?? 0;
    times.set(method, before + 1);
    const value = typeof answer === 'function' ? answer(before) : answer;
    return value === null ? nothing : value;
  };
}

export interface Paying {
  readonly page: Page;
  readonly server: PageServer;
  readonly pages: Record<string, VNode>;
  readonly visiting: Visitor;
}

interface Setting {
  readonly story?: StoryName;
  readonly options?: VisitorOptions;
  readonly mode?: 'live' | 'sandbox';
  /** Wallets, and scripts that run before the page's own. */
  readonly install?: (page: Page) => Promise<unknown>;
}

export async function paying(
  { story = 'waiting', options, mode, install }: Setting,
  pay: (at: Paying) => Promise<void>,
): Promise<void> {
  const pages: Record<string, VNode> = { pay: payPage(payModel(stories[story], 'en', undefined, mode)) };
  await using server = await servePages(pages);
  const visiting = await visitor(server.url(''), options);
  await install?.(visiting.page);
  await visiting.page.goto('pay');
  await pay({ page: visiting.page, server, pages, visiting });
  await visiting.leave();
}

export const buttons = (page: Page) => page.locator('#wallets ul button');
export const told = (page: Page) => page.locator('.told-wallet');
export const says = (page: Page, text: RegExp) => told(page).filter({ hasText: text }).waitFor();

/** A page with one wallet, and the requests to the wallet. */
export async function withWallet(
  answers: Readonly<Record<string, unknown>>,
  pay: (at: Paying & { readonly wallet: EvmWallet }) => Promise<void>,
  setting: Setting & { readonly on?: number; readonly knows?: readonly number[]; readonly behaviour?: Behaviour } = {},
): Promise<void> {
  let wallet: EvmWallet | undefined;
  const { on = base, knows, behaviour = answering(answers) } = setting;
  const install = async (page: Page) => {
    wallet = await evmWallet(page, { key: keys.customer, rpcUrl: () => '', on, behaviour, ...(knows && { knows }) });
  };
  await paying({ ...setting, install }, (at) => pay({ ...at, wallet: wallet as EvmWallet }));
}

/** Throws as a wallet does. */
export function fail(code: number, message: string): never {
  throw new WalletError(code, message);
}

export async function until(holds: () => boolean): Promise<void> {
  for (const until_ms = performance.now() + patience_ms; !holds(); await sleep(25))
    assert.ok(performance.now() < until_ms, String(holds));
}
