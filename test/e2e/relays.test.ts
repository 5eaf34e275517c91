/** Payers without gas on local chains: one signature pays a payment, which is paid out on another chain. */
import assert from 'node:assert/strict';
import { type Address, createWalletClient, encodeFunctionData, type Hex, parseAbi, parseSignature } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { chainOf, findToken } from '../../domain/chains.ts';
import { localRpc } from '../../sandbox/localRpc.ts';
import { patientFetch } from '../../sandbox/patientFetch.ts';
import { fund } from '../../sandbox/tokens.ts';
import { systemClock } from '../../src/process/system.ts';
import { chainClient } from '../support/anvil.ts';
import { historyAt } from '../support/history.ts';
import { createLocalService } from '../support/localService.ts';
import type { LocalWorld } from '../support/localWorld.ts';
import type { Answer } from '../support/shop.ts';
import { demoOwner } from '../support/signIn.ts';
import { type Asked, anyPayer, ask402, authorize, headerOf, nowSeconds, type Requirement } from '../support/x402.ts';

const [base, ethereum] = [8453, 1] as const;
const { address: usdc } = findToken(chainOf(base), 'USDC') ?? assert.fail();
const receiver = '0x3333333333333333333333333333333333333333';
const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transfer(address to, uint256 amount) returns (bool)',
]);

describe('paying without gas', () => {
  let world: LocalWorld;
  const shop = createLocalService([base, ethereum], systemClock, async (own) => {
    world = own;
    return { ...own.settings, POLL_MS_8453: '100', POLL_MS_1: '100' };
  });
  before(() => shop.open());
  after(() => shop.close());

  async function create(more: object = {}): Promise<Answer['body']> {
    const { status, body } = await shop.create({
      appId: shop.wallet().appId,
      type: 'exactOut',
      display: { title: 'Tea', currency: 'USD' },
      source: { chainId: base, tokenSymbol: 'USDC' },
      destination: { chainId: ethereum, tokenSymbol: 'USDC', amount: '3.00', receiverAddress: receiver },
      ...more,
    });
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  }

  async function payerWith(units: bigint): Promise<PrivateKeyAccount> {
    const payer = anyPayer();
    await fund(world.rpcUrl(base), base, payer.address, { tokens: { USDC: units } });
    return payer;
  }

  const linkOf = ({ paymentLink }: Answer['body']): string => `${shop.url()}${new URL(paymentLink).pathname}`;
  const billOf = async (link: string): Promise<Requirement> => (await ask402(link)).required.accepts[0];
  const coinOf = (address: Address) => chainClient(world.rpcUrl(base)).getBalance({ address });
  const paidTo = (to: string) => shop.balance(base, 'USDC', to);

  it('requests the payment’s own terms, and stores nothing for it', async () => {
    const payment = await create();
    const { status, required, body, headers } = await ask402(linkOf(payment));
    assert.equal(status, 402);
    const { accepts, ...rest } = required;
    assert.deepEqual(rest, {
      x402Version: 2,
      error: 'PAYMENT-SIGNATURE header is required',
      resource: { url: `${linkOf(payment)}/x402`, description: 'Tea', mimeType: 'application/json' },
    });
    const { maxTimeoutSeconds, ...terms } = accepts[0];
    assert.ok(maxTimeoutSeconds > 60 && maxTimeoutSeconds <= 300);
    assert.deepEqual(terms, {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: String(Math.round(Number(payment.source.amount) * 1e6)),
      asset: usdc,
      payTo: payment.source.receiverAddress,
      extra: { name: 'USD Coin', version: '2' },
    });
    assert.equal(body.accepts[0].maxAmountRequired, terms.amount);
    assert.match(headers.get('access-control-expose-headers') ?? '', /PAYMENT-REQUIRED, PAYMENT-RESPONSE/);
    assert.equal((await shop.read(payment.id)).status, 'payment_unpaid');
  });

  it('buys with one header and an empty gas tank, paid out on another chain; copies of the header get the same answer', async () => {
    const payment = await create();
    const link = linkOf(payment);
    const requirement = await billOf(link);
    const payer = await payerWith(10_000000n);
    const header = headerOf(requirement, await authorize(payer, requirement));
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => ask402(link, header)));
    const later = await ask402(link, header, { method: 'POST' });
    for (const { status, response, body } of [...answers, later]) {
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual([response.success, response.network, response.payer], [true, 'eip155:8453', payer.address]);
      assert.deepEqual(body, answers[0]?.body);
    }
    const done = await shop.follow(payment.id);
    assert.equal(done.status, 'payment_payout_completed');
    assert.equal(answers[0]?.body.transaction, done.source.txHash);
    assert.equal(await coinOf(payer.address), 0n);
    assert.equal(await paidTo(payer.address), 10_000000n - BigInt(requirement.amount));
  });

  it('accepts the header of version 1', async () => {
    const payment = await create();
    const link = linkOf(payment);
    const [old] = (await ask402(link)).body.accepts;
    const requirement = { ...old, network: 'eip155:8453', amount: old.maxAmountRequired };
    const payload = await authorize(await payerWith(10_000000n), requirement);
    const header = Buffer.from(JSON.stringify({ x402Version: 1, scheme: 'exact', network: 'base', payload }));
    const { status, headers, body } = await ask402(link, undefined, {
      headers: { 'X-PAYMENT': header.toString('base64') },
    });
    assert.equal(status, 200, JSON.stringify(body));
    const told = JSON.parse(Buffer.from(headers.get('x-payment-response') ?? '', 'base64').toString());
    assert.deepEqual([told.success, told.network], [true, 'base']);
  });

  it('refuses everything but the exact amount due, with a name for each reason', async () => {
    const payment = await create();
    const link = linkOf(payment);
    const requirement = await billOf(link);
    const payer = await payerWith(10_000000n);
    const send = async (payload: object, accepted = requirement) =>
      (await ask402(link, headerOf(accepted, payload))).response?.errorReason;
    const less = String(BigInt(requirement.amount) - 1n);
    const to = anyPayer().address;
    const sign = (altered: Parameters<typeof authorize>[2], by = payer) => authorize(by, requirement, altered);
    const { authorization } = await sign({});
    const forged = await anyPayer().signMessage({ message: 'x' });
    assert.deepEqual(
      [
        await send(await sign({ value: less })),
        // The server ignores the client's claim about accepted terms.
        await send(await sign({ value: less }), { ...requirement, amount: less }),
        await send(await sign({ to })),
        await send(await sign({ to }), { ...requirement, payTo: to }),
        await send(await sign({ validBefore: String(nowSeconds() + 2) })),
        await send(await sign({ validBefore: String(nowSeconds() + 100_000) })),
        await send(await sign({ validAfter: String(nowSeconds() + 100) })),
        await send({ authorization, signature: forged }),
        await send({ authorization, signature: `${forged}${'00'.repeat(64)}` }),
        await send(await sign({}, anyPayer())),
        await send(await sign({}), { ...requirement, network: 'eip155:56' }),
        await send(await authorize(payer, { ...requirement, extra: { name: 'USDC', version: '2' } })),
      ],
      [
        'invalid_exact_evm_payload_authorization_value_mismatch',
        'invalid_exact_evm_payload_authorization_value_mismatch',
        'invalid_exact_evm_payload_recipient_mismatch',
        'invalid_exact_evm_payload_recipient_mismatch',
        'invalid_exact_evm_payload_authorization_valid_before',
        'invalid_exact_evm_payload_authorization_valid_before',
        'invalid_exact_evm_payload_authorization_valid_after',
        'invalid_exact_evm_signature',
        'invalid_exact_evm_signature',
        'invalid_exact_evm_insufficient_balance',
        'invalid_network',
        'invalid_exact_evm_signature',
      ],
    );
    for (const wrong of ['no base64 %', Buffer.from('{}').toString('base64'), 'x'.repeat(9_000)])
      assert.equal((await ask402(link, wrong)).status, 400);
    assert.equal((await shop.read(payment.id)).status, 'payment_unpaid');
    assert.equal(await paidTo(payer.address), 10_000000n);
  });

  it('settles one of two different authorizations of one bill: nobody pays twice', async () => {
    const payment = await create();
    const link = linkOf(payment);
    const requirement = await billOf(link);
    const [ann, bob] = [await payerWith(10_000000n), await payerWith(10_000000n)];
    const headers = await Promise.all(
      [ann, bob].map(async (payer) => headerOf(requirement, await authorize(payer, requirement))),
    );
    const answers = await Promise.all(headers.map((header) => ask402(link, header)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 402]);
    assert.equal(answers.find(({ status }) => status === 402)?.response.errorReason, 'duplicate_settlement');
    await shop.follow(payment.id);
    const left = (await paidTo(ann.address)) + (await paidTo(bob.address));
    assert.equal(left, 20_000000n - BigInt(requirement.amount));
    const asked = await ask402(link);
    assert.deepEqual([asked.status, asked.body.status, asked.required], [200, 'paid', null]);
  });

  it('counts the payin when somebody else sends the authorization first', async () => {
    const payment = await create();
    const link = linkOf(payment);
    const requirement = await billOf(link);
    const payer = await payerWith(10_000000n);
    const signed = await authorize(payer, requirement);
    await sendByStranger(signed);
    // The token reports the authorization as used: the service sends nothing, and the payin pass finds the money.
    const { status, body } = await ask402(link, headerOf(requirement, signed));
    assert.equal(status, 200, JSON.stringify(body));
    const done = await shop.follow(payment.id);
    assert.equal(done.status, 'payment_payout_completed');
    assert.deepEqual((await ask402(link, headerOf(requirement, signed))).body, body);
    assert.equal(await paidTo(payer.address), 10_000000n - BigInt(requirement.amount));
  });

  it('gives a page the data that a wallet signs, with a nonce of the server’s, and accepts the signature once', async () => {
    const payment = await create();
    const link = linkOf(payment);
    const seen = await (await patientFetch(`${link}/authorization`)).json();
    const [offer] = seen.authorizations;
    assert.deepEqual([offer.chainId, offer.tokenSymbol, seen.last], [base, 'USDC', null]);
    const payer = await payerWith(10_000000n);
    const { EIP712Domain: _, ...types } = offer.typedData.types;
    const message = { ...offer.typedData.message, from: payer.address };
    const signature = await payer.signTypedData({ ...offer.typedData, types, message });
    const again = (await (await patientFetch(`${link}/authorization`)).json()).authorizations[0];
    assert.equal(again.typedData.message.nonce, message.nonce);
    const { chainId, tokenAddress } = offer;
    const hand = (body: object) =>
      fetch(`${link}/authorization`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ chainId, tokenAddress, ...message, signature, ...body }),
      });
    const refused = await hand({ value: '1' });
    assert.equal(refused.status, 400, await refused.text());
    const taken = await hand({});
    assert.ok([200, 202].includes(taken.status), await taken.text());
    await shop.follow(payment.id);
    const told = await (await hand({})).json();
    assert.equal(told.status, 'paid');
    assert.equal((await (await patientFetch(`${link}/authorization`)).json()).last.transaction, told.transaction);
    assert.equal(await paidTo(payer.address), 10_000000n - BigInt(message.value));
  });

  it('settles for a merchant’s own server what pays a deposit of the merchant’s payment, and nothing else', async () => {
    const payment = await create();
    const requirement = await billOf(linkOf(payment));
    const payer = await payerWith(10_000000n);
    const call = async (path: string, payTo = requirement.payTo) => {
      const paymentRequirements = { ...requirement, payTo };
      const paymentPayload = { x402Version: 2, accepted: paymentRequirements, payload: signed };
      const body = { x402Version: 2, paymentPayload, paymentRequirements };
      const answer = await shop.call('POST', `/x402/${path}`, { key: shop.wallet().ordersKey, body });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body;
    };
    const signed = await authorize(payer, requirement);
    assert.deepEqual(await call('verify'), { isValid: true, payer: payer.address });
    assert.equal((await call('settle', payer.address)).errorReason, 'invalid_exact_evm_payload_recipient_mismatch');
    const answers = await Promise.all([1, 2, 3].map(() => call('settle')));
    for (const each of answers) assert.deepEqual([each.success, each], [true, answers[0]]);
    assert.equal(await paidTo(payer.address), 10_000000n - BigInt(requirement.amount));
  });

  describe('with a reusable link', () => {
    const fixed = { type: 'exactIn', amount: '2.00', title: 'Tea by the cup' };
    const sources = { source: { chainId: String(base), tokenSymbol: 'USDC' } };
    let owner: Record<string, string>;
    before(async () => {
      owner = await demoOwner(shop);
    });

    async function linked(more: object = {}): Promise<string> {
      const { status, body } = await shop.call('POST', '/merchant-api/me/links', {
        headers: owner,
        body: { ...fixed, ...sources, ...more },
      });
      assert.equal(status, 201, JSON.stringify(body));
      return `${shop.url()}${new URL(body.url).pathname}`;
    }
    const paymentOf = (body: Asked['body']) =>
      patientFetch(`${body.paymentLink}/authorization`).then((each) => each.json());
    const eventsCreated = async () =>
      [...(await historyAt(shop.eventStoreUrl()))].filter(([stream]) => stream.startsWith('payment-')).length;

    it('stores nothing until a signature that can pay arrives, and makes one payment of all copies of a header', async () => {
      const link = await linked();
      const before = await eventsCreated();
      const asked = await Promise.all([1, 2, 3].map(() => ask402(link)));
      const deposits = asked.map(({ required }) => required.accepts[0].payTo);
      assert.equal(new Set(deposits).size, 3);
      const [requirement, other]: readonly Requirement[] = asked.map(({ required }) => required.accepts[0]);
      assert.ok(requirement && other);
      assert.equal(requirement.amount, '2000000');
      const poor = await ask402(link, headerOf(requirement, await authorize(anyPayer(), requirement)));
      assert.equal(poor.response.errorReason, 'invalid_exact_evm_insufficient_balance');
      const payer = await payerWith(10_000000n);
      const signed = await authorize(payer, requirement);
      // A forged quote, a quote for another deposit, and a quote of another link.
      for (const wrong of [
        { ...requirement, extra: { ...requirement.extra, quote: undefined } },
        { ...requirement, extra: { ...requirement.extra, quote: `${'a'.repeat(36)}.1.0-0.x|y` } },
      ])
        assert.equal((await ask402(link, headerOf(wrong as Requirement, signed))).status, 400);
      const mixed = await ask402(link, headerOf(other, signed));
      assert.equal(mixed.response.errorReason, 'invalid_exact_evm_payload_recipient_mismatch');
      assert.equal((await ask402(await linked(), headerOf(requirement, signed))).status, 400);
      for (const spelled of ['X402', 'x402/', '/x402', 'x402%2f', 'x402;a', '%78402'])
        assert.ok([402, 404, 405].includes((await fetch(`${link}/${spelled}`)).status), spelled);
      assert.equal(await eventsCreated(), before);

      const header = headerOf(requirement, signed);
      const answers = await Promise.all([1, 2, 3, 4, 5].map(() => ask402(link, header)));
      for (const { status, body } of [...answers, await ask402(link, header)]) {
        assert.equal(status, 200, JSON.stringify(body));
        assert.deepEqual(body, answers[0]?.body);
      }
      assert.equal(await eventsCreated(), before + 1);
      assert.equal(await paidTo(payer.address), 8_000000n);
      assert.equal((await paymentOf(answers[0]?.body)).last.transaction, answers[0]?.body.transaction);
    });

    it('has one payment for one order of a program, however often it asks for terms and signs', async () => {
      const link = `${await linked({ amount: undefined, minAmount: '1.00' })}?order=cup-of-tea-0000001&amount=1.50`;
      const [requirement, same]: readonly Requirement[] = await Promise.all(
        [1, 2].map(async () => (await ask402(link)).required.accepts[0]),
      );
      assert.ok(requirement && same);
      assert.deepEqual([requirement.payTo, requirement.amount], [same.payTo, '1500000']);
      const payer = await payerWith(10_000000n);
      const answers = await Promise.all(
        [requirement, same].map(async (each) => ask402(link, headerOf(each, await authorize(payer, each)))),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 402]);
      const again = await ask402(link);
      assert.deepEqual([again.status, again.body.status], [200, 'paid']);
      assert.equal(await paidTo(payer.address), 8_500000n);
      assert.equal((await ask402(link.replace('1.50', '0.50'))).status, 400);
      assert.equal((await ask402(link.replace('order=cup-of-tea-0000001', 'order=short'))).status, 400);
    });

    it('gives the purchase to a header whose money somebody else moved before the first answer', async () => {
      const link = await linked();
      const requirement: Requirement = (await ask402(link)).required.accepts[0];
      const payer = await payerWith(10_000000n);
      const signed = await authorize(payer, requirement);
      await sendByStranger(signed);
      const header = headerOf(requirement, signed);
      const { status, body } = await ask402(link, header);
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual((await ask402(link, header)).body, body);
      assert.equal(await paidTo(payer.address), 8_000000n);
    });

    it('makes no payment for a nonce that its payer used for another transfer', async () => {
      const link = await linked();
      const requirement: Requirement = (await ask402(link)).required.accepts[0];
      const payer = await payerWith(10_000000n);
      const signed = await authorize(payer, requirement);
      const { nonce } = signed.authorization;
      await sendByStranger(await authorize(payer, requirement, { nonce, to: anyPayer().address }));
      const before = await eventsCreated();
      const { status, response } = await ask402(link, headerOf(requirement, signed));
      assert.deepEqual([status, response.errorReason], [402, 'invalid_exact_evm_nonce_already_used']);
      assert.equal(await eventsCreated(), before);
    });
  });

  async function sendByStranger({ signature, authorization }: Awaited<ReturnType<typeof authorize>>): Promise<Hex> {
    const { r, s, v } = parseSignature(signature);
    const { from, to, value, validAfter, validBefore, nonce } = authorization;
    const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, Number(v), r, s] as const;
    const data = encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args });
    const account = privateKeyToAccount(world.keys.customer);
    const wallet = createWalletClient({ account, transport: localRpc(world.rpcUrl(base)) });
    const hash = await wallet.sendTransaction({ chain: null, to: usdc as Address, data, gas: 200_000n });
    const receipt = await chainClient(world.rpcUrl(base)).waitForTransactionReceipt({ hash });
    assert.equal(receipt.status, 'success');
    return hash;
  }
});
