import assert from 'node:assert/strict';
import { ask, askEach, list, object, optional, RpcFailed, text, whole } from '../../../src/chains/node/jsonRpc.ts';
import { nodeOf } from '../../support/chainNode.ts';

const nodeThatAnswers = (answer: unknown) => nodeOf(async () => answer);

describe('answers of nodes', () => {
  it('have the expected form, or are a failure that names node and method', async () => {
    const read = (answer: unknown) => whole(object(answer)['height']);
    assert.equal(await ask(nodeThatAnswers({ height: 7 }), 'getHeight', [], read), 7n);
    for (const answer of [null, [], 'no', {}, { height: -1 }, { height: null }]) {
      await assert.rejects(ask(nodeThatAnswers(answer), 'getHeight', [], read), (error) => {
        assert.ok(error instanceof RpcFailed && error.kind === 'malformed');
        assert.match(error.message, /^node 1: getHeight malformed: expected /);
        return true;
      });
    }
  });

  it('keep a failure that their reader found itself', async () => {
    const lags = new RpcFailed('node 1', 'getHeight', 'refused', 'it lags');
    const read = () => {
      throw lags;
    };
    await assert.rejects(ask(nodeThatAnswers(1), 'getHeight', [], read), lags);
  });

  it('to many calls are in their order, and one that is refused fails them', async () => {
    const twice = nodeOf(async (method, params) => {
      const [n] = params as readonly number[];
      if (n === 13) throw new RpcFailed('node 1', method, 'refused', 'it is unlucky');
      return Number(n) * 2;
    });
    assert.deepEqual(await askEach(twice, 'twice', [[1], [2], [3]], whole), [2n, 4n, 6n]);
    assert.deepEqual(await askEach(twice, 'twice', [], whole), []);
    await assert.rejects(askEach(twice, 'twice', [[1], [13]], whole), /unlucky/);
    await assert.rejects(askEach(twice, 'twice', [[1], [-1]], whole), /malformed: expected a whole number, not -2/);
  });

  it('hold whole numbers as JSON has them or as digits, up to 64 bits', () => {
    for (const [value, number] of [
      [0, 0n],
      [12, 12n],
      ['18446744073709551615', 18_446_744_073_709_551_615n],
    ] as const) {
      assert.equal(whole(value), number);
    }
    for (const value of [-1, 1.5, 1e21, Number.NaN, '', '0x1', '1'.repeat(21), ['1'], true, null, undefined]) {
      assert.throws(() => whole(value), /expected a whole number/);
    }
  });

  it('have the expected shape', () => {
    assert.deepEqual([list([1]), text('a'), object({ a: 1 })], [[1], 'a', { a: 1 }]);
    for (const read of [list, text, object]) assert.throws(() => read(7), /expected a/);
    assert.throws(() => object([]), /expected an object/);
    assert.deepEqual(
      [optional(null, text), optional(undefined, text), optional('a', text)],
      [undefined, undefined, 'a'],
    );
    assert.throws(() => optional(7, text), /expected a text/);
  });
});
