import assert from 'node:assert/strict';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { eventTypeFilter } from '@eventstore/db-client';
import { createExpressions } from '../../../src/store/node/expressions.ts';
import { patience_ms } from '../../support/patience.ts';
import { json, newStream, officialClient, oursAlone } from './official.ts';

/** Its duration doubles with each further letter. */
const runaway = '^(a+)+$';
const poison = `${'a'.repeat(60)}!`;

describe('a regular expression from a client', () => {
  it('matches like JavaScript, with look-ahead and back-references', async () => {
    const expression = createExpressions()('^(?!\\$)(\\w)\\1');
    try {
      assert.deepEqual(await expression.matches(['aab', '$aa', 'abc', 'zz']), [true, false, false, true]);
      assert.deepEqual(await expression.matches(['bb']), [true]);
    } finally {
      expression.end();
    }
  });

  it('is aborted when one page takes it too long; others continue', async () => {
    const [bad, good] = [
      createExpressions({ page_ms: 200 })(runaway),
      createExpressions({ page_ms: patience_ms })('^a'),
    ];
    try {
      const late = bad.matches([poison]);
      assert.deepEqual(await good.matches([poison]), [true]);
      await assert.rejects(late, { code: 3, message: /took longer than 200 ms .*make it simpler, or use prefixes/ });
      await assert.rejects(bad.matches(['a']), { code: 3 }, 'it is over');
      assert.deepEqual(await good.matches(['b']), [false]);
    } finally {
      good.end();
    }
  });

  it('frees its place when it ends', async () => {
    const expressions = createExpressions({ most: 1 });
    const first = expressions('a');
    assert.throws(() => expressions('b'), { code: 8, message: /1 calls filter by regular expressions already/ });
    await first.matches(['a']);
    await first.end();
    const second = expressions('b');
    assert.deepEqual(await second.matches(['b']), [true]);
    await second.end();
  });

  it('is refused when it is invalid', () => {
    assert.throws(() => createExpressions()('('), { code: 2 });
  });

  describe('on the node', () => {
    let client: EventStoreDBClient;
    before(async () => {
      client = await officialClient();
    });

    oursAlone('the original gives up on no expression')('that runs away holds up nobody else', async () => {
      await client.appendToStream(newStream(), json(poison));
      const subscription = client.subscribeToAll({ filter: eventTypeFilter({ regex: runaway }) });
      const ended = new Promise<{ code?: number; message: string }>((resolve) => {
        subscription.on('data', () => {});
        subscription.on('error', (error) => resolve(error as never));
      });
      const stream = newStream();
      for (let n = 0; n < 20; n++) await client.appendToStream(stream, json());
      assert.match((await ended).message, /took longer than/);
      await client.appendToStream(stream, json());
    });
  });
});
