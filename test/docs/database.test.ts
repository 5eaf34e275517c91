import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { databaseDocument, tableTypes } from '../../docs/generate/database.ts';
import type { Database } from '../../src/postgres/database.ts';
import { freshDatabase } from '../support/postgres.ts';

const committed = readFileSync(new URL('../../docs/reference/database.md', import.meta.url), 'utf8');

describe('docs/reference/database.md', () => {
  let database: Database;
  before(async () => {
    database = await freshDatabase();
  });

  it('is the database’s own present description', async () => {
    const today = await databaseDocument(database);
    assert.equal(committed, `${today}\n`, 'docs/reference/database.md is stale: run `npm run docs` and commit it');
  });

  it('is the source of the types of rows, too', async () => {
    const types = readFileSync(new URL('../../projections/tables.ts', import.meta.url), 'utf8');
    const today = await tableTypes(database);
    assert.equal(types, `${today}\n`, 'projections/tables.ts is stale: run `npm run docs` and commit it');
  });

  it('shows only statements that work', async () => {
    const statements = [...committed.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql]) => sql as string);
    assert.equal(statements.length, 3);
    const undone = new Error('everything worked');
    const all = database.transaction(async (tx) => {
      for (const statement of statements) await tx.query(statement);
      throw undone;
    });
    await assert.rejects(all, undone);
  });
});
