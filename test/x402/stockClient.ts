/**
 * An unmodified `@x402/fetch` buys in a local world: `npm run stock-clients`. It is not part of the suite: its package
 * is installed separately, because its dependencies conflict with the service's.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { fund } from '../../sandbox/tokens.ts';
import { parseSolanaKey } from '../../src/chains/solana/signer/keys.ts';
import { systemClock } from '../../src/process/system.ts';
import { chainClient } from '../support/anvil.ts';
import { createLocalService } from '../support/localService.ts';
import type { LocalWorld } from '../support/localWorld.ts';
import type { Answer } from '../support/shop.ts';

const sources = [8453, 1, 42161, 137] as const;
const program = join(import.meta.dirname, 'buy.mjs');

describe('an unmodified @x402/fetch', () => {
  let world: LocalWorld;
  const shop = createLocalService([...sources, 501], systemClock, async (own) => {
    world = own;
    return own.settings;
  });
  before(() => shop.open());
  after(() => shop.close());

  async function create(source: number, amount: string): Promise<Answer['body']> {
    // Paid out on Solana, which no x402 client of an EVM chain reaches directly.
    const receiverAddress = parseSolanaKey(world.keys.solana.merchantWallet)?.address;
    const { status, body } = await shop.create({
      appId: shop.wallet().appId,
      type: 'exactOut',
      display: { title: 'Tea' },
      source: { chainId: source, tokenSymbol: 'USDC' },
      destination: { chainId: 501, tokenSymbol: 'USDC', amount, receiverAddress },
    });
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  }

  async function buy(source: number, amount: string, limit: readonly string[]) {
    const payment = await create(source, amount);
    const key: Hex = `0x${randomBytes(32).toString('hex')}`;
    const address = privateKeyToAddress(key);
    const rpcUrl = world.rpcUrl(source as (typeof sources)[number]);
    await fund(rpcUrl, source as (typeof sources)[number], address, { tokens: { USDC: 10_000000n } });
    const url = `${shop.url()}${new URL(payment.paymentLink).pathname}/x402`;
    const { stdout } = await promisify(execFile)(process.execPath, [program, url, key, ...limit]);
    return { payment, address, bought: JSON.parse(stdout), coin: await chainClient(rpcUrl).getBalance({ address }) };
  }

  for (const source of sources) {
    it(`buys on chain ${source} with an empty gas tank, paid out on Solana`, async () => {
      const { payment, address, bought, coin } = await buy(source, '3.00', ['$50']);
      assert.equal(bought.status, 200, JSON.stringify(bought));
      assert.deepEqual([bought.response.success, bought.response.payer, coin], [true, address, 0n]);
      const done = await shop.follow(payment.id);
      assert.deepEqual([done.status, done.source.txHash], ['payment_payout_completed', bought.response.transaction]);
    });
  }

  it('pays no more than 1 dollar unless its owner sets more', async () => {
    const { payment, bought } = await buy(8453, '3.00', []);
    assert.match(bought.error, /spendControls\.maxAmountPerPayment \(\$1/);
    assert.equal((await shop.read(payment.id)).status, 'payment_unpaid');
    const small = await buy(8453, '0.50', []);
    assert.equal(small.bought.status, 200, JSON.stringify(small.bought));
  });
});
