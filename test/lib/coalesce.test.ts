import assert from 'node:assert/strict';
import { coalesce } from '../../src/lib/cache.ts';

describe('a value that many request at a time', () => {
  function counted() {
    const begun: { readonly key: string; readonly answer: PromiseWithResolvers<number> }[] = [];
    const ask = coalesce((key) => {
      const answer = Promise.withResolvers<number>();
      begun.push({ key, answer });
      return answer.promise;
    });
    return { ask, begun };
  }
  const turn = () => new Promise(setImmediate);

  it('is read once more after it was requested, for all of them', async () => {
    const { ask, begun } = counted();
    const first = ask('a');
    const later = [ask('a'), ask('a'), ask('a')];
    assert.equal(begun.length, 1);
    begun[0]?.answer.resolve(1);
    assert.equal(await first, 1);
    await turn();
    assert.equal(begun.length, 2);
    const latest = ask('a');
    begun[1]?.answer.resolve(2);
    assert.deepEqual(await Promise.all(later), [2, 2, 2]);
    await turn();
    begun[2]?.answer.resolve(3);
    assert.equal(await latest, 3);
  });

  it('is read again when nobody is reading it, and each key separately', async () => {
    const { ask, begun } = counted();
    for (const key of ['a', 'b']) void ask(key);
    for (const { answer } of begun) answer.resolve(1);
    await turn();
    void ask('a');
    assert.deepEqual(
      begun.map(({ key }) => key),
      ['a', 'b', 'a'],
    );
  });

  it('fails for earlier callers, and for nobody after them', async () => {
    const { ask, begun } = counted();
    const first = ask('a');
    const second = ask('a');
    begun[0]?.answer.reject(new Error('away'));
    await assert.rejects(first, /away/);
    await turn();
    begun[1]?.answer.resolve(2);
    assert.equal(await second, 2);
  });
});
