import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { namesOf, weatherRows, withWeather } from '../../docs/generate/weather.ts';
import { quirkNames, quirks } from '../../sandbox/weather/quirks.ts';

describe('docs/operate/chains.md', () => {
  it('has the table of the quirks of nodes', () => {
    const committed = readFileSync(new URL('../../docs/operate/chains.md', import.meta.url), 'utf8');
    assert.equal(
      committed,
      withWeather(committed),
      'docs/operate/chains.md is stale: run `npm run docs` and commit it',
    );
  });

  it('has every quirk, for every family whose nodes are known for it', () => {
    const tried = new Set(weatherRows.map((row) => `${namesOf(row).quirk} ${row.family}`));
    const known = quirkNames.flatMap((name) => quirks[name].families.map((family) => `${name} ${family}`));
    assert.deepEqual(
      known.filter((each) => !tried.has(each)),
      [],
    );
  });
});
