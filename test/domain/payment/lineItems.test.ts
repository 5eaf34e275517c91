import assert from 'node:assert/strict';
import { type LineItem, readLineItems } from '../../../domain/payment/lineItems.ts';

const order = { amount: 18_500_000n, token: { decimals: 6, symbol: 'USDC' } } as const;
const beans: LineItem = { name: 'Yirgacheffe, 250 g', quantity: 2, amount: '17.00' };
const shipping: LineItem = { name: 'Shipping', quantity: 1, amount: '1.5' };

const problem = (items: readonly LineItem[], at = order as Parameters<typeof readLineItems>[1], max_bytes = 4_096) => {
  const read = readLineItems(items, at, max_bytes);
  assert.ok('message' in read, 'they are refused');
  return read;
};

describe('line items', () => {
  it('are kept with their amounts as the service writes them, when they add up to the order', () => {
    assert.deepEqual(readLineItems([beans, shipping], order, 4_096), [beans, { ...shipping, amount: '1.50' }]);
  });

  it('are refused when they add up to another amount, with both sums', () => {
    const { path, message } = problem([beans]);
    assert.equal(path, '');
    assert.match(message, /17\.00.*18\.50/);
    assert.equal(problem([beans, shipping, { ...shipping, amount: '0.000001' }]).path, '');
  });

  it('are refused at the line whose amount the token cannot represent', () => {
    assert.equal(problem([beans, { ...shipping, amount: '1.5000001' }]).path, '/1/amount');
    assert.equal(problem([beans, { ...shipping, amount: '-1.50' }]).path, '/1/amount');
    assert.equal(problem([beans, { ...shipping, amount: '1e3' }]).path, '/1/amount');
  });

  it('are refused without a visible name, for any amount, and when they are too long for their store', () => {
    assert.equal(problem([{ ...beans, name: ' ' }, shipping]).path, '/0/name');
    assert.match(problem([beans], { ...order, amount: null }).message, /with an amount/);
    const long = { name: '滴'.repeat(200), quantity: 1, amount: '0.00' };
    assert.match(problem([beans, shipping, long, long], order, 1_000).message, /at most 1000/);
  });
});
