import assert from 'node:assert/strict';
import { plus } from '../../domain/time.ts';
import { failedWork, readModelFacts, scannedPasses } from '../../queries/operations.ts';
import { createCursors } from '../../src/postgres/cursors.ts';
import { createFailures } from '../../src/postgres/failures.ts';
import * as p from '../support/payments.ts';
import { givenReadModels } from './given.ts';

describe('queries of operators and probes', () => {
  const given = givenReadModels();

  it('state the progress of the read models', async () => {
    await given.payments(p.paid, p.unpaid);
    await createFailures(given.database, { attemptsMax: 1 }).failed('payouts', 'x', new Error('no'), p.minute(9));
    const facts = await readModelFacts(given.database, p.minute(30));
    const [work] = facts.sets;
    assert.deepEqual([work?.set, work?.events, work?.stopped], ['work', BigInt(p.paid.length + 1), null]);
    assert.equal(facts.oldestDuePayment, plus(p.created_at, 1_000));
    assert.equal(facts.oldestDueWebhook, null);
    assert.deepEqual(facts.parked, [{ worker: 'payouts', count: 1n }]);
    assert.equal(facts.held, 0n);
  });

  it('count the payments whose money has left, which remain in the list of work', async () => {
    await given.payments([...p.ordered, p.orphaned(), p.lost()]);
    const facts = await readModelFacts(given.database, p.minute(30));
    assert.equal(facts.held, 1n);
    assert.notEqual(facts.oldestDuePayment, null);
  });

  it('name how far each pass of a chain has advanced', async () => {
    const cursors = createCursors(given.database);
    const cursor = { chainId: 8453, pass: 'head', blockNumber: 7n, blockHash: '0x7', chainTime: p.minute(7) } as const;
    await given.database.query('TRUNCATE ops.chain_cursors');
    await cursors.save(cursor, null);
    assert.deepEqual(await scannedPasses(given.database), [{ chainId: 8453, pass: 'head', chainTime: p.minute(7) }]);
  });

  it('list failed work, parked work first, each newest first, with truncated errors', async () => {
    const patient = createFailures(given.database);
    const strict = createFailures(given.database, { attemptsMax: 1 });
    await patient.failed('payouts', 'early', new Error('no'), p.minute(1));
    await patient.failed('payouts', 'late', new Error('no'), p.minute(2));
    await strict.failed('webhooks', 'set aside', new Error('a long story'), p.minute(0));
    const listed = await failedWork(given.database, { max: 2, errorCharacters: 8 });
    assert.deepEqual(listed, [
      { worker: 'webhooks', key: 'set aside', attempts: 1, since: p.minute(0), parked: true, error: 'Error: a' },
      { worker: 'payouts', key: 'late', attempts: 1, since: p.minute(2), parked: false, error: 'Error: n' },
    ]);
  });
});
