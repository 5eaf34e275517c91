/** The cache of stream states has a maximum size; evicted states are read again. */
import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import type { DomainEvent, StoredEvent } from '../../domain/decider.ts';
import { createFold } from '../../projections/fold.ts';
import { detected, payin, unpaid } from '../support/payments.ts';

describe('states of streams that are folded', () => {
  const stored = (payment: string, revision: number, event: DomainEvent): StoredEvent => ({
    ...event,
    stream: `payment-${payment}`,
    revision: BigInt(revision),
    position: BigInt(revision),
    id: `${payment}${revision}`,
    metadata: {} as StoredEvent['metadata'],
  });
  const begun = (payment: string) => unpaid.map((event, at) => stored(payment, at, event));

  function folding() {
    const read: string[] = [];
    const fold = createFold({
      read: eventCodec.read,
      introduced: new Map(),
      statesMax: { behind: 3, live: 1 },
      async history(stream) {
        read.push(stream);
        return begun(stream.slice('payment-'.length));
      },
    });
    async function take(events: readonly StoredEvent[], live: boolean) {
      await fold.prepare(events);
      const seen = events.map((event) => fold.see(event));
      fold.keep(live);
      return seen;
    }
    const paid = (payment: string) => take([stored(payment, unpaid.length, detected(payin()))], true);
    return { take, paid, read };
  }

  it('are those of the newest streams, more of them while it catches up than when it is live', async () => {
    const { take, paid, read } = folding();
    await take(['a', 'b', 'c', 'd'].flatMap(begun), false);
    await take([], true);
    await paid('d');
    assert.deepEqual(read, []);
    await paid('c');
    assert.deepEqual(read, ['payment-c']);
  });

  it('are the same, read again or kept', async () => {
    const { take, paid } = folding();
    await take(['a', 'b'].flatMap(begun), true);
    const [kept, again] = [await paid('b'), await paid('a')];
    assert.deepEqual(again[0]?.after, kept[0]?.after);
    assert.deepEqual(again[0]?.before, kept[0]?.before);
  });
});
