import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import list from '../../docs/generate/rooms.json' with { type: 'json' };
import { withRooms } from '../../docs/generate/rooms.ts';

const root = new URL('../../', import.meta.url);

describe('the rooms of the tree', () => {
  it('are drawn in docs/explain/architecture.md as the dependency rules have them', () => {
    const page = readFileSync(new URL('docs/explain/architecture.md', root), 'utf8');
    assert.equal(page, withRooms(page), 'docs/explain/architecture.md is stale: run `npm run docs` and commit it');
  });

  it('exist, and each comes after the rooms that it may import', () => {
    const known: string[] = ['contracts', 'web/parts'];
    for (const { path, may } of list.rooms) {
      assert.ok(existsSync(new URL(`${path}/`, root)), `${path} is no folder`);
      const ahead = may.filter((other) => !known.includes(other));
      assert.deepEqual(ahead, [], `${path} may import rooms that come later in docs/generate/rooms.json`);
      known.push(path);
    }
  });
});
