/** Number of reads of a transfer's stream while it is carried out. */
import assert from 'node:assert/strict';
import type { Outgoing, TransferOwners } from '../../../commands/transferPorts.ts';
import { plus } from '../../../domain/time.ts';
import { createLoading } from '../../../src/workers/payouts/worker.ts';
import { minute } from '../../support/payments.ts';

const key = { kind: 'payout', id: 'p', part: 1 } as const;

describe('loading a transfer', () => {
  function world(step: Outgoing['step']['do']) {
    const loads: ('read' | 'known')[] = [];
    const around = { now: minute(1), step };
    const owners: TransferOwners = {
      payout: {
        async load(_key: unknown, how: { readonly asKnown?: boolean } = {}) {
          loads.push(how.asKnown ? 'known' : 'read');
          return { key, step: { do: around.step } } as Outgoing;
        },
      } as Partial<TransferOwners['payout']> as NonNullable<TransferOwners['payout']>,
    };
    const loading = createLoading({ clock: { now: () => around.now }, owners });
    const first = (mustWait = false) => loading.first(key, () => mustWait);
    /** Loads since the previous call. */
    const how = () => loads.splice(0).at(-1);
    return { loading, around, first, how };
  }
  const taken = (step: string) => ({ step: { do: step } }) as Outgoing;

  it('reads before any action for it', async () => {
    const { first, how } = world('broadcast');
    for (const _ of [1, 2]) {
      assert.equal((await first())?.step.do, 'broadcast');
      assert.equal(how(), 'read');
    }
  });

  it('skips for two seconds a transfer that owed nothing, or waits', async () => {
    for (const [step, mustWait] of [
      ['done', false],
      ['hold', false],
      ['sign', true],
    ] as const) {
      const { first, how, around } = world(step);
      await first();
      how();
      around.now = plus(around.now, 1_999);
      assert.equal(await first(mustWait), undefined);
      assert.equal(how(), 'known', step);
      around.now = plus(around.now, 1);
      assert.equal((await first(mustWait))?.step.do, step);
      assert.equal(how(), 'read', step);
    }
  });

  it('uses a new order as it was appended, and reads a just signed transfer', async () => {
    const { loading, around, how } = world('sign');
    await loading.next(key, taken('order'));
    assert.equal(how(), 'known');
    around.step = 'broadcast';
    await loading.next(key, taken('sign'));
    assert.equal(how(), 'read');
  });

  it('reads nothing more of a just settled transfer', async () => {
    const { loading, how } = world('done');
    await loading.next(key, taken('broadcast'));
    assert.equal(how(), 'known');
  });
});
