import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type CashbackMessage, messageText } from '../../domain/credit.ts';

const message: CashbackMessage = {
  service: 'https://pay.example.com/v1/cashbacksign',
  fromAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  toHandle: 'bakery',
  amountUsdCents: 250,
  timestamp_ms: 1_795_251_600_000,
  amountLocal: 2.3,
  currencyLocal: 'EUR',
  orderId: 'order-1',
  about: 'Käse "frisch" \\ 🧀',
};

describe('the message that pays by credit', () => {
  it('has every field in its line, in JSON and printable ASCII', () =>
    assert.equal(
      messageText(message),
      [
        'Pay with cashback credit',
        'service: "https://pay.example.com/v1/cashbacksign"',
        'version: 1',
        'from_address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"',
        'to_handle: "bakery"',
        'amount_usd_cents: 250',
        'timestamp: 1795251600000',
        'amount_local: 2.3',
        'currency_local: "EUR"',
        'order_id: "order-1"',
        'about: "K\\u00e4se \\"frisch\\" \\\\ \\ud83e\\uddc0"',
      ].join('\n'),
    ));

  it('has no line for an omitted field', () => {
    const text = messageText({ ...message, amountLocal: null, currencyLocal: null, orderId: null, about: null });
    assert.ok(text.endsWith('\ntimestamp: 1795251600000'));
  });

  it('lets no value pass for another line, and no look-alike for the same text', () => {
    const forged = messageText({ ...message, orderId: null, about: '1"\norder_id: "order-1' });
    assert.equal(forged.split('\n').length, 10);
    const texts = ['a', 'a ', 'а', 'a\u200b', 'a\u0301', 'á', 'a\u202e', '\\u0061', 'a\n', 'a\u2028'].map((about) =>
      messageText({ ...message, about }),
    );
    assert.equal(new Set(texts).size, texts.length);
  });

  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('"', '\\', '\n', 'u', '0', ':', ' ', 'a', '\u2028', 'é') }),
  );
  const messages: fc.Arbitrary<CashbackMessage> = fc.record({
    service: text,
    fromAddress: text,
    toHandle: text,
    amountUsdCents: fc.nat(),
    timestamp_ms: fc.nat(),
    amountLocal: fc.option(fc.nat(1_000).map((n) => n / 100)),
    currencyLocal: fc.option(text),
    orderId: fc.option(text),
    about: fc.option(text),
  });

  it('is read back exactly, so that two requests never share one', () =>
    fc.assert(
      fc.property(messages, (said) => {
        const written = messageText(said);
        assert.match(written, /^[ -~\n]*$/);
        const lines = written.split('\n').slice(1);
        const read = Object.fromEntries(
          lines.map((line) => [line.slice(0, line.indexOf(': ')), JSON.parse(line.slice(line.indexOf(': ') + 2))]),
        );
        const fields = {
          service: said.service,
          version: 1,
          from_address: said.fromAddress,
          to_handle: said.toHandle,
          amount_usd_cents: said.amountUsdCents,
          timestamp: said.timestamp_ms,
          amount_local: said.amountLocal,
          currency_local: said.currencyLocal,
          order_id: said.orderId,
          about: said.about,
        };
        assert.deepEqual(read, Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)));
      }),
    ));
});
