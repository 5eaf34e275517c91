/** Tries each row of a family, alone and as the first of three: what it does while it lasts, and that nothing is lost or paid twice after it. */
import assert from 'node:assert/strict';
import { namesOf, type Outcome, refusals, type WeatherRow, weatherRows } from '../../../docs/weather.ts';
import { startWeatherNode, type WeatherNode } from '../../../sandbox/weather/proxy.ts';
import type { WeatherChange } from '../../../sandbox/weather/quirks.ts';
import { type Ground, paying, seeing, type Tried } from './trial.ts';

/** While a quirk lasts that nothing survives. */
const vainMost = 3;
/** Once it is over. */
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

  for (const row of weatherRows.filter((each) => each.family === family)) {
    const { quirk, settings } = namesOf(row);
    for (const [place, expected] of [
      ['alone', row.alone],
      ['first of three', row.ofThree],
    ] as const) {
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
