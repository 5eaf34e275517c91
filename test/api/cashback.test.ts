import assert from 'node:assert/strict';
import { Unavailable } from '../../commands/ports.ts';
import { epochMs, minute_ms } from '../../domain/time.ts';
import { type Body, type Buyer, buyers, type CreditWorld, createCreditWorld, signedBody } from '../support/credit.ts';
import { startWorld, steppedClock, type World } from './world.ts';

const path = '/cashback/v1/cashbacksign';

describe('POST /v1/cashbacksign', () => {
  const clock = steppedClock();
  let world: World;
  let credit: CreditWorld;
  let buyersMade = 0;
  /** A contract wallet of a chain whose nodes do not answer. */
  const unasked = '0x00000000000000000000000000000000000000C1';
  const away = () => Promise.reject(new Unavailable('Base cannot be asked at present', 5));
  before(async () => {
    const base = { acceptsMessage: async (contract: string) => (contract === unasked ? away() : false) };
    credit = createCreditWorld(clock, () => `${world.url}${path}`, '/cashback', new Map([[8453, base]]));
    world = await startWorld({ clock, cashback: credit.deps });
  });
  after(() => world.stop());

  const post = (body: unknown) => world.call('POST', path, { body });
  const now_ms = () => epochMs(clock.now());
  const order = (more: Body = {}): Body => ({ to_handle: 'demo', amount_usd_cents: 90, timestamp: now_ms(), ...more });
  const signed = (buyer: Buyer, more: Body = {}) => signedBody(buyer, `${world.url}${path}`, order(more));
  async function buyerWith(cents: bigint, family: keyof typeof buyers = 'evm'): Promise<Buyer> {
    buyersMade += 1;
    const buyer = buyers[family](buyersMade);
    if (cents > 0n) await credit.give(buyer.address, cents);
    return buyer;
  }

  describe('answers 200 with', () => {
    for (const family of ['evm', 'solana', 'stellar'] as const) {
      it(`SUCCESS to a buyer on ${family}, with every optional field`, async () => {
        const buyer = await buyerWith(250n, family);
        const more = { order_id: 'order-1', amount_local: 0.85, currency_local: 'EUR', about: 'Käse "frisch" 🧀' };
        const { status, body } = await post(await signed(buyer, more));
        assert.equal(status, 200);
        const { message, ...rest } = body;
        assert.deepEqual(rest, { status: 'success', order_id: 'order-1', payment_status: 'SUCCESS' });
        assert.match(message, /credited/);
        assert.equal(await credit.balance_cents(buyer.address), 160n);

        const [spent] = await credit.store.read(`credit-${buyer.address}`, { backwards: true, max: 1 });
        const { appId, cents, amountLocal, currencyLocal, about } = (spent?.data ?? {}) as Record<string, unknown>;
        assert.deepEqual(
          { appId, cents, amountLocal, currencyLocal, about },
          { appId: 'merchant_demo', cents: '90', amountLocal: '0.85', currencyLocal: 'EUR', about: more.about },
        );
      });
    }

    it('OUT_OF_CREDIT to a buyer who has less, and to one who never had any', async () => {
      for (const cents of [89n, 0n]) {
        const buyer = await buyerWith(cents);
        const { status, body } = await post(await signed(buyer));
        assert.equal(status, 200);
        assert.deepEqual([body.status, body.order_id, body.payment_status], ['failed', null, 'OUT_OF_CREDIT']);
        assert.equal(await credit.balance_cents(buyer.address), cents);
      }
    });

    it('EXPIRED to a time more than five minutes off, before or after', async () => {
      const buyer = await buyerWith(250n);
      for (const off_ms of [-5 * minute_ms - 1, 5 * minute_ms + 1, 365 * 24 * 60 * minute_ms]) {
        const { body } = await post(await signed(buyer, { timestamp: now_ms() + off_ms }));
        assert.equal(body.payment_status, 'EXPIRED');
      }
      for (const off_ms of [-5 * minute_ms, 5 * minute_ms]) {
        const { body } = await post(await signed(buyer, { timestamp: now_ms() + off_ms }));
        assert.equal(body.payment_status, 'SUCCESS');
      }
      assert.equal(await credit.balance_cents(buyer.address), 70n);
    });

    it('NOT_VALID_SIGN to any field that was altered after signing', async () => {
      const buyer = await buyerWith(1_000n);
      const other = await buyerWith(1_000n);
      const more = { order_id: 'order-1', amount_local: 0.85, currency_local: 'EUR', about: 'bread' };
      const good = await signed(buyer, more);
      const altered: readonly Body[] = [
        { from_address: other.address },
        { to_handle: 'bare' },
        { amount_usd_cents: 91 },
        { timestamp: now_ms() - 1 },
        { amount_local: 0.86 },
        { amount_local: null },
        { currency_local: 'USD' },
        { order_id: 'order-2' },
        { order_id: null },
        { about: 'bread\u200d' },
        { about: null },
      ];
      for (const field of altered) {
        const { status, body } = await post({ ...good, ...field });
        assert.deepEqual([status, body.payment_status], [200, 'NOT_VALID_SIGN'], JSON.stringify(field));
      }
      assert.equal(await credit.balance_cents(buyer.address), 1_000n);
      assert.equal(await credit.balance_cents(other.address), 1_000n);
    });

    it('NOT_VALID_SIGN to a signature for another service, another path, or other words', async () => {
      const buyer = await buyerWith(1_000n);
      for (const service of [
        'https://pay.example.com/v1/cashbacksign',
        `${world.url}/v1/cashbacksign`,
        `${world.url}${path}/`,
      ]) {
        const { body } = await post(await signedBody(buyer, service, order()));
        assert.equal(body.payment_status, 'NOT_VALID_SIGN');
      }
      const { body } = await post({ ...order(), from_address: buyer.address, signature: await buyer.sign('Pay 0.90') });
      assert.equal(body.payment_status, 'NOT_VALID_SIGN');
    });

    it('NOT_VALID_SIGN to invalid signatures, of another scheme, or of megabytes of zeros', async () => {
      const buyer = await buyerWith(1_000n);
      const onStellar = await buyerWith(0n, 'stellar');
      const { signature: foreign } = await signed(onStellar);
      for (const signature of ['x', '0x', '0', foreign, `0x${'00'.repeat(65)}`, `0x${'ff'.repeat(4_000)}`]) {
        const { status, body } = await post({ ...order(), from_address: buyer.address, signature });
        assert.deepEqual([status, body.payment_status], [200, 'NOT_VALID_SIGN']);
      }
    });
  });

  it('answers 503 with Retry-After, and spends nothing, while a contract wallet cannot be queried', async () => {
    await credit.give(unasked, 250n);
    const wallet = { address: unasked, sign: async () => '0xc0ffee' };
    const { status, headers, body } = await post(await signed(wallet));
    assert.deepEqual([status, body.error, headers['retry-after']], [503, 'unavailable', '5']);
    assert.match(body.message, /Base cannot be asked/);
    assert.equal(await credit.balance_cents(unasked), 250n);
  });

  describe('pays once', () => {
    it('for the same message, however often and concurrently it is sent, and also after its time', async () => {
      const buyer = await buyerWith(250n);
      const body = await signed(buyer, { order_id: 'order-1' });
      const answers = await Promise.all(Array.from({ length: 20 }, () => post(body)));
      clock.advance(60 * minute_ms);
      answers.push(await post(body));
      for (const answer of answers) assert.equal(answer.body.payment_status, 'SUCCESS');
      assert.equal(await credit.spendings(buyer.address), 1);
      assert.equal(await credit.balance_cents(buyer.address), 160n);
    });

    it('for a message whose signature was changed into its second valid form: that is refused, and spends nothing', async () => {
      const buyer = await buyerWith(250n);
      const body = await signed(buyer);
      assert.equal((await post(body)).body.payment_status, 'SUCCESS');
      const twin = twinOf(String(body['signature']));
      assert.equal((await post({ ...body, signature: twin })).body.payment_status, 'NOT_VALID_SIGN');
      assert.equal(await credit.spendings(buyer.address), 1);
    });

    it('for a message in other spellings: lower-case address, null for an omitted field, numbers like 9e1', async () => {
      const buyer = await buyerWith(250n);
      const body = await signed(buyer);
      const spelled = JSON.stringify({
        ...body,
        from_address: buyer.address.toLowerCase(),
        about: null,
        order_id: null,
      });
      const headers = { 'Content-Type': 'application/json' };
      const sent = spelled.replace('"amount_usd_cents":90', '"amount_usd_cents":9.0e1');
      assert.notEqual(sent, spelled);
      for (const each of [sent, JSON.stringify(body)]) {
        const answer = await world.call('POST', path, { headers, body: each });
        assert.equal(answer.body.payment_status, 'SUCCESS');
      }
      assert.equal(await credit.spendings(buyer.address), 1);
    });

    it('for an order, with any message; another amount is refused', async () => {
      const buyer = await buyerWith(250n);
      assert.equal((await post(await signed(buyer, { order_id: 'o' }))).body.payment_status, 'SUCCESS');
      clock.advance(1_000);
      assert.equal((await post(await signed(buyer, { order_id: 'o' }))).body.payment_status, 'SUCCESS');
      const { status, body } = await post(await signed(buyer, { order_id: 'o', amount_usd_cents: 91 }));
      assert.deepEqual([status, body.error, body.errors[0].pointer], [409, 'orderConflict', '/order_id']);
      assert.equal(await credit.balance_cents(buyer.address), 160n);
    });

    it('for exactly 100 of 200 requests that spend the last 100 units concurrently', async () => {
      const buyer = await buyerWith(100n);
      const bodies = await Promise.all(
        Array.from({ length: 200 }, (_, n) => signed(buyer, { amount_usd_cents: 1, order_id: `order-${n}` })),
      );
      const answers = await Promise.all(bodies.map(post));
      const counted = Map.groupBy(answers, ({ status, body }) => `${status} ${body.payment_status}`);
      assert.deepEqual([...counted].map(([answer, those]) => [answer, those.length]).toSorted(), [
        ['200 OUT_OF_CREDIT', 100],
        ['200 SUCCESS', 100],
      ]);
      assert.equal(await credit.balance_cents(buyer.address), 0n);
      assert.equal(await credit.spendings(buyer.address), 100);
    });
  });

  describe('refuses', () => {
    const cases: readonly (readonly [what: string, more: Body, pointer: string, says?: RegExp])[] = [
      ['no address', { from_address: undefined }, '/from_address', /required/],
      ['no handle', { to_handle: undefined }, '/to_handle', /required/],
      ['no amount', { amount_usd_cents: undefined }, '/amount_usd_cents', /required/],
      ['no time', { timestamp: undefined }, '/timestamp', /required/],
      ['no signature', { signature: undefined }, '/signature', /required/],
      ['an address that is none', { from_address: 'bakery' }, '/from_address', /address that signs/],
      ['an address with a wrong checksum', { from_address: `0x${'aB'.repeat(20)}` }, '/from_address', /checksum/],
      ['a contract on Stellar', { from_address: `C${'A'.repeat(55)}` }, '/from_address'],
      ['an address in a list', { from_address: ['0x'] }, '/from_address', /string/],
      ['nothing', { amount_usd_cents: 0 }, '/amount_usd_cents', /at least 1/],
      ['less than nothing', { amount_usd_cents: -90 }, '/amount_usd_cents', /at least 1/],
      ['parts of a cent', { amount_usd_cents: 0.5 }, '/amount_usd_cents', /integer/],
      ['an amount in text', { amount_usd_cents: '90' }, '/amount_usd_cents', /integer/],
      ['more than anybody has', { amount_usd_cents: 1_000_000_001 }, '/amount_usd_cents', /at most/],
      ['more than a number holds', { amount_usd_cents: 1e300 }, '/amount_usd_cents', /at most/],
      ['a time in seconds', { timestamp: 1_795_251_600 }, '/timestamp', /seconds.*1000/],
      ['a time in microseconds', { timestamp: 1_795_251_600_000_000 }, '/timestamp', /milliseconds/],
      ['a time before 1970', { timestamp: -1 }, '/timestamp', /at least 0/],
      ['a time in parts', { timestamp: 1_795_251_600_000.5 }, '/timestamp', /integer/],
      ['a time in words', { timestamp: '2026-11-22T10:00:00Z' }, '/timestamp', /integer/],
      ['a currency that is none', { currency_local: 'XQX', amount_local: 1 }, '/currency_local', /4217/],
      ['a currency in other letters', { currency_local: 'eur' }, '/currency_local', /currency code/],
      ['a negative local amount', { amount_local: -1 }, '/amount_local', /at least 0/],
      ['a huge local amount', { amount_local: 1e21 }, '/amount_local', /digits/],
      ['a local amount too fine', { amount_local: 0.00001 }, '/amount_local', /after the point/],
      ['a local amount in text', { amount_local: '0.85' }, '/amount_local', /number/],
      ['an order of lines', { order_id: 'a\nb' }, '/order_id', /control/],
      ['an empty order', { order_id: '' }, '/order_id', /empty/],
      ['a long order', { order_id: 'o'.repeat(129) }, '/order_id', /128/],
      ['a story of lines', { about: 'bread\nto_handle: "thief"' }, '/about', /one line/],
      ['half a character', { about: '\ud83e' }, '/about', /one line/],
      ['a long story', { about: 'a'.repeat(501) }, '/about', /500/],
      ['a signature with spaces', { signature: '0x 00' }, '/signature'],
      ['a field of its own', { nonce: 1 }, '/nonce', /not known/],
    ];
    for (const [what, more, pointer, says = /./] of cases) {
      it(`${what}: 400, with a pointer to ${pointer}`, async () => {
        const buyer = buyers.evm(1);
        const body = { from_address: buyer.address, signature: `0x${'00'.repeat(65)}`, ...order(), ...more };
        const answer = await post(body);
        assert.deepEqual([answer.status, answer.body.error], [400, 'invalidRequest']);
        const named = answer.body.errors.find((error: { pointer: string }) => error.pointer === pointer);
        assert.match(named?.message ?? JSON.stringify(answer.body), says);
      });
    }

    it('a handle of no merchant: 404, even of an app that exists by another name', async () => {
      const buyer = await buyerWith(250n);
      for (const to_handle of [
        'nobody',
        'Demo',
        'merchant_demo',
        'wallet_demo',
        '../demo',
        'demo ',
        "';--",
        'closed',
      ]) {
        const { status, body } = await post(await signed(buyer, { to_handle }));
        assert.deepEqual([status, body.error, body.errors[0].pointer], [404, 'handleNotFound', '/to_handle']);
      }
    });

    it('another method and another path', async () => {
      assert.equal((await world.call('GET', path)).status, 405);
      assert.equal((await world.call('POST', '/v1/cashbacksign', { body: {} })).status, 404);
    });
  });
});

/** Returns the second valid ECDSA signature of the same text (−s and the other v), which anybody can compute. */
function twinOf(signature: string): string {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const s = order - BigInt(`0x${signature.slice(66, 130)}`);
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${signature.endsWith('1b') ? '1c' : '1b'}`;
}
