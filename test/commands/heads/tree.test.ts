import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import fc from 'fast-check';
import {
  isAbsent,
  isUnder,
  leafAt,
  leafOf,
  nodeOf,
  rootOf,
  rootOfStreams,
  type StreamTip,
  sortedLeaves,
  streamKey,
  wayTo,
} from '../../../commands/heads/tree.ts';

const tipOf = (name: number, revision = 0): StreamTip => ({
  stream: `payment-${name}`,
  revision: BigInt(revision),
  link: hash('sha256', `${name}:${revision}`, 'hex'),
});
const someTips = fc
  .uniqueArray(fc.nat(5_000), { minLength: 1, maxLength: 200 })
  .map((names) => names.map((n) => tipOf(n)));
const leavesOf = (tips: readonly StreamTip[]) => sortedLeaves(tips.map(leafOf));

/** The definition of the root, computed directly and slowly. */
function slowRoot(leaves: readonly { key: Buffer; hash: Buffer }[], depth = 0): Buffer {
  const [only] = leaves;
  if (!only) return Buffer.alloc(32);
  if (leaves.length === 1) return only.hash;
  const bit = ({ key }: { key: Buffer }) => (((key[depth >> 3] ?? 0) >> (7 - (depth % 8))) & 1) === 1;
  return nodeOf(
    slowRoot(
      leaves.filter((leaf) => !bit(leaf)),
      depth + 1,
    ),
    slowRoot(leaves.filter(bit), depth + 1),
  );
}

describe('the tree over streams', () => {
  it('has one root for the same streams, in any order', () => {
    fc.assert(
      fc.property(someTips, (tips) => {
        assert.equal(rootOfStreams(tips), rootOfStreams(tips.toReversed()));
        assert.equal(rootOfStreams(tips), slowRoot(tips.map(leafOf)).toString('hex'));
      }),
    );
  });

  it('is the same for keys that share many bits', () => {
    const close = fc.uniqueArray(fc.tuple(fc.nat(255), fc.nat(3)), { minLength: 1, maxLength: 60, selector: String });
    fc.assert(
      fc.property(close, (places) => {
        const leaves = sortedLeaves(
          places.map(([bit, tail]) => {
            const key = Buffer.alloc(32);
            key[bit >> 3] = 1 << (bit & 7);
            key[31] = (key[31] ?? 0) | tail;
            return leafAt(key, 0n, '00'.repeat(32));
          }),
        ).filter((leaf, at, all) => at === 0 || !leaf.key.equals(all[at - 1]?.key ?? Buffer.of()));
        assert.equal(rootOf(leaves).hash.toString('hex'), slowRoot(leaves).toString('hex'));
      }),
    );
  });

  it('accepts no stream twice, and none out of order', () => {
    const [a, b] = leavesOf([tipOf(1), tipOf(2)]);
    assert.ok(a && b);
    assert.throws(() => rootOf([b, a]));
    assert.throws(() => rootOf([a, a]));
  });

  it('proves that a stream is in it as it is, and in no other form', () => {
    fc.assert(
      fc.property(someTips, fc.nat(), (tips, pick) => {
        const tip = tips[pick % tips.length];
        assert.ok(tip);
        const root = rootOfStreams(tips);
        const way = wayTo(streamKey(tip.stream), leavesOf(tips));
        assert.ok(isUnder(root, tip, way));
        assert.ok(!isUnder(root, { ...tip, revision: tip.revision + 1n }, way));
        assert.ok(!isUnder(root, { ...tip, link: tipOf(9_999).link }, way));
        assert.ok(!isUnder(root, { ...tip, stream: `${tip.stream}x` }, way));
        assert.ok(!isUnder(root, tip, [...way, '00'.repeat(32)]));
      }),
    );
  });

  it('proves nothing once any byte of a proof is changed', () => {
    fc.assert(
      fc.property(someTips, fc.nat(), fc.integer({ min: 1, max: 255 }), (tips, at, change) => {
        const [tip] = tips;
        assert.ok(tip);
        const way = wayTo(streamKey(tip.stream), leavesOf(tips));
        fc.pre(way.length > 0);
        const bytes = Buffer.from(way.join(''), 'hex');
        const place = at % bytes.length;
        bytes[place] = (bytes[place] ?? 0) ^ change;
        const changed = bytes.toString('hex').match(/.{64}/g) ?? [];
        assert.ok(!isUnder(rootOfStreams(tips), tip, changed));
      }),
    );
  });

  it('proves that a stream is not in it, and never so for one that is', () => {
    fc.assert(
      fc.property(someTips, fc.nat(5_000), (tips, name) => {
        const leaves = leavesOf(tips);
        const { stream } = tipOf(name);
        const there = tips.find((tip) => tip.stream === stream);
        const root = rootOfStreams(tips);
        const way = wayTo(streamKey(stream), leaves);
        const at = tips.map((tip) => ({
          key: streamKey(tip.stream).toString('hex'),
          revision: tip.revision,
          link: tip.link,
        }));
        const shown = [null, ...at].some((other) => isAbsent(root, stream, way, other));
        assert.equal(shown, there === undefined);
      }),
    );
  });

  it('distinguishes leaves from nodes', () => {
    const { key, hash: leaf } = leafOf(tipOf(1));
    const asNode = nodeOf(key, Buffer.alloc(32));
    assert.notDeepEqual(leaf, asNode);
    assert.equal(
      leafAt(key, 7n, 'ab'.repeat(32)).hash.toString('hex'),
      hash(
        'sha256',
        Buffer.concat([Buffer.of(0), key, Buffer.from('0000000000000007', 'hex'), Buffer.from('ab'.repeat(32), 'hex')]),
        'hex',
      ),
    );
  });
});
