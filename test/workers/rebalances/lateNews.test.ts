import assert from 'node:assert/strict';
import { rebalance } from '../../../domain/rebalance/rebalance.ts';
import { plus } from '../../../domain/time.ts';
import { createLateNews } from '../../../src/workers/rebalances/index.ts';
import { minute } from '../../support/payments.ts';
import { accepted, processes } from '../../support/processes.ts';
import { attested, burnConfirmed, burnSigned, mintConfirmed, mintSigned, ordered } from '../../support/rebalances.ts';
import { arrived, sendOrder, sendSigned } from '../../support/usdt0.ts';

describe('the alarm of late rebalances', () => {
  it('is raised an hour after the time of the route, again every 10 minutes, and no more once the money is minted', async () => {
    const world = processes({ now: minute(0) });
    const handle = world.start();
    const append = (...events: readonly ReturnType<typeof ordered>[]) =>
      accepted(handle(rebalance, 'a', () => events, { cause: 'worker:test', appId: null }));
    const alarms: string[] = [];
    const alarm = (reason: string, _: unknown, message: string) => void alarms.push(`${reason}: ${message}`);
    const tell = createLateNews({ workHandle: handle, clock: world.clock, telemetry: { alarm } } as never);
    const toldAt = async (minutes: number) => {
      world.time.now = minute(minutes);
      await tell('a');
      return alarms.length;
    };
    await append(ordered(), burnSigned());
    assert.equal(await toldAt(600), 0, 'nothing is burned yet');
    // Burned in minute 3, expected 19 minutes later.
    await append(burnConfirmed());
    world.time.now = plus(minute(3 + 19 + 60), -1);
    await tell('a');
    assert.equal(alarms.length, 0);
    assert.equal(await toldAt(3 + 19 + 60), 1);
    assert.match(alarms[0] ?? '', /^rebalanceLate: rebalance-a is burned: \d+ units were expected on Ethereum at 2026/);
    assert.equal(await toldAt(3 + 19 + 69), 1);
    assert.equal(await toldAt(3 + 19 + 70), 2);
    await append(attested(), mintSigned(), mintConfirmed());
    assert.equal(await toldAt(900), 2);
  });

  it('names a message of USDT0 that nobody delivered, until it arrives', async () => {
    const world = processes({ now: minute(0) });
    const handle = world.start();
    const append = (...events: readonly ReturnType<typeof ordered>[]) =>
      accepted(handle(rebalance, 'u', () => events, { cause: 'worker:test', appId: null }));
    const alarms: string[] = [];
    const alarm = (reason: string, _: unknown, message: string) => void alarms.push(`${reason}: ${message}`);
    const tell = createLateNews({ workHandle: handle, clock: world.clock, telemetry: { alarm } } as never);
    await append(ordered(sendOrder()), sendSigned(), burnConfirmed());
    // Sent in minute 3, expected 5 minutes later.
    world.time.now = plus(minute(3 + 5 + 60), -1);
    await tell('u');
    assert.equal(alarms.length, 0);
    world.time.now = minute(3 + 5 + 60);
    await tell('u');
    assert.match(alarms[0] ?? '', /^rebalanceLate: rebalance-u is sent: 100000000 units .* docs\/operate\/usdt0\.md$/);
    await append(arrived());
    world.time.now = minute(900);
    await tell('u');
    assert.equal(alarms.length, 1);
  });
});
