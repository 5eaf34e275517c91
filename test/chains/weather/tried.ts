/**
 * Tries each row of a family, alone and as the first of three nodes: checks its effect while the quirk lasts, and that
 * nothing is lost or paid twice after it.
 */
import assert from 'node:assert/strict';
import { namesOf, type Outcome, refusals, type WeatherRow, weatherRows } from '../../../docs/generate/weather.ts';
import { startWeatherNode, type WeatherNode } from '../../../sandbox/weather/proxy.ts';
import type { WeatherChange } from '../../../sandbox/weather/quirks.ts';
import { gateCases } from '../../support/suite.ts';
import { type Ground, paying, seeing, type Tried } from './trial.ts';

/** Maximum tries under a quirk that stops everything. */
const vainMost = 3;
/** Maximum tries after the end of the quirk. */
const mendedMost = 6;

export function weatherTrials(family: Ground['family'], start: () => Promise<Ground>): void {
  let ground: Ground;
  const nodes: WeatherNode[] = [];
  const node = async () => {
    nodes.push(await startWeatherNode({ rpcUrl: ground.rpcUrl, family }));
    return nodes.at(-1)!;
  };
  let good: readonly string[];
  before(async () => {
    ground = await start();
    good = [(await node()).url, (await node()).url];
  });
  after(() => Promise.all(nodes.map((each) => each.stop())));

  for (const { row, places } of trialsOf(family)) {
    const { quirk, settings } = namesOf(row);
    for (const place of places) {
      const expected = place === 'alone' ? row.alone : row.ofThree;
      it(`${quirk} ${settings}, ${place}: payin ${expected.payin}, payout ${expected.payout}`, async () => {
        const bad = await node();
        const urls = place === 'alone' ? [bad.url] : [bad.url, ...good];

        bad.change(row.weather);
        const payin = await ground.payin(urls);
        check(row, 'payin', expected.payin, await seeing(ground, payin, mostOf(expected.payin)));
        bad.change(off(row));
        if (expected.payin === 'refused') payin.restart(good);
        await seeing(ground, payin, mendedMost);
        assert.equal(payin.confirmed(), payin.paid, 'the payin is confirmed once');

        bad.change(row.weather);
        const payout = await ground.payout(urls);
        check(row, 'payout', expected.payout, await paying(ground, payout, mostOf(expected.payout)));
        bad.change(off(row));
        if (expected.payout === 'refused') return;
        await paying(ground, payout, mendedMost);
        assert.equal(await payout.arrived(), payout.ordered, 'the payout arrives once');
      });
    }
  }
}

type Place = 'alone' | 'first of three';

/**
 * Returns all rows in both places in a full run. In the gate: the first row of each quirk, and each form of a rate limit on EVM, with the
 * node alone; and with the node as the first of three where the payin or the payout needs the two good nodes.
 */
function trialsOf(
  family: Ground['family'],
): readonly { readonly row: WeatherRow; readonly places: readonly Place[] }[] {
  const rows = weatherRows.filter((each) => each.family === family);
  const kindOf = (row: WeatherRow) => `${namesOf(row).quirk} ${family === 'evm' ? row.weather.rateLimit?.form : ''}`;
  const firsts = new Map(rows.toReversed().map((row) => [kindOf(row), row]));
  const needsOthers = ({ alone }: WeatherRow) => typeof alone.payin === 'string' || typeof alone.payout === 'string';
  return gateCases(rows, (row) => firsts.get(kindOf(row)) === row).map((row) => ({
    row,
    places: gateCases<Place>(['alone', 'first of three'], (place) => place === 'alone' || needsOthers(row)),
  }));
}

const mostOf = (outcome: Outcome): number => (typeof outcome === 'number' ? outcome : vainMost);

const off = ({ weather }: WeatherRow): WeatherChange =>
  Object.fromEntries(Object.keys(weather).map((name) => [name, null]));

function check(row: WeatherRow, what: string, expected: Outcome, { took, failures }: Tried): void {
  const said = `${what}: ${took ?? 'not done'}; ${failures.join(' | ')}`;
  if (typeof expected === 'number') {
    assert.ok(took !== undefined, said);
    return;
  }
  assert.equal(took, undefined, said);
  if (expected === 'refused') assert.match(said, refusals[namesOf(row).quirk] ?? assert.fail('no words'));
}
