import assert from 'node:assert/strict';
import fc from 'fast-check';
import { hashOfHead, headKeyOf, verifyHeads } from '../../../commands/heads/chain.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { changeHeadKey, type HeadsEvent, heads, signHead, tellAnchor } from '../../../domain/heads/heads.ts';
import { minute } from '../../support/payments.ts';

const first = headKeyOf(Buffer.alloc(32, 1));
const second = headKeyOf(Buffer.alloc(32, 2));

const facts = (position: number, publicKey: string) => ({
  position: String(position),
  until: minute(position),
  events: String(position),
  streams: '3',
  categories: ['payment'],
  root: String(position % 10).repeat(64),
  publicKey,
});
const head = (newest: HeadsEvent | null, position: number, key = first) =>
  signHead(newest, facts(position, key.publicKey), { hashOf: hashOfHead, sign: key.sign });

/** Two heads, a key change, one more head. */
function someEntries(former: Parameters<typeof changeHeadKey>[2]['former'] = first): HeadsEvent[] {
  const entries: HeadsEvent[] = [];
  const add = (decided: ReturnType<typeof head>) => {
    assert.ok(!isRefusal(decided));
    entries.push(...decided);
  };
  const newest = () => entries.reduce(heads.evolve, heads.initial);
  add(head(newest(), 10));
  add(head(newest(), 20));
  add(changeHeadKey(newest(), second.publicKey, { hashOf: hashOfHead, sign: second.sign, former }));
  add(head(newest(), 30, second));
  return entries;
}

const problems = (entries: readonly HeadsEvent[], options?: Parameters<typeof verifyHeads>[1]) =>
  verifyHeads(entries, options).map(({ number, problem }) => `${number} ${problem}`);
const changed = (entries: readonly HeadsEvent[], at: number, data: object): HeadsEvent[] =>
  entries.map((entry, index) =>
    index === at ? ({ ...entry, data: { ...entry.data, ...data } } as HeadsEvent) : entry,
  );

describe('heads', () => {
  it('form a chain that every holder can check, through a change of the key', () => {
    assert.deepEqual(problems(someEntries()), []);
    assert.deepEqual(problems(someEntries(), { key: first.publicKey }), []);
    assert.deepEqual(problems(someEntries().slice(2), { after: someEntries()[1] ?? null }), []);
  });

  it('are signed once for a position, and with the key in force', () => {
    const [newest = null] = someEntries();
    assert.deepEqual(head(newest, 10), []);
    assert.deepEqual(head(newest, 9), []);
    assert.ok(isRefusal(head(newest, 11, second)));
    assert.deepEqual(head(newest, 11), head(newest, 11), 'the same is signed alike, byte by byte');
  });

  it('reveal changes, omissions, insertions, and signatures of other keys', () => {
    const entries = someEntries();
    assert.deepEqual(problems(changed(entries, 1, { root: 'ab'.repeat(32) })), ['2 signature', '3 previous']);
    assert.deepEqual(problems([...entries.slice(0, 1), ...entries.slice(2)]), ['3 number']);
    assert.deepEqual(problems(entries, { key: second.publicKey }), ['1 key']);
    const other = head(entries[0] ?? null, 20, { ...second, publicKey: first.publicKey });
    assert.ok(!isRefusal(other));
    assert.deepEqual(problems([...entries.slice(0, 1), ...other]), ['2 signature']);
    const back = head(entries[0] ?? null, 15);
    assert.ok(!isRefusal(back));
    assert.deepEqual(problems([...entries.slice(0, 1), ...back]), []);
    assert.deepEqual(problems([...back], { after: entries[1] ?? null }), ['2 number']);
  });

  it('report an anchor once to readers of the newest, with the key in force', () => {
    const entries = someEntries();
    const newest = entries.at(-1) ?? null;
    const anchor = {
      head: 2,
      headHash: 'ab'.repeat(32),
      chainId: 1500,
      account: 'G',
      transaction: '5f',
      ledger: '9',
    } as const;
    const tell = (seen: number, key = second) =>
      tellAnchor(newest, anchor, { seen, publicKey: key.publicKey, hashOf: hashOfHead, sign: key.sign });
    assert.ok(isRefusal(tell(3)), 'another entry came meanwhile');
    assert.ok(isRefusal(tell(4, first)));
    const told = tell(4);
    assert.ok(!isRefusal(told));
    const further = head(told[0] ?? null, 40, second);
    assert.ok(!isRefusal(further));
    const all = [...entries, ...told, ...further];
    assert.deepEqual(problems(all, { key: first.publicKey }), []);
    assert.deepEqual(problems(changed(all, 4, { ledger: '8' })), ['5 signature', '6 previous']);
    assert.deepEqual(problems(changed(all, 4, { keySince: 1 })), ['5 key', '6 previous']);
    assert.deepEqual(problems(changed(all, 4, { position: '31' })), ['5 position', '6 previous']);
  });

  it('accept another key only from the former one', () => {
    const entries = someEntries();
    assert.deepEqual(problems(changed(entries, 2, { formerSignature: 'ab'.repeat(64) })), ['3 signature']);
    assert.deepEqual(problems(someEntries({ lost: 'the machine burnt down' })), ['3 lost']);
  });

  it('fail with any letter of an entry changed', () => {
    const entries = someEntries();
    fc.assert(
      fc.property(fc.nat(entries.length - 1), fc.nat(), fc.constantFrom(...'0123456789abcdefT'), (at, pick, letter) => {
        const text = JSON.stringify(entries[at]?.data);
        const places = [...text.matchAll(/(?<=:"?)[^",:[\]{}]+/g)];
        const place = places[pick % places.length];
        assert.ok(place);
        const index = place.index + (pick % place[0].length);
        fc.pre(text[index] !== letter);
        const data = `${text.slice(0, index)}${letter}${text.slice(index + 1)}`;
        const parsed = attempt(() => JSON.parse(data) as object);
        fc.pre(parsed !== null);
        assert.notDeepEqual(
          attempt(() => problems(changed(entries, at, parsed ?? {}))),
          [],
        );
      }),
      { numRuns: 500 },
    );
  });
});

/** Null if it is unreadable. */
function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}
