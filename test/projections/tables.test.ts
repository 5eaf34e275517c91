import assert from 'node:assert/strict';
import { add, remove, upsert } from '../../projections/projection.ts';

const due = { payment_id: 'p1', chain_id: 1, due_at: '2026-11-21T09:00:00.000Z' };

/** The type check proves that these lines do not compile: `@ts-expect-error` on a line that compiles is an error. */
describe('a row that a projection writes', () => {
  it('has every column of its table', () => {
    assert.deepEqual(upsert('todo_payments', due), { op: 'upsert', table: 'todo_payments', row: due });
    const { due_at: _, ...short } = due;
    // @ts-expect-error a column is missing
    upsert('todo_payments', short);
    // @ts-expect-error a column that is not nullable must not be undefined
    upsert('todo_payments', { ...due, due_at: undefined });
  });

  it('has no field that is no column, even if the row is in a variable', () => {
    // @ts-expect-error misspelt
    upsert('todo_payments', { ...due, due_att: due.due_at });
    const more = { ...due, due_att: due.due_at };
    // @ts-expect-error misspelt
    upsert('todo_payments', more);
    const sums = { app_id: 'a', hour: due.due_at, volume: '1.00', net: '1.00', count: 1, refunded: '0' };
    // @ts-expect-error misspelt
    add('hourly_stats', { ...sums, cuont: 1 });
    // @ts-expect-error no such table
    add('hourly_stat', sums);
  });

  it('has values of its columns’ types', () => {
    // @ts-expect-error chain ids are numbers
    upsert('todo_payments', { ...due, chain_id: '1' });
  });

  it('is removed by its whole key and nothing else', () => {
    assert.deepEqual(remove('deposits', { address: 'a', memo: '' }).op, 'remove');
    // @ts-expect-error half a key
    remove('deposits', { address: 'a' });
    // @ts-expect-error more than the key
    remove('todo_payments', { payment_id: 'p1', due_at: due.due_at });
  });
});
