/** The MCP server of clients/mcp, called by the protocol's own client. The service behind it is hostile in most specs. */
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { type Hex, recoverTypedDataAddress } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { authorizationTypes, type Offer } from '../../clients/mcp/src/authorization.ts';
import { createServer } from '../../clients/mcp/src/server.ts';
import { readSettings, SettingsError } from '../../clients/mcp/src/settings.ts';

const serviceUrl = 'https://pay.example.com';
const link = `${serviceUrl}/pay/secret-of-a-bill`;
const privateKey = generatePrivateKey();
const payer = privateKeyToAddress(privateKey);
const usdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const now_s = 1_800_000_000;

const offer = (more: Partial<Offer['typedData']['message']> = {}, domain: object = {}, amount = '0.500000'): Offer => ({
  chainId: 8453,
  chainName: 'Base',
  tokenSymbol: 'USDC',
  tokenAddress: usdc,
  amount,
  typedData: {
    domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: usdc, ...domain },
    primaryType: 'TransferWithAuthorization',
    message: {
      to: '0x3333333333333333333333333333333333333333',
      value: '500000',
      validAfter: '0',
      validBefore: String(now_s + 900),
      nonce: `0x${'1'.repeat(64)}`,
      ...more,
    },
  },
});

const pending = { status: 'pending', transaction: null, reason: null, message: null };
const paid = { ...pending, status: 'paid', transaction: '0xabc' };

interface Sent {
  readonly url: string;
  readonly key: string | null;
  readonly body: Record<string, string>;
}

/** A service whose answers a spec writes. Records what it received. */
function service(bill: object, results: readonly (object | number | string | Error)[] = [paid]) {
  const sent: Sent[] = [];
  let posts = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    const body = init?.body ? JSON.parse(String(init.body)) : {};
    sent.push({ url: String(input), key: headers.get('x-api-key'), body });
    if (init?.method !== 'POST') return Response.json(bill);
    const result = results[Math.min(posts, results.length - 1)] ?? paid;
    posts += 1;
    if (result instanceof Error) throw result;
    if (result === 'broken off') return new Response(brokenOff());
    if (typeof result === 'string') return new Response(result, { status: 502 });
    return typeof result === 'number' ? new Response('{}', { status: result }) : Response.json(result);
  };
  return { fetch, sent, posts: () => sent.filter(({ body }) => 'signature' in body) };
}

/** A body whose connection ends before its end. */
const brokenOff = () =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from('{"status":'));
      controller.error(new TypeError('terminated'));
    },
  });

async function connected(fetch: typeof globalThis.fetch, env: Record<string, string> = {}) {
  const settings = readSettings({ PAYMENT_INTENTS_URL: serviceUrl, AGENT_PRIVATE_KEY: privateKey, ...env });
  const server = createServer(settings, { fetch, polls: 3, poll_ms: 1, now_s: () => now_s });
  const [there, here] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'spec', version: '1' });
  await Promise.all([server.connect(there), client.connect(here)]);
  return {
    tools: async () => (await client.listTools()).tools,
    async call(name: string, args: Record<string, unknown>) {
      const { content, isError = false } = await client.callTool({ name, arguments: args });
      const [{ text }] = content as [{ text: string }];
      return { isError, text, body: () => JSON.parse(text) };
    },
  };
}

describe('the MCP server', () => {
  it('has a tool that pays only if the agent has a key, and says which tools only read', async () => {
    const { fetch } = service({});
    const all = await (await connected(fetch, { PAYMENT_INTENTS_API_KEY: 'pi_live_x' })).tools();
    assert.deepEqual(
      all.map(({ name, annotations }) => [name, annotations?.readOnlyHint]),
      [
        ['read_bill', true],
        ['get_payment', true],
        ['quote_payment', true],
        ['list_payments', true],
        ['pay', false],
      ],
    );
    const server = createServer(readSettings({ PAYMENT_INTENTS_URL: serviceUrl }), { fetch });
    const [there, here] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: 'spec', version: '1' });
    await Promise.all([server.connect(there), client.connect(here)]);
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['read_bill', 'get_payment', 'quote_payment'],
    );
  });

  it('pays a bill with one signature of the terms that it checked', async () => {
    const there = service({ authorizations: [offer()], last: null }, [pending, 503, new TypeError('reset'), paid]);
    const { call } = await connected(there.fetch);
    const { isError, body } = await call('pay', { link });
    assert.equal(isError, false);
    assert.deepEqual(body(), { ...paid, signed: { amount: '0.5', chain: 'Base', payer } });
    const bodies = there.posts().map(({ body }) => body);
    assert.equal(bodies.length, 4);
    assert.deepEqual(new Set(bodies.map(({ signature }) => signature)).size, 1);
    const [{ from, to, value, validAfter, validBefore, nonce, signature } = {}] = bodies;
    const signer = await recoverTypedDataAddress({
      domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: usdc },
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message: {
        from: from as Hex,
        to: to as Hex,
        value: BigInt(value ?? 0),
        validAfter: BigInt(validAfter ?? 1),
        validBefore: BigInt(validBefore ?? 0),
        nonce: nonce as Hex,
      },
      signature: signature as Hex,
    });
    assert.deepEqual([signer, to, value], [payer, '0x3333333333333333333333333333333333333333', '500000']);
  });

  it('asks again after an answer that breaks off, or a proxy’s page: the signature exists', async () => {
    const results = ['<html>Bad Gateway</html>', 'broken off', paid];
    const there = service({ authorizations: [offer()], last: null }, results);
    const { isError, body } = await (await connected(there.fetch)).call('pay', { link });
    assert.equal(isError, false);
    assert.deepEqual([body().status, body().signed.payer], ['paid', payer]);
    assert.equal(new Set(there.posts().map((each) => each.body['signature'])).size, 1);
  });

  it('returns a result that is still pending after a bounded number of tries', async () => {
    const there = service({ authorizations: [offer()], last: null }, [pending]);
    const { body } = await (await connected(there.fetch)).call('pay', { link });
    assert.equal(body().status, 'pending');
    assert.equal(there.posts().length, 4);
  });

  for (const last of [paid, pending])
    it(`signs nothing for a bill whose authorization is ${last.status}`, async () => {
      const there = service({ authorizations: [offer()], last });
      const { body } = await (await connected(there.fetch)).call('pay', { link });
      assert.deepEqual([body().status, body().signed, there.posts()], [last.status, null, []]);
    });

  const lies: readonly (readonly [string, Offer, RegExp])[] = [
    ['another token', offer({}, { verifyingContract: `0x${'9'.repeat(40)}` }), /is not USDC/],
    ['another token beside the signed one', { ...offer(), tokenAddress: `0x${'9'.repeat(40)}` }, /is not USDC/],
    ['a chain outside the list', offer({}, { chainId: 56 }), /chain 56 is not in/],
    ['a larger sum than the bill says', offer({ value: '900000' }), /says 0\.500000, but its authorization moves 0\.9/],
    ['more than the limit', offer({ value: '1000001' }, {}, '1.000001'), /1\.000001 is above the limit of 1/],
    ['a signature that lasts for days', offer({ validBefore: String(now_s + 90_000) }), /valid for too long/],
    ['a signature that has expired', offer({ validBefore: String(now_s) }), /has expired/],
    ['a payment to the agent itself', offer({ to: payer }), /pays the agent itself/],
  ];
  for (const [what, lie, refusal] of lies)
    it(`signs nothing when the service asks for ${what}`, async () => {
      const there = service({ authorizations: [lie], last: null });
      const { isError, text } = await (await connected(there.fetch)).call('pay', { link });
      assert.equal(isError, true);
      assert.match(text, refusal);
      assert.deepEqual(there.posts(), []);
    });

  it('signs nothing for a form that is no authorization', async () => {
    const permit = { ...offer(), typedData: { ...offer().typedData, primaryType: 'Permit' } };
    const there = service({ authorizations: [permit], last: null });
    const { isError, text } = await (await connected(there.fetch)).call('pay', { link });
    assert.deepEqual([isError, text], [true, 'the service answered 200 in an unknown form']);
    assert.deepEqual(there.posts(), []);
  });

  for (const foreign of [
    'https://evil.example.com/pay/secret-of-a-bill',
    'https://pay.example.com.evil.com/pay/secret-of-a-bill',
    'https://pay.example.com@evil.com/pay/secret-of-a-bill',
    `${serviceUrl}/pay/../payment-api/payments`,
    'javascript:alert(1)',
    'not a link',
  ])
    it(`calls nobody for the link ${foreign}`, async () => {
      const there = service({ authorizations: [offer()], last: null });
      const { call } = await connected(there.fetch, { PAYMENT_INTENTS_API_KEY: 'pi_live_x' });
      for (const tool of ['pay', 'read_bill']) {
        const { isError, text } = await call(tool, { link: foreign });
        assert.equal(isError, true);
        assert.match(text, /only its bills|no payment link/);
      }
      assert.deepEqual(there.sent, []);
    });

  it('never signs for more than the total, also when it is called in parallel', async () => {
    const there = service({ authorizations: [offer()], last: null });
    const { call } = await connected(there.fetch, { SPEND_LIMIT_TOTAL: '1.20' });
    const answers = await Promise.all(Array.from({ length: 5 }, () => call('pay', { link })));
    assert.deepEqual(
      answers.map(({ isError }) => isError),
      [false, false, true, true, true],
    );
    assert.match(answers[4]?.text ?? '', /0\.5 is above the limit of 0\.2/);
  });

  it('counts a signature after a failure: its holder can still submit it', async () => {
    const failure = { ...pending, status: 'failed', reason: 'insufficient_funds', message: 'too little' };
    const there = service({ authorizations: [offer()], last: null }, [failure]);
    const { call } = await connected(there.fetch, { SPEND_LIMIT_TOTAL: '0.50' });
    assert.equal((await call('pay', { link })).body().status, 'failed');
    assert.equal((await call('pay', { link })).isError, true);
  });

  it('pays no more than its caller allows for a bill', async () => {
    const there = service({ authorizations: [offer()], last: null });
    const { isError, text } = await (await connected(there.fetch)).call('pay', { link, maxAmount: '0.49' });
    assert.equal(isError, true);
    assert.match(text, /0\.5 is above the limit of 0\.49/);
  });

  it('sends its key with reads of the app, and never with a bill', async () => {
    const there = service({ authorizations: [offer()], last: null });
    const { call } = await connected(there.fetch, { PAYMENT_INTENTS_API_KEY: 'pi_live_x' });
    await call('get_payment', { paymentId: '00000000-0000-8000-8000-000000000001' });
    await call('list_payments', {});
    await call('read_bill', { link });
    await call('pay', { link });
    assert.deepEqual(
      there.sent.map(({ key }) => key),
      ['pi_live_x', 'pi_live_x', null, null, null],
    );
  });

  it('refuses settings that it cannot use, and names the variable', () => {
    const wrong: readonly (readonly [Record<string, string>, RegExp])[] = [
      [{}, /PAYMENT_INTENTS_URL is missing/],
      [{ PAYMENT_INTENTS_URL: 'http://pay.example.com' }, /PAYMENT_INTENTS_URL must begin with https/],
      [{ PAYMENT_INTENTS_URL: serviceUrl, AGENT_PRIVATE_KEY: '0x12' }, /AGENT_PRIVATE_KEY/],
      [{ PAYMENT_INTENTS_URL: serviceUrl, SPEND_LIMIT: '-1' }, /SPEND_LIMIT must be a sum of dollars/],
    ];
    for (const [env, message] of wrong) assert.throws(() => readSettings(env), { name: SettingsError.name, message });
    assert.deepEqual(readSettings({ PAYMENT_INTENTS_URL: 'http://127.0.0.1:3000/x', SPEND_LIMIT: '$2.5' }).limits, {
      perPayment: 2_500_000n,
      total: 10_000_000n,
    });
  });
});
