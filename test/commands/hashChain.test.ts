import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { linkOf, seal, tipAfter, tipOf, verifyChain } from '../../commands/codec.ts';
import type { SealedEvent } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { instant } from '../../domain/time.ts';

const stream = 'payment-1';
const facts = { at: instant(0), cause: 'test', appId: null, schemaVersion: 1 };
const ids = { eventId: randomUUID };
const decided = (...types: string[]) => types.map((type) => ({ type, data: { about: type } }));

/** Appends events and returns them as the store would. */
function appended(previous: readonly StoredEvent[], types: string[]): readonly (StoredEvent & SealedEvent)[] {
  const last = previous.at(-1);
  const events = seal(stream, last ? tipOf(last) : null, decided(...types), facts, ids);
  return events.map((event, i) => ({
    ...JSON.parse(JSON.stringify(event)),
    stream,
    revision: BigInt(previous.length + i),
    position: 0n,
  }));
}

describe('the hash chain', () => {
  const first = appended([], ['Created', 'Funded']);
  const chain = [...first, ...appended(first, ['PaidOut'])];

  it('begins with no predecessor and names each predecessor, within one append and across appends', () => {
    assert.deepEqual(
      chain.map((event) => event.metadata.prev),
      [null, linkOf(chain[0]!), linkOf(chain[1]!)],
    );
    assert.equal(verifyChain(chain), null);
  });

  it('returns the tip to continue from without reading back', () => {
    assert.deepEqual(tipAfter(stream, null, first), tipOf(first[1]!));
    assert.deepEqual(tipAfter(stream, tipOf(first[1]!), [chain[2]!]), tipOf(chain[2]!));
    assert.throws(() => tipAfter(stream, null, []), { name: 'InvariantBroken' });
  });

  it('reveals a changed, a removed, an inserted and a moved event', () => {
    const [a, b, c] = chain as [StoredEvent, StoredEvent, StoredEvent];
    assert.equal(verifyChain([{ ...a, data: { about: 'Forged' } }, b, c])?.revision, 1n);
    assert.equal(verifyChain([a, { ...b, type: 'Refunded' }, c])?.revision, 2n);
    assert.equal(verifyChain([a, c])?.revision, 2n);
    assert.equal(verifyChain([a, b, { ...b, id: randomUUID() }, c])?.revision, 1n);
    assert.equal(verifyChain([b, a, c])?.revision, 1n);
    assert.equal(verifyChain([{ ...a, stream: 'payment-2' }, b, c])?.revision, 1n);
  });

  it('covers who asked and in which request, and chains behind events that name no request', () => {
    const by = { ...facts, cause: 'key:k1', requestId: 'r1' };
    const [asked] = seal(stream, tipOf(first[1]!), decided('PaidOut'), by, ids);
    const stored: StoredEvent = { ...JSON.parse(JSON.stringify(asked)), stream, revision: 2n, position: 0n };
    assert.deepEqual(stored.metadata, { prev: linkOf(first[1]!), ...by });
    const next = { ...chain[2]!, revision: 3n, metadata: { ...facts, prev: linkOf(stored) } };
    assert.equal(verifyChain([...first, stored, next]), null);
    const forged = { ...stored, metadata: { ...stored.metadata, requestId: 'r2' } };
    assert.equal(verifyChain([...first, forged, next])?.revision, 3n);
  });

  it('can be checked from the middle on', () => {
    const [a, b, c] = chain as [StoredEvent, StoredEvent, StoredEvent];
    assert.equal(verifyChain([b, c], tipOf(a)), null);
    assert.notEqual(verifyChain([c], tipOf(a)), null);
  });

  it('survives storing: the previous hash of any JSON is the same after a round trip', () => {
    const json = fc.dictionary(fc.string({ unit: 'binary' }), fc.oneof(fc.jsonValue(), fc.constant(undefined)));
    fc.assert(
      fc.property(json, fc.string({ unit: 'binary' }), (data, cause) => {
        const event = { stream, revision: 0n, id: 'id', type: 'T', data, metadata: { prev: null, ...facts, cause } };
        const { data: readData, metadata } = JSON.parse(JSON.stringify({ data, metadata: event.metadata }));
        assert.equal(linkOf({ ...event, data: readData, metadata }), linkOf(event));
      }),
    );
  });

  it('never confuses where one part ends and the next begins', () => {
    const link = (type: string, data: unknown) =>
      linkOf({ stream, revision: 0n, id: 'id', type, data, metadata: { prev: null, ...facts } });
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (typeA, dataA, typeB, dataB) => {
        fc.pre(typeA !== typeB || dataA !== dataB);
        assert.notEqual(link(typeA, dataA), link(typeB, dataB));
      }),
    );
  });
});
