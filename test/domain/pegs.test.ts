import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pegs, tokenSymbols, usdc } from '../../domain/chain.ts';
import { assertDollarTokens, chains, PriceMissing } from '../../domain/chains.ts';
import {
  coinOf,
  convert,
  convertUp,
  type DollarUnit,
  dollarRoute,
  tokenIn,
  usCent,
  usMillionth,
} from '../../domain/money.ts';
import { agree } from '../../domain/payment/create.ts';
import { networks as testNetworks } from '../../domain/testNetworks.ts';

/** A token from a caller without types. */
const euro = { ...usdc('0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42'), symbol: 'EURC' as 'USDC' };
// @ts-expect-error: amounts are not converted to a token without a dollar peg
export const typed: DollarUnit = { symbol: 'EURC', decimals: 6 };
const dollar = usdc('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913');
const onStellar = { symbol: 'USDC', decimals: 7 } as const;

describe('a token', () => {
  it('states a peg, and all tokens of the main and test networks are US dollars', () => {
    assert.deepEqual(Object.keys(pegs), [...tokenSymbols]);
    assertDollarTokens(chains);
    assertDollarTokens(testNetworks);
  });

  it('without a dollar peg stops the start, with its chain and the next step', () => {
    assert.throws(
      () => assertDollarTokens([{ name: 'Base', tokens: [dollar, euro] }]),
      new PriceMissing(
        'EURC on Base has no peg, and payments count each token as one US dollar: remove it from the catalogue',
      ),
    );
  });

  it('without a dollar peg is never paid one to one: neither priced, nor agreed on, nor divided', () => {
    for (const refused of [
      () => convert(100n, dollar, euro),
      () => convert(100n, euro, dollar),
      () => convertUp(100n, euro, usMillionth),
      () => dollarRoute(dollar, euro),
      () => dollarRoute(euro, dollar),
      () =>
        agree({
          type: 'exactIn',
          source: { token: dollar, amount: 100_000_000n },
          destination: { token: euro, amount: null },
          feePolicy: { fixed: 10_000n, basisPoints: 10 },
        }),
    ])
      assert.throws(refused, PriceMissing);
  });
});

describe('amounts', () => {
  it('in dollar tokens are converted one to one, in their own decimals', () => {
    assert.equal(convert(1_000_000n, dollar, onStellar), 10_000_000n);
    assert.equal(convert(19n, onStellar, dollar), 1n);
    assert.equal(convertUp(11n, onStellar, dollar), 2n);
    assert.equal(convert(1_999_999n, dollar, usCent), 199n);
    assert.deepEqual(dollarRoute(dollar, onStellar), { source: 6, destination: 7, peg: 'usd' });
  });

  it('in a chain’s coin are not dollars', () => {
    assert.equal(tokenIn(coinOf(8453)), undefined);
    assert.equal(tokenIn(dollar), dollar);
    assert.throws(() => convert(1n, coinOf(8453) as never, usCent), PriceMissing);
  });

  it('change their decimals in few files: elsewhere nobody can forget the peg', () => {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const rooms = ['domain', 'commands', 'projections', 'queries', 'src', 'web', 'tools'];
    const files = rooms.flatMap((room) =>
      readdirSync(`${root}${room}`, { recursive: true, encoding: 'utf8' }).map((file) => `${room}/${file}`),
    );
    const importing = files.filter(
      (file) => file.endsWith('.ts') && /\brescale(Up)?\b/.test(readFileSync(`${root}${file}`, 'utf8')),
    );
    assert.deepEqual(importing.toSorted(), [
      'domain/money.ts',
      // The decimals of a route in dollars.
      'domain/payment/close.ts',
      'domain/payment/fees.ts',
      // A cent in the decimals of a token of the catalogue.
      'domain/treasury/books.ts',
    ]);
  });
});
