import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { clientTypes } from '../../docs/generate/clientTypes.ts';

describe('clients/typescript/src/api.ts', () => {
  it('is the present output for the OpenAPI document', async () => {
    const committed = readFileSync(new URL('../../clients/typescript/src/api.ts', import.meta.url), 'utf8');
    const message = 'clients/typescript/src/api.ts is stale: run `npm run docs` and commit it';
    assert.ok(committed === `${await clientTypes()}\n`, message);
  }).timeout(60_000);
});
