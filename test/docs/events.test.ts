import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { eventCatalogue } from '../../docs/generate/catalogue.ts';
import { streams } from '../../domain/streams.ts';

const committed = readFileSync(new URL('../../docs/reference/events.md', import.meta.url), 'utf8');

describe('docs/reference/events.md', () => {
  it('is what the schemas state today', () => {
    assert.equal(
      committed,
      `${eventCatalogue()}\n`,
      'docs/reference/events.md is stale: run `npm run docs` and commit it',
    );
  });

  it('explains every event and shows its fields', () => {
    for (const [type, schema] of Object.values(streams).flatMap(({ schemas }) => Object.entries(schemas))) {
      const section = committed.split(`### ${type}\n`)[1]?.split('\n### ')[0] ?? '';
      assert.match(section, /^\n\S.{10,}\.\n/, `${type} is not explained`);
      for (const field of Object.keys(schema.properties)) {
        assert.ok(section.includes(`| \`${field}`), `${type} lacks its field ${field}`);
      }
    }
  });
});
