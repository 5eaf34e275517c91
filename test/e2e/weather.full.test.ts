/** The main routes behind nodes with real faults: `npm start -- --weather rough`. */
import assert from 'node:assert/strict';
import { Keypair } from 'solana-web3-v1';
import { getAddress } from 'viem';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { weatherCalls } from '../../sandbox/weather/controls.ts';
import { presets } from '../../sandbox/weather/presets.ts';
import { type Answer, createSandbox } from '../support/sandbox.ts';
import { walletOrders } from '../support/walletOrders.ts';

/** Each chain is a source once, and a destination once. */
const ring: readonly ChainId[] = [8453, 56, 1, 42161, 137, 1500, 501];
const routes = ring.map((from, at) => [from, ring[(at + 1) % ring.length] as ChainId] as const);

describe('payments in rough weather', () => {
  const sandbox = createSandbox();
  before(async () => assert.equal(await sandbox.start({ WEATHER: 'rough' }), 'ready', sandbox.printed()));
  after(() => sandbox.destroy());

  const { order, create } = walletOrders(sandbox);
  const paid = new Map<ChainId, Promise<readonly [string, Answer['body']]>>();

  async function receiverOn(chainId: ChainId): Promise<string> {
    if (chainId === 501) return Keypair.generate().publicKey.toBase58();
    if (chainId === 1500) return (await sandbox.stellarAccount()).publicKey();
    return getAddress(`0x${(0x3ea7_0000 + chainId).toString(16).padStart(40, '0')}`);
  }

  async function goThrough(from: ChainId, to: ChainId): Promise<readonly [string, Answer['body']]> {
    const receiverAddress = await receiverOn(to);
    const payment = await create(order('exactOut', { chainId: from }, { chainId: to, receiverAddress, amount: '2.5' }));
    await sandbox.pay(payment);
    return [receiverAddress, await sandbox.follow(payment.id)];
  }

  before(() => {
    for (const [from, to] of routes) {
      const going = goThrough(from, to);
      // The route's own test reports a failure.
      going.catch(() => {});
      paid.set(from, going);
    }
  });

  it('are announced at the start', () => {
    assert.match(sandbox.printed(), new RegExp(`Weather +rough, seed 1: ${presets.rough.says}`));
    assert.equal(sandbox.file().weather?.name, 'rough');
  });

  for (const [from, to] of routes) {
    it(`lead from ${chainOf(from).name} to ${chainOf(to).name}, once and whole`, async () => {
      const [receiver, done] = (await paid.get(from)) ?? assert.fail();
      assert.equal(done.status, 'payment_payout_completed', JSON.stringify(done));
      const decimals = chainOf(to).tokens.find(({ symbol }) => symbol === 'USDC')?.decimals ?? 0;
      assert.equal(await sandbox.balance(to, 'USDC', receiver), 25n * 10n ** BigInt(decimals - 1));
      await sandbox.until(() => sandbox.webhooks(done.id).length === 2);
    });
  }

  it('have called every node', async () => {
    for (const urls of Object.values(sandbox.file().weather?.nodes ?? {})) {
      for (const url of urls.split(',')) assert.notDeepEqual(await weatherCalls(url), {}, url);
    }
  });
});
