/**
 * Unmodified clients buy in a local world: `npm run stock-clients`. They are not part of the suite: their package is installed separately,
 * because its dependencies conflict with the service's.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Keypair, rpc } from '@stellar/stellar-sdk';
import { PublicKey } from 'solana-web3-v1';
import type { Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { fundWallet } from '../../sandbox/solana/controls.ts';
import { newSecretKey } from '../../sandbox/solana/secretKey.ts';
import { fundAccount } from '../../sandbox/stellar/controls.ts';
import { fund } from '../../sandbox/tokens.ts';
import { parseSolanaKey } from '../../src/chains/solana/signer/keys.ts';
import { systemClock } from '../../src/process/system.ts';
import { chainClient } from '../support/anvil.ts';
import { createLocalService } from '../support/localService.ts';
import type { LocalWorld } from '../support/localWorld.ts';
import type { Answer } from '../support/shop.ts';
import { demoOwner } from '../support/signIn.ts';
import { solanaClient } from '../support/solana.ts';
import { startTlsFront, type TlsFront } from '../support/tlsFront.ts';

/** Each source that takes authorizations, and each of the seven chains as a destination. */
const pairs: readonly (readonly [ChainId, ChainId])[] = [
  [8453, 501],
  [1, 1500],
  [42161, 56],
  [137, 8453],
  [8453, 1],
  [1, 42161],
  [42161, 137],
];
const file = (name: string) => join(import.meta.dirname, name);

describe('unmodified clients', () => {
  let world: LocalWorld;
  const shop = createLocalService([8453, 56, 1, 42161, 137, 501, 1500], systemClock, async (own) => {
    world = own;
    return own.settings;
  });
  let node: TlsFront;
  before(async () => {
    await shop.open();
    node = await startTlsFront(world.rpcUrl(1500));
  });
  after(async () => {
    await node.stop();
    await shop.close();
  });

  /** Receiver on a chain, which no x402 client of another one reaches directly. */
  const receiverOn = (chainId: ChainId): string | undefined =>
    ({
      501: parseSolanaKey(world.keys.solana.merchantWallet)?.address,
      1500: Keypair.fromSecret(world.keys.stellar.merchantWallet).publicKey(),
    })[chainId as number] ?? privateKeyToAddress(world.keys.merchantWallet);

  async function create(source: number, amount: string, chainId: ChainId = 501): Promise<Answer['body']> {
    const { status, body } = await shop.create({
      appId: shop.wallet().appId,
      type: 'exactOut',
      display: { title: 'Tea' },
      source: { chainId: source, tokenSymbol: 'USDC' },
      destination: { chainId, tokenSymbol: 'USDC', amount, receiverAddress: receiverOn(chainId) },
    });
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  }

  async function buy(
    source: number,
    amount: string,
    limit: readonly string[],
    { program = 'buy.mjs', to = 501 as ChainId } = {},
  ) {
    const payment = await create(source, amount, to);
    const bought = await buyAt(source, `${shop.url()}${new URL(payment.paymentLink).pathname}/x402`, limit, program);
    return { payment, ...bought };
  }

  async function buyAt(source: number, url: string, limit: readonly string[], program: string) {
    const key: Hex = `0x${randomBytes(32).toString('hex')}`;
    const address = privateKeyToAddress(key);
    const rpcUrl = world.rpcUrl(source as ChainId);
    await fund(rpcUrl, source as ChainId, address, { tokens: { USDC: 10_000000n } });
    const { stdout } = await promisify(execFile)(process.execPath, [file(program), url, key, ...limit]);
    return { address, bought: JSON.parse(stdout), coin: await chainClient(rpcUrl).getBalance({ address }) };
  }

  /**
   * Runs a program until it has bought. Ledgers and blocks of this world are fast, so what a program signs may be over on a slow machine; it has
   * moved nothing then, and the program signs again.
   */
  async function untilBought(args: readonly string[], env = process.env): Promise<Answer['body']> {
    for (;;) {
      const { stdout } = await promisify(execFile)(process.execPath, args, { env });
      const bought = JSON.parse(stdout);
      if (bought.status === 503) continue;
      if (bought.status === 402 && /^expired$|_valid_before$/.test(bought.body?.error ?? '')) continue;
      assert.equal(bought.status, 200, stdout);
      return bought;
    }
  }

  /** URL of a new reusable link. */
  async function linkFrom(chainId: string): Promise<string> {
    const { status, body } = await shop.call('POST', '/merchant-api/me/links', {
      headers: await demoOwner(shop),
      body: { type: 'exactIn', amount: '2.00', source: { chainId, tokenSymbol: 'USDC' } },
    });
    assert.equal(status, 201, JSON.stringify(body));
    return body.url;
  }

  for (const [source, to] of pairs) {
    it(`@x402/fetch buys on ${chainOf(source).name} with an empty gas tank, paid out on ${chainOf(to).name}`, async () => {
      const { payment, address, bought, coin } = await buy(source, '3.00', ['$50'], { to });
      assert.equal(bought.status, 200, JSON.stringify(bought));
      assert.deepEqual([bought.response.success, bought.response.payer, coin], [true, address, 0n]);
      const done = await shop.follow(payment.id);
      assert.deepEqual([done.status, done.source.txHash], ['payment_payout_completed', bought.response.transaction]);
    });
  }

  it('@x402/stellar buys on Stellar with an entry that the relay account sends, paid out on Base', async () => {
    const payment = await create(1500, '3.00', 8453);
    const payer = Keypair.random();
    await fundAccount(world.rpcUrl(1500), payer.publicKey(), { usdc: 10_0000000n });
    const server = new rpc.Server(world.rpcUrl(1500), { allowHttp: true });
    const lumens = async () => (await server.getAccountEntry(payer.publicKey())).balance().toString();
    const before = await lumens();
    const buyWith = async (page: string) => {
      const url = `${shop.url()}${new URL(page).pathname}/x402`;
      const args = [file('buyStellar.mjs'), url, payer.secret(), node.url];
      const env = { ...process.env, NODE_EXTRA_CA_CERTS: node.caFile };
      const bought = await untilBought(args, env);
      assert.deepEqual([bought.response.success, bought.response.payer], [true, payer.publicKey()]);
      assert.equal(await lumens(), before);
      return bought;
    };
    const bought = await buyWith(payment.paymentLink);
    const done = await shop.follow(payment.id);
    assert.deepEqual([done.status, done.source.txHash], ['payment_payout_completed', bought.response.transaction]);
    // With a reusable link the memo is named before the payment exists.
    const link = await linkFrom('1500');
    const pages = [(await buyWith(link)).body.paymentLink, (await buyWith(link)).body.paymentLink];
    assert.equal(new Set(pages).size, 2);
  });

  it('@x402/svm and @solana/mpp buy on Solana with transactions whose fee the relay account pays, paid out on Arbitrum', async () => {
    const payment = await create(501, '3.00', 42161);
    const secret = newSecretKey();
    const address = parseSolanaKey(secret)?.address ?? assert.fail();
    await fundWallet(world.rpcUrl(501), address, { usdc: 10_000000n });
    const client = solanaClient(world.rpcUrl(501));
    const owner = new PublicKey(address);
    // The client takes a final blockhash: the money must be as old.
    while ((await client.balance(owner, 'finalized').catch(() => 0n)) === 0n) await setTimeout(200);
    const buyWith = async (page: string) => {
      const args = [file('buySolana.mjs'), `${shop.url()}${new URL(page).pathname}/x402`, secret, world.rpcUrl(501)];
      const bought = await untilBought(args);
      assert.deepEqual([bought.response.success, bought.response.payer], [true, address]);
      assert.equal(await client.connection.getBalance(owner), 0);
      return bought;
    };
    const bought = await buyWith(payment.paymentLink);
    const done = await shop.follow(payment.id);
    assert.deepEqual([done.status, done.source.txHash], ['payment_payout_completed', bought.response.transaction]);
    // With a reusable link the deposit is named before the payment exists.
    const link = await linkFrom('501');
    const pages = [(await buyWith(link)).body.paymentLink, (await buyWith(link)).body.paymentLink];
    assert.equal(new Set(pages).size, 2);
    const args = [file('buyMppSolana.mjs'), `${shop.url()}${new URL(link).pathname}/x402`, secret, world.rpcUrl(501)];
    const { body, receipt } = await untilBought(args);
    assert.deepEqual([receipt.method, receipt.status, receipt.reference], ['solana', 'success', body.transaction]);
    assert.equal(await client.connection.getBalance(owner), 0);
  });

  it('@x402/axios buys', async () => {
    const { payment, address, bought, coin } = await buy(8453, '3.00', [], { program: 'buyAxios.mjs' });
    assert.equal(bought.status, 200, JSON.stringify(bought));
    assert.deepEqual([bought.response.success, bought.response.payer, coin], [true, address, 0n]);
    assert.equal((await shop.follow(payment.id)).status, 'payment_payout_completed');
  });

  it('mppx buys by the Payment scheme', async () => {
    const { payment, bought, coin } = await buy(8453, '3.00', [], { program: 'buyMpp.mjs' });
    assert.equal(bought.status, 200, JSON.stringify(bought));
    const done = await shop.follow(payment.id);
    assert.deepEqual(
      [bought.used, bought.receipt.method, bought.receipt.status, bought.receipt.reference, coin],
      ['Payment', 'evm', 'success', done.source.txHash, 0n],
    );
  });

  it('@x402/fetch and mppx buy with a reusable link, which makes a payment for each', async () => {
    const url = `${shop.url()}${new URL(await linkFrom('8453')).pathname}/x402`;
    const pages = new Set<string>();
    for (const program of ['buy.mjs', 'buyMpp.mjs']) {
      const { bought } = await buyAt(8453, url, program === 'buy.mjs' ? ['$50'] : [], program);
      assert.equal(bought.status, 200, JSON.stringify(bought));
      pages.add(bought.body.paymentLink);
    }
    assert.equal(pages.size, 2);
  });

  it('@x402/express sells with our facilitator: one purchase for one order, however often it is bought', async () => {
    const { appId, ordersKey } = shop.wallet();
    const terms = {
      appId,
      type: 'exactOut',
      display: { title: 'Tea' },
      source: { chainId: 8453, tokenSymbol: 'USDC' },
      destination: {
        chainId: 501,
        tokenSymbol: 'USDC',
        amount: '2.00',
        receiverAddress: parseSolanaKey(world.keys.solana.merchantWallet)?.address,
      },
    };
    const seller = spawn(process.execPath, [file('shop.mjs'), shop.url(), ordersKey, JSON.stringify(terms)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    try {
      const [line] = await once(seller.stdout, 'data');
      const url = `${String(line).trim()}/tea?order=tea-1`;
      const { address, bought, coin } = await buyAt(8453, url, ['$50'], 'buy.mjs');
      assert.equal(bought.status, 200, JSON.stringify(bought));
      assert.deepEqual([bought.body, coin], [{ tea: 'oolong', served: 1 }, 0n]);
      assert.deepEqual([bought.response.success, bought.response.payer], [true, address]);
      const again = await buyAt(8453, url, ['$50'], 'buy.mjs');
      assert.notEqual(again.bought.status, 200, JSON.stringify(again.bought));
    } finally {
      seller.stdin.end();
      await once(seller, 'exit');
    }
  });

  it('pays no more than 1 dollar unless its owner says so', async () => {
    const { payment, bought } = await buy(8453, '3.00', []);
    assert.match(bought.error, /spendControls\.maxAmountPerPayment \(\$1/);
    assert.equal((await shop.read(payment.id)).status, 'payment_unpaid');
    const small = await buy(8453, '0.50', []);
    assert.equal(small.bought.status, 200, JSON.stringify(small.bought));
  });
});
