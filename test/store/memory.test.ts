import assert from 'node:assert/strict';
import { memoryEventStore } from '../support/memoryEventStore.ts';
import { eventStoreContract } from './contract.ts';
import { event } from './events.ts';

describe('the event store in memory', () => {
  eventStoreContract(async () => memoryEventStore());

  it('has a tail of 0 while it is empty', async () => {
    assert.equal(await memoryEventStore().tail(), 0n);
  });

  it('lets a simulation fail an append before or after it took effect', async () => {
    const points: string[] = [];
    let failAt = '';
    const store = memoryEventStore({
      at: (name) => {
        points.push(name);
        if (name === failAt) throw new Error(`lost at ${name}`);
      },
    });
    failAt = 'append.before';
    await assert.rejects(store.append('a-1', 'no_stream', [event()]), /lost at append.before/);
    failAt = 'append.after';
    await assert.rejects(store.append('a-2', 'no_stream', [event()]), /lost at append.after/);
    failAt = '';
    assert.equal((await store.read('a-1')).length, 0);
    assert.equal((await store.read('a-2')).length, 1);
    assert.deepEqual(points, ['append.before', 'append.before', 'append.after', 'read', 'read']);
  });
});
