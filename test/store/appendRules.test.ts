import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Expected, judgeAppend, type StreamView } from '../../src/store/node/changes.ts';

/** A stream in the specification's terms: only its ids. */
interface Model {
  readonly ids: readonly string[];
  readonly tombstoned: boolean;
  readonly softDeleted: boolean;
  readonly hasMetadata: boolean;
  /** Number of the newest events that the store remembers by id. */
  readonly remembered: number;
}

const view = ({ ids, remembered, ...rest }: Model): StreamView => ({
  ...rest,
  last: ids.length - 1,
  idAt: (revision) => ids[revision],
  recent: (id) => {
    const revision = ids.indexOf(id);
    return revision >= ids.length - remembered && revision >= 0 ? revision : undefined;
  },
});

const stream = (...ids: string[]): Model => ({
  ids,
  tombstoned: false,
  softDeleted: false,
  hasMetadata: false,
  remembered: ids.length,
});
const verdict = (model: Model, expected: Expected, ...ids: string[]): string => {
  const { kind, ...rest } = judgeAppend(view(model), expected, ids);
  return 'last' in rest ? `${kind} ${rest.last}` : kind;
};

describe('the rules of an append', () => {
  it('write at the exact end, whatever the ids are', () => {
    assert.equal(verdict(stream(), 'no_stream', 'a'), 'write');
    assert.equal(verdict(stream('a'), 0n, 'a'), 'write');
    assert.equal(verdict(stream('a', 'b'), 1n, 'c', 'd'), 'write');
  });

  it('find the identical append behind the end', () => {
    assert.equal(verdict(stream('a', 'b', 'c'), 'no_stream', 'a', 'b'), 'repeated 1');
    assert.equal(verdict(stream('a', 'b', 'c'), 0n, 'b', 'c'), 'repeated 2');
  });

  it('refuse any other append behind or past the end', () => {
    assert.equal(verdict(stream('a', 'b', 'c'), 'no_stream', 'x'), 'wrongVersion');
    assert.equal(verdict(stream('a', 'b', 'c'), 'no_stream', 'a', 'x'), 'wrongVersion');
    assert.equal(verdict(stream('a', 'b', 'c'), 1n, 'c', 'd'), 'wrongVersion', 'runs past the end');
    assert.equal(verdict(stream('a'), 1n, 'b'), 'wrongVersion');
    assert.equal(verdict(stream(), 0n, 'a'), 'wrongVersion');
    assert.equal(verdict(stream('a'), 2n ** 63n - 1n, 'b'), 'wrongVersion');
  });

  it('use remembered ids when no exact version is expected', () => {
    assert.equal(verdict(stream(), 'any', 'a'), 'write');
    assert.equal(verdict(stream('a', 'b'), 'any', 'a', 'b'), 'repeated 1');
    assert.equal(verdict(stream('a', 'b'), 'any', 'a', 'x'), 'wrongVersion');
    assert.equal(verdict(stream('a', 'b'), 'any', 'x', 'a'), 'write', 'the first id decides');
    assert.equal(verdict({ ...stream('a', 'b'), remembered: 0 }, 'any', 'a', 'b'), 'write', 'forgotten');
    assert.equal(verdict(stream('a'), 'stream_exists', 'b'), 'write');
    assert.equal(verdict(stream(), 'stream_exists', 'a'), 'wrongVersion');
    assert.equal(verdict({ ...stream(), hasMetadata: true }, 'stream_exists', 'a'), 'write');
  });

  it('restore a soft-deleted stream, but not for appends that need it to exist', () => {
    const deleted: Model = { ...stream('a', 'b'), softDeleted: true, hasMetadata: true };
    assert.equal(verdict(deleted, 'stream_exists', 'c'), 'deleted');
    assert.equal(verdict(deleted, 'any', 'c'), 'write');
    assert.equal(verdict(deleted, 'no_stream', 'c'), 'write');
    assert.equal(verdict(deleted, 1n, 'c'), 'write');
    assert.equal(verdict(deleted, 0n, 'c'), 'wrongVersion');
    assert.equal(verdict(deleted, 'no_stream', 'a'), 'repeated 0', 'still physically there');
  });

  it('never write to a tombstoned stream', () => {
    for (const expected of ['any', 'no_stream', 'stream_exists', 0n] as const) {
      assert.equal(verdict({ ...stream('a'), tombstoned: true }, expected, 'b'), 'deleted');
    }
  });

  it('treat an append of nothing as a question about the version', () => {
    assert.equal(verdict(stream('a'), 0n), 'write');
    assert.equal(verdict(stream('a'), 'any'), 'write');
    assert.equal(verdict(stream('a'), 'no_stream'), 'wrongVersion');
  });

  it('agree with the specification in every case', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const model: fc.Arbitrary<Model> = fc.record({
      ids: fc.uniqueArray(id, { maxLength: 4 }),
      tombstoned: fc.boolean(),
      softDeleted: fc.boolean(),
      hasMetadata: fc.boolean(),
      remembered: fc.nat(4),
    });
    const expected: fc.Arbitrary<Expected> = fc.oneof(
      fc.constantFrom<Expected>('any', 'no_stream', 'stream_exists'),
      fc.bigInt(0n, 5n),
    );
    fc.assert(
      fc.property(model, expected, fc.array(id, { minLength: 1, maxLength: 3 }), (given, wants, ids) => {
        assert.equal(verdict(given, wants, ...ids), specified(given, wants, ids));
      }),
      { numRuns: 5_000 },
    );
  });
});

/** The same rules written directly from the protocol's description, by comparing lists. */
function specified(model: Model, expected: Expected, ids: readonly string[]): string {
  const current = model.ids.length - 1;
  if (model.tombstoned) return 'deleted';
  if (expected === 'stream_exists' && model.softDeleted) return 'deleted';
  if (expected === 'stream_exists' && current < 0 && !model.hasMetadata) return 'wrongVersion';
  if (expected === 'any' || expected === 'stream_exists') {
    const known = model.ids.slice(Math.max(0, model.ids.length - model.remembered));
    if (!known.includes(ids[0]!)) return 'write';
    if (!ids.every((id) => known.includes(id))) return 'wrongVersion';
    return `repeated ${model.ids.indexOf(ids.at(-1)!)}`;
  }
  const at = expected === 'no_stream' ? -1 : Number(expected);
  if (at > current) return 'wrongVersion';
  if (at === current) return 'write';
  const stored = model.ids.slice(at + 1, at + 1 + ids.length);
  if (stored.join() === ids.join()) return `repeated ${at + ids.length}`;
  return stored[0] !== ids[0] && expected === 'no_stream' && model.softDeleted ? 'write' : 'wrongVersion';
}
