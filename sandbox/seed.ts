/** The demo apps: a merchant with a settlement wallet and a wallet app that anyone may create payments for, and who owns them. Made once. */
import type { ManageMerchant } from '../commands/manageMerchant.ts';
import type { ChainId } from '../domain/chains.ts';
import { isRefusal, type Refusal } from '../domain/decider.ts';
import type { KeyScope } from '../domain/merchant/events.ts';
import type { ProfileChange } from '../domain/merchant/profile.ts';
import type { SandboxFile } from './sandboxFile.ts';

type DemoApps = Pick<SandboxFile, 'merchant' | 'wallet'>;
type DemoShop = SandboxFile['shop'];

/** Interface of the running service for seeding. */
export interface Seeded {
  readonly merchants: Merchants;
  /** The person of an e-mail address, who may sign in from then on. */
  readonly welcome: (email: string) => Promise<{ readonly developerId: string } | Refusal>;
}

interface Merchants extends ManageMerchant {
  /** Resolves once a change can be read. */
  readonly projected: (position: bigint, options: { readonly timeout_ms: number }) => Promise<void>;
}

/** Settlement wallet of the demo merchant. */
export interface MerchantWallet {
  readonly chainId: ChainId;
  readonly receiverAddress: string;
}

/** Sign-in address for trials; its mail arrives in the mailbox. */
export const demoEmail = 'demo@sandbox.example';

/** Allows for a busy machine during the start. */
const projected_ms = 120_000;

const by = { cause: 'operator:sandbox' } as const;
const merchantId = 'merchant_demo';
const walletId = 'wallet_demo';
const shopId = 'merchant_shop';
const profiles: Readonly<Record<string, ProfileChange>> = {
  [merchantId]: { name: 'Demo merchant' },
  [walletId]: { name: 'Demo wallet' },
  [shopId]: { name: 'Tea House', colour: '#93401a', supportContact: 'help@teahouse.example' },
};

/** @param known record of an earlier start: keys and secrets are returned once and cannot be read again */
export async function seed(
  { merchants, welcome }: Seeded,
  known: SandboxFile | undefined,
  world: { readonly webhookUrl: string; readonly merchantWallet: MerchantWallet },
): Promise<DemoApps> {
  const settlement = { ...world.merchantWallet, tokenSymbol: 'USDC' } as const;
  const wallet = await demoApp(merchants, walletId, world.webhookUrl, known?.wallet);
  await settled(merchants, await merchants.setKeylessCreation(walletId, true, by));
  const merchant = await demoApp(merchants, merchantId, world.webhookUrl, known?.merchant);
  await settled(merchants, await merchants.setSettlement(merchantId, settlement, by));
  const person = await welcome(demoEmail);
  if (isRefusal(person)) throw new Error(`nobody can own the demo apps: ${person.message}`);
  for (const appId of [walletId, merchantId]) {
    await settled(merchants, await merchants.setOwner(appId, person.developerId, by));
  }
  return { wallet, merchant: { ...merchant, settlement: { ...settlement, chainId: String(settlement.chainId) } } };
}

/** The app of the demo shop, whose pages may show payments in a frame. @param known as of `seed` */
export async function seedShop(
  { merchants, welcome }: Seeded,
  known: SandboxFile | undefined,
  world: { readonly shop: Pick<DemoShop, 'url' | 'webhookUrl'>; readonly merchantWallet: MerchantWallet },
): Promise<DemoShop> {
  const { url, webhookUrl } = world.shop;
  const app = await demoApp(merchants, shopId, webhookUrl, known?.shop);
  await settled(merchants, await merchants.setSettlement(shopId, { ...world.merchantWallet, tokenSymbol: 'USDC' }, by));
  const sites = [url, url.replace('127.0.0.1', 'localhost')];
  await settled(merchants, await merchants.setEmbeddingSites(shopId, sites, by));
  const person = await welcome(demoEmail);
  if (isRefusal(person)) throw new Error(`nobody can own the demo shop: ${person.message}`);
  await settled(merchants, await merchants.setOwner(shopId, person.developerId, by));
  return { ...app, url, webhookUrl };
}

/** An interrupted start may have made an app whose keys nobody knows: then new ones are issued. */
async function demoApp(
  merchants: Merchants,
  appId: string,
  webhookUrl: string,
  known: DemoApps['wallet'] | undefined,
): Promise<DemoApps['wallet']> {
  const registered = await settled(merchants, await merchants.register(appId, { webhookUrl }, by));
  if (registered.created) await settled(merchants, await merchants.setProfile(appId, profiles[appId] ?? {}, by));
  await settled(merchants, await merchants.setWebhookUrl(appId, webhookUrl, by));
  if (known && !registered.created) {
    const { ordersKey, adminKey, webhookSecret } = known;
    return { appId, ordersKey, adminKey, webhookSecret };
  }
  const issue = async (scope: KeyScope) =>
    settled(merchants, await merchants.issueKey(appId, { scope, name: `demo ${scope}`, expiresAt: null }, by));
  const orders = await issue('orders');
  const admin = await issue('admin');
  const webhookSecret =
    registered.webhookSecret ?? (await settled(merchants, await merchants.rotateSecret(appId, by))).webhookSecret;
  return { appId, ordersKey: orders.key, adminKey: admin.key, webhookSecret };
}

async function settled<T extends { readonly position: bigint | null }>(
  merchants: Merchants,
  outcome: T | Refusal,
): Promise<T> {
  if (isRefusal(outcome)) throw new Error(`the demo apps could not be made: ${outcome.message}`);
  if (outcome.position !== null) await merchants.projected(outcome.position, { timeout_ms: projected_ms });
  return outcome;
}
