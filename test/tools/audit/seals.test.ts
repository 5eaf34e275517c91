/** An attacker who removes the proofs of authorship makes no event trusted. */
import assert from 'node:assert/strict';
import type { StoredEvent } from '../../../domain/decider.ts';
import { minute } from '../../support/payments.ts';
import { honest, instead, paymentA, shown } from './honest.ts';
import { audit, believed, head, told, written } from './world.ts';

const log = written([...honest, head(honest)]);
/** Trust of a log in which no stream states since when it has seals. */
const more = { believed: { ...believed, begun: 2n ** 64n } };
const unsealed = (events: readonly StoredEvent[]): StoredEvent[] =>
  events.map(({ metadata: { seal: _, ...metadata }, ...event }) => ({ ...event, metadata }));

describe('the audit of a log whose stream of seals is gone', () => {
  it('reports it, and trusts no event without a seal behind one that has it', async () => {
    assert.deepEqual(told(await audit({ log, grounds: shown, more })), ['revisionMissing sealing-begun']);
    const [last] = unsealed(log.slice(-2, -1));
    assert.ok(last);
    const found = told(
      await audit({ log: log.map((event) => (event.id === last.id ? last : event)), grounds: shown, more }),
    );
    assert.ok(found.includes(`sealWrong ${last.stream}`), found.join());
  });

  it('reports that nothing proves the author of a log without any seal', async () => {
    const forged = written(instead(honest, paymentA, 'PaymentFunded', () => ({})));
    const { gaps } = await audit({ log: unsealed(forged), grounds: shown, more });
    assert.deepEqual(
      gaps.map(({ of }) => of),
      ['heads', 'seals'],
    );
  });
});

describe('the audit of a log without heads', () => {
  it('reports that a holder of the master key could have rewritten it, once it is old enough for a head', async () => {
    const gaps = async (now: number) => (await audit({ log: written(honest), grounds: shown, now: minute(now) })).gaps;
    assert.deepEqual(
      (await gaps(10_000)).map(({ of }) => of),
      ['heads'],
    );
    assert.deepEqual(await gaps(120), []);
  });
});
