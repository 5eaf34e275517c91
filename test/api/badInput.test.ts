import assert from 'node:assert/strict';
import { badChecksum, muxedReceiver, payer, stellarReceiver } from '../support/contractPayments.ts';
import type { Sent } from './client.ts';
import { goodRequest, noTrustline, receiver, startWorld, type World } from './world.ts';

const base = '/payment-api/payments';
const destination = goodRequest()['destination'] as object;
const exactIn = (amount: unknown, source: object = {}) => ({
  type: 'exactIn',
  source: { chainId: 8453, tokenSymbol: 'USDC', amount, ...source },
  destination: { ...destination, amount: undefined },
});
const out = (more: object) => ({ destination: { ...destination, ...more } });
const intoContract = (source: object) => ({
  type: 'anyAmount',
  intent: 'stellar_payin_contracts',
  source: { chainId: 1500, tokenSymbol: 'USDC', senderAddress: payer, ...source },
  destination: { ...destination, amount: undefined },
});
const toStellar = (more: object) => out({ chainId: 1500, receiverAddress: stellarReceiver, ...more });
const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) });

const item = { name: 'Tea', quantity: 1, amount: '10.00' };
const items = (changed: object) => ({ display: { lineItems: [{ ...item, ...changed }] } });

/** Name, change of a good request, pointer in the answer, words of its message. */
const wrongFields: readonly (readonly [string, object, string, RegExp])[] = [
  ['an unknown field', { color: 'red' }, '/color', /is not known here/],
  ['a missing field', { source: { tokenSymbol: 'USDC' } }, '/source/chainId', /is required/],
  ['a payment of no type and no amount', { type: undefined, ...out({ amount: undefined }) }, '/type', /or a type/],
  ['a missing source', { source: undefined }, '/source', /is required/],
  ['a number for a text', { orderId: 7 }, '/orderId', /must be a string or null/],
  ['a list for an object', { display: [] }, '/display', /must be an object or null/],
  ['an unknown type', { type: 'exactly' }, '/type', /exactIn, exactOut, anyAmount/],
  ['an unknown intent', { intent: 'magic' }, '/intent', /stellar_payin_contracts/],
  [
    'a contract payment from another chain',
    intoContract({ chainId: 8453 }),
    '/source/chainId',
    /use source.chainId 1500/,
  ],
  ['a contract payment in another token', intoContract({ tokenSymbol: 'USDT' }), '/source/tokenSymbol', /USDC/],
  ['a contract payment of nobody', intoContract({ senderAddress: null }), '/source/senderAddress', /senderAddress/],
  [
    'a contract payment off its routes',
    { ...intoContract({}), destination: { chainId: 137, tokenSymbol: 'USDT', receiverAddress: receiver } },
    '/destination/tokenSymbol',
    /pays out USDC on Polygon/,
  ],
  ['an amount of any amount', intoContract({ amount: '1.00' }), '/source/amount', /accepts no source.amount/],
  ['a wrong strkey checksum', intoContract({ senderAddress: badChecksum }), '/source/senderAddress', /checksum/],
  ['eight decimals', { ...intoContract({ amount: '1.12345678' }), type: 'exactIn' }, '/source/amount', /7 decimals/],
  ['a memo of 29 bytes', toStellar({ receiverMemo: `${'é'.repeat(14)}x` }), '/destination/receiverMemo', /28 bytes/],
  [
    'a memo beside a muxed address',
    toStellar({ receiverMemo: '7', receiverAddress: muxedReceiver }),
    '/destination/receiverMemo',
    /M address/,
  ],
  [
    'a receiver without a trustline',
    toStellar({ receiverAddress: noTrustline }),
    '/destination/receiverAddress',
    /no trustline/,
  ],
  ['an unknown chain', { source: { chainId: 2, tokenSymbol: 'USDC' } }, '/source/chainId', /8453 \(Base\)/],
  ['a huge chain', { source: { chainId: 1e300, tokenSymbol: 'USDC' } }, '/source/chainId', /unknown chain/],
  [
    'a fractional chain',
    { source: { chainId: 1.5, tokenSymbol: 'USDC' } },
    '/source/chainId',
    /a string or an integer/,
  ],
  ['an unknown token', { source: { chainId: 1, tokenSymbol: 'DOGE' } }, '/source/tokenSymbol', /USDC, USDT/],
  ['a token that the chain lacks', { source: { chainId: 8453, tokenSymbol: 'USDT' } }, '/source/tokenSymbol', /Base/],
  ['a chain that is not offered', { source: { chainId: 501, tokenSymbol: 'USDC' } }, '/source/chainId', /not offered/],
  ['an amount as number', exactIn(10), '/source/amount', /must be a string/],
  ['a negative amount', exactIn('-1'), '/source/amount', /plain decimal string/],
  ['an exponent', exactIn('1e3'), '/source/amount', /plain decimal string/],
  ['no digits', exactIn(''), '/source/amount', /plain decimal string/],
  ['zero', exactIn('0.00'), '/source/amount', /greater than zero/],
  ['an amount of 100,000 digits', exactIn('9'.repeat(50_000)), '/source/amount', /longer than 60/],
  ['an amount above all limits', exactIn('1000000001'), '/source/amount', /limit/],
  ['19 decimals', exactIn('1.0000000000000000001'), '/source/amount', /6 decimals/],
  [
    'decimals that only one of the tokens has',
    exactIn('1.0000001', { chainId: 56 }),
    '/source/amount',
    /at most 6 decimals/,
  ],
  ['an amount that the fee eats', exactIn('0.01'), '/source/amount', /does not cover the fee/],
  ['no amount', out({ amount: undefined }), '/destination/amount', /needs destination.amount/],
  ['an amount too many', { type: 'anyAmount' }, '/destination/amount', /accepts no destination.amount/],
  [
    'a wrong checksum',
    out({ receiverAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79c8' }),
    '/destination/receiverAddress',
    /checksum/,
  ],
  ['an address that is none', out({ receiverAddress: 'me' }), '/destination/receiverAddress', /no Ethereum address/],
  ['a memo where there are none', out({ receiverMemo: 'x' }), '/destination/receiverMemo', /no memo/],
  ['no receiver', out({ receiverAddress: undefined }), '/destination/receiverAddress', /required/],
  ['a long title', { display: { title: 'x'.repeat(201) } }, '/display/title', /longer than 200/],
  ['a NUL in a text', { display: { title: 'a\u0000b' } }, '/display/title', /without control characters/],
  ['half a surrogate', { orderId: '\ud800' }, '/orderId', /without control characters/],
  ['an empty order id', { orderId: '' }, '/orderId', /must not be empty/],
  ['a currency that is none', { display: { currency: '$' } }, '/display/currency', /such as USD/],
  ['line items that do not add up', items({ amount: '9.99' }), '/display/lineItems', /make 9\.99.*is 10\.00/],
  ['a line item without a name', items({ name: undefined }), '/display/lineItems/0/name', /required/],
  ['a line item’s negative amount', items({ amount: '-1.00' }), '/display/lineItems/0/amount', /decimal string/],
  ['a line item’s quantity of nothing', items({ quantity: 0 }), '/display/lineItems/0/quantity', /at least 1/],
  ['51 line items', { display: { lineItems: Array(51).fill(item) } }, '/display/lineItems', /50/],
  ['metadata that is no object', { metadata: ['a'] }, '/metadata', /must be an object/],
  ['metadata of six levels', { metadata: deep(5) }, '/metadata/a/a/a/a/a', /deeper than 5 levels/],
  ['deep metadata', { metadata: { list: deep(500) } }, '/metadata/list/a/a/a/a', /deeper than 5 levels/],
  [
    'metadata of 4,097 bytes',
    { metadata: { a: `${'é'.repeat(2_044)}x` } },
    '/metadata',
    /has 4097 bytes.*at most 4096/,
  ],
  ['half a surrogate in metadata', { metadata: { a: [{ b: '\ud800' }] } }, '/metadata/a/0/b', /surrogate/],
  ['a NUL in a name of metadata', { metadata: { a: { '\0': 1 } } }, '/metadata/a', /a name that holds a NUL/],
  [
    'metadata that reaches for a prototype',
    { metadata: { constructor: { prototype: 1 } } },
    '/metadata/constructor',
    /name/,
  ],
  ['an appId that is none', { appId: '../..' }, '/appId', /merchant_<slug> or wallet_<slug>/],
];

describe('HTTP: bad input', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const post = (sent: Sent) =>
    world.call('POST', base, { ...sent, headers: { ...world.keys.wallet, ...sent.headers } });
  const json = { 'Content-Type': 'application/json' };

  for (const [name, change, pointer, message] of wrongFields) {
    it(`refuses ${name}, and names the place`, async () => {
      const { status, body } = await post({ body: goodRequest(change) });
      assert.deepEqual([status, body.error], [400, 'invalidRequest']);
      const found = body.errors.find((error: { pointer: string }) => error.pointer === pointer);
      assert.ok(found, JSON.stringify(body.errors));
      assert.match(found.message, message);
    });
  }

  it('removes invisible characters from the names of line items, and returns the items to the holder of the key', async () => {
    const { status, body } = await post({ body: goodRequest(items({ name: 'Tea\u202e\u200b' })) });
    assert.deepEqual([status, body.display?.lineItems], [201, [{ ...item, name: 'Tea' }]]);
    const unseen = await post({ body: goodRequest(items({ name: '\u200b' })) });
    assert.equal(unseen.body.errors[0].pointer, '/display/lineItems/0/name');
  });

  for (const mark of ['202e', '2066', '200b', '200e', 'feff', '00ad']) {
    const text = `a${String.fromCharCode(Number.parseInt(mark, 16))}b`;

    it(`removes U+${mark} from visible texts`, async () => {
      const display = { title: text, description: text };
      const { status, body } = await post({ body: goodRequest({ display }) });
      assert.deepEqual([status, body.display?.title, body.display?.description], [201, 'ab', 'ab']);
      const named = await post({ body: goodRequest({ display: { name: text } }) });
      assert.equal(named.body.display.name, 'ab');
    });

    it(`refuses U+${mark} in an order id, and names the place`, async () => {
      const { status, body } = await post({ body: goodRequest({ orderId: text }) });
      assert.deepEqual([status, body.errors?.[0]?.pointer], [400, '/orderId']);
      assert.match(body.errors[0].message, /direction marks/);
    });
  }

  it('refuses control characters and halves of characters in visible texts', async () => {
    for (const title of ['a\u0085b', 'a\0b', 'a\ud800b'])
      assert.equal(
        (await post({ body: goodRequest({ display: { title } }) })).body.errors[0].pointer,
        '/display/title',
      );
  });

  it('reads UTF-8 by each of its names', async () => {
    for (const type of ['utf8', 'UTF-8', '"utf-8"', 'UTF8; x=1']) {
      const headers = { 'Content-Type': `application/json; charset=${type}` };
      const { status, body } = await post({ headers, body: JSON.stringify(goodRequest({ display: { title: 'é' } })) });
      assert.deepEqual([status, body.display?.title], [201, 'é'], type);
    }
    const headers = { 'Content-Type': 'application/json; charset=latin1' };
    assert.equal((await post({ headers, body: '{}' })).status, 415);
  });

  it('refuses integers in metadata that lose digits, and asks for text instead', async () => {
    const send = (number: string) =>
      post({
        headers: json,
        body: JSON.stringify(goodRequest({ metadata: { list: [0] } })).replace('[0]', `[${number}]`),
      });
    for (const number of ['9007199254740993', '-9007199254740992', '123456789012345678901234567890']) {
      const { status, body } = await send(number);
      assert.deepEqual([status, body.errors?.[0]?.pointer], [400, '/metadata/list/0'], number);
      assert.match(body.errors[0].message, /send it as text/);
    }
    assert.equal((await send('9007199254740991')).status, 201);
  });

  it('refuses times outside the range of a row, and names the place', async () => {
    const times = [
      '0000-01-01T00:00:00Z',
      '9999-12-31T23:59:59-01:00',
      '2026-11-21T09:00:60Z',
      '0001-01-01T00:00:00+14:00',
    ];
    for (const name of ['createdAfter', 'createdBefore', 'updatedAfter']) {
      for (const time of times) {
        const path = `${base}?${name}=${encodeURIComponent(time)}`;
        const { status, body } = await world.call('GET', path, { headers: world.keys.walletAdmin });
        assert.deepEqual([status, body.errors?.[0]?.pointer], [400, `/${name}`], time);
      }
    }
  });

  it('accepts the joiners of scripts and emoji', async () => {
    const title = 'می\u200cخواهم 👩\u200d🍳';
    const { status, body } = await post({ body: goodRequest({ orderId: 'joined', display: { title } }) });
    assert.deepEqual([status, body.display.title], [201, title]);
  });

  it('refuses __proto__ at every place', async () => {
    const inside = (part: string) =>
      JSON.stringify(goodRequest({ metadata: { a: 'b', list: [{ c: 1 }] } })).replace(part, '"\\u005f_proto__":"x"');
    for (const part of ['"title":"Coffee beans"', '"a":"b"', '"c":1']) {
      assert.equal((await post({ headers: json, body: inside(part) })).status, 400);
    }
    const top = await post({ headers: json, body: '{"__proto__":{"type":"exactIn"}}' });
    assert.ok(top.body.errors.some(({ pointer }: { pointer: string }) => pointer === '/__proto__'));
  });

  it('refuses an object of ten thousand levels at every place', async () => {
    const send = (field: string) => {
      const body = JSON.stringify(goodRequest({ [field]: 0 }));
      const levels = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
      return post({ headers: json, body: body.replace(`"${field}":0`, `"${field}":${levels}`) });
    };
    assert.equal((await send('metadata')).body.errors[0].pointer, '/metadata/a/a/a/a/a');
    assert.equal((await send('display')).body.errors[0].pointer, '/display/a');
    assert.equal((await send('merchant')).status, 201, 'a field of answers is not looked at');
  });

  it('returns several errors at once, but not a thousand', async () => {
    const { body } = await post({ body: { source: { chainId: true }, type: 'exact', extra: 1 } });
    assert.deepEqual(body.errors.map(({ pointer }: { pointer: string }) => pointer).sort(), [
      '/extra',
      '/source/chainId',
      '/source/tokenSymbol',
      '/type',
    ]);
    const hostile = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, 1]));
    assert.equal((await post({ body: hostile })).body.errors.length, 20);
  });

  it('refuses bodies that are not JSON, not an object, or missing', async () => {
    for (const body of ['{', '{"a":}', '', '\u0000', '{"a":1}}']) {
      assert.equal((await post({ headers: json, body })).status, 400, JSON.stringify(body));
    }
    for (const body of ['[]', '"text"', 'null', '7', '['.repeat(20_000) + ']'.repeat(20_000)]) {
      const answer = await post({ headers: json, body });
      assert.deepEqual([answer.status, answer.body.errors[0].pointer], [400, ''], body.slice(0, 20));
    }
    assert.equal((await post({})).status, 400);
  });

  it('refuses other content types, encodings and charsets', async () => {
    const body = JSON.stringify(goodRequest());
    for (const headers of [
      { 'Content-Type': 'text/plain' },
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      { 'Content-Type': 'nonsense' },
      {},
      { ...json, 'Content-Encoding': 'gzip' },
      { 'Content-Type': 'application/json; charset=latin1' },
    ]) {
      const answer = await post({ headers, body });
      assert.deepEqual([answer.status, answer.body.error], [415, 'unsupportedMediaType'], JSON.stringify(headers));
    }
    assert.equal((await post({ headers: { 'Content-Type': 'Application/JSON; charset=utf-8' }, body })).status, 201);
  });

  it('refuses a body of 65 kB, announced or found out on the way', async () => {
    const body = JSON.stringify(goodRequest({ metadata: { a: 'x'.repeat(65_000) } }));
    const told = await post({ headers: json, body });
    assert.deepEqual([told.status, told.body.error], [413, 'payloadTooLarge']);
    const chunked = await post({
      headers: { ...json, 'Transfer-Encoding': 'chunked' },
      body,
    });
    assert.equal(chunked.status, 413);
    assert.equal((await post({ body: goodRequest() })).status, 201);
  });

  it('finds no payment by a text that is not a UUID, or by an unknown id, and refuses broken paths', async () => {
    const get = (path: string) => world.call('GET', path, { headers: world.keys.wallet });
    for (const id of ['1', 'f47ac10b-58cc-4372-a567-0e02b2c3d47', '%00', 'a'.repeat(5_000), '__proto__']) {
      for (const path of [`${base}/${id}`, `${base}/${id}/transactions`]) {
        const { status, body } = await get(path);
        assert.deepEqual([status, body.error, body.errors[0].pointer], [404, 'paymentNotFound', '/id'], id);
      }
    }
    assert.equal((await get(`${base}/f47ac10b-58cc-4372-a567-0e02b2c3d479`)).status, 404);
    assert.equal((await get(`${base}/%E0%A4%A`)).status, 400);
    assert.equal((await get(`${base}/order/wallet_demo/%00`)).body.errors[0].pointer, '/orderId');
    assert.equal((await get(`${base}/order/nobody/1`)).body.errors[0].pointer, '/appId');
  });

  it('refuses query parameters that are unknown, doubled or wrong', async () => {
    const list = (query: string) => world.call('GET', `${base}?${query}`, { headers: world.keys.walletAdmin });
    for (const [query, pointer] of [
      ['limit=0', '/limit'],
      ['limit=101', '/limit'],
      ['limit=ten', '/limit'],
      ['limit=1&limit=2', '/limit'],
      ['page=2', '/page'],
      ['status=paid', '/status'],
      ['createdAfter=yesterday', '/createdAfter'],
      ['updatedAfter=2026-13-01T00:00:00Z', '/updatedAfter'],
      ['cursor=%00', '/cursor'],
      ['__proto__=1', '/__proto__'],
    ] as const) {
      const { status, body } = await list(query);
      assert.deepEqual([status, body.errors[0].pointer], [400, pointer], query);
    }
  });

  it('refuses an invalid payin, and a payin of an unknown payment', async () => {
    const hint = { txHash: `0x${'ab'.repeat(32)}`, fromAddress: receiver };
    const nowhere = await world.call('POST', `${base}/1/payin`, { headers: world.keys.wallet, body: hint });
    assert.deepEqual([nowhere.status, nowhere.body.error], [404, 'paymentNotFound']);
    assert.equal((await world.call('POST', `${base}/1/payin`, { body: hint })).status, 401);
    const { body } = await post({ body: goodRequest() });
    const payin = (sent: object) =>
      world.call('POST', `${base}/${body.id}/payin`, { headers: world.keys.wallet, body: sent });
    assert.equal((await payin({ txHash: 'x', fromAddress: 'y' })).body.errors[0].pointer, '/txHash');
    assert.equal((await payin({ txHash: `0x${'ab'.repeat(32)}` })).body.errors[0].pointer, '/fromAddress');
  });
});
