import assert from 'node:assert/strict';
import fc from 'fast-check';
import { floorTo, formatAmount, parseAmount, rescale } from '../../domain/money.ts';

const decimals = fc.integer({ min: 0, max: 18 });
const amounts = fc.bigInt({ min: 0n, max: 10n ** 40n });

describe('an amount', () => {
  describe('as text', () => {
    it('is read exactly', () => {
      assert.equal(parseAmount('10.00', 6), 10_000_000n);
      assert.equal(parseAmount('0.000001', 6), 1n);
      assert.equal(parseAmount('0', 6), 0n);
      assert.equal(parseAmount('7', 0), 7n);
      assert.equal(parseAmount('1.0', 0), 1n, 'zeros behind the point say nothing');
      assert.equal(parseAmount('123.456000000000000001', 18), 123_456_000_000_000_000_001n);
    });

    it('is never rounded: finer than the token is an error', () => {
      assert.equal(parseAmount('0.0000001', 6), 'tooManyDecimals');
      assert.equal(parseAmount('1.0000000000000000001', 18), 'tooManyDecimals');
    });

    it('is plain decimal notation', () => {
      const strange = [
        '',
        ' 1',
        '1 ',
        '-1',
        '+1',
        '1e3',
        '0x10',
        '1,000',
        '1_000',
        '.5',
        '1.',
        '01',
        '00',
        'NaN',
        '١',
        '1.-5',
      ];
      for (const text of strange) assert.equal(parseAmount(text, 6), 'notDecimal', JSON.stringify(text));
    });

    it('is refused unread when it is too long', () => {
      assert.equal(parseAmount('9'.repeat(100_000), 6), 'tooLong');
      assert.equal(parseAmount(`0.${'0'.repeat(100_000)}`, 6), 'tooLong');
    });

    it('shows at least two places and no zeros beyond', () => {
      assert.equal(formatAmount(10_000_000n, 6), '10.00');
      assert.equal(formatAmount(1n, 6), '0.000001');
      assert.equal(formatAmount(1_500_000n, 6), '1.50');
      assert.equal(formatAmount(0n, 18), '0.00');
      assert.equal(formatAmount(42n, 0), '42.00');
      assert.equal(formatAmount(-1_500_000n, 6), '-1.50');
    });

    it('is unchanged after conversion to text and back', () => {
      fc.assert(
        fc.property(amounts, decimals, (value, places) => {
          assert.equal(parseAmount(formatAmount(value, places), places), value);
        }),
      );
    });

    it('reads as the same number as it is written', () => {
      const text = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 15n }), fc.stringMatching(/^\d{0,18}$/));
      fc.assert(
        fc.property(text, ([whole, fraction]) => {
          const value = parseAmount(fraction ? `${whole}.${fraction}` : `${whole}`, 18);
          assert.equal(value, whole * 10n ** 18n + BigInt(fraction.padEnd(18, '0')));
        }),
      );
    });
  });

  describe('between tokens', () => {
    it('is converted exactly if the other token is finer, and rounded down if it is coarser', () => {
      assert.equal(rescale(1_000_000n, 6, 18), 10n ** 18n);
      assert.equal(rescale(1_999_999_999_999n, 18, 6), 1n);
      assert.equal(rescale(19n, 7, 6), 1n);
      assert.equal(floorTo(1_999_999n, 6, 2), 1_990_000n);
      assert.equal(floorTo(1_999_999n, 6, 7), 1_999_999n);
    });

    it('loses less than one unit of the coarser token', () => {
      fc.assert(
        fc.property(amounts, decimals, decimals, (value, from, to) => {
          const cut = value - rescale(rescale(value, from, to), to, from);
          const unit = from > to ? 10n ** BigInt(from - to) : 1n;
          assert.ok(cut >= 0n && cut < unit);
          assert.equal(floorTo(value, from, to), value - cut);
        }),
      );
    });
  });
});
