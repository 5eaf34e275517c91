/** Manipulations of a log, with and without the key of seals: the audit finds each, and names stream and event. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoredEvent } from '../../../domain/decider.ts';
import type { HeadSigned, HeadsEvent } from '../../../domain/heads/heads.ts';
import { readEntry } from '../../../tools/audit/entry.ts';
import { headsMax, withHead } from '../../../tools/audit/heads.ts';
import { payin } from '../../support/payments.ts';
import { honest, hook, instead, on, paymentA, paymentB, shown, testStart, thief, without } from './honest.ts';
import { audit, head, pointed, told, written } from './world.ts';

const first = head(honest);
const whole = [...honest, first];

describe('the audit finds changes of the log itself:', () => {
  const log = written(whole);
  const of = (type: string): number => log.findIndex((event) => event.type === type);
  const tell = async (events: readonly StoredEvent[]) => pointed(await audit({ log: events, grounds: shown }));

  it('an edited event', async () => {
    const edited = log.map((event, i) =>
      i === of('PayoutRequested') ? { ...event, data: { ...(event.data as object), receiverAddress: thief } } : event,
    );
    const found = await tell(edited);
    assert.ok(found.includes(`sealWrong ${paymentA} 4`), found.join());
    assert.ok(found.includes(`linkBroken ${paymentA} 5`), found.join());
  });

  it('a deleted event', async () => {
    const found = await tell(log.filter((_, i) => i !== of('PayinDetected')));
    assert.ok(found.includes(`revisionMissing ${paymentA} 2`), found.join());
  });

  it('an event that was put between two others, and one that was put at the end', async () => {
    const at = of('PayoutRequested');
    const [before, next] = [log[at - 1], log[at]];
    assert.ok(before && next);
    const between = { ...before, revision: next.revision, position: next.position - 1n };
    const behind = log
      .slice(at)
      .map((event) => (event.stream === paymentA ? { ...event, revision: event.revision + 1n } : event));
    const inserted = await tell([...log.slice(0, at), between, ...behind]);
    assert.ok(inserted.includes(`sealWrong ${paymentA} 4`), inserted.join());
    assert.ok(inserted.includes(`linkBroken ${paymentA} 4`), inserted.join());
    const appended = await tell([...log, { ...before, revision: 7n, position: (log.at(-1)?.position ?? 0n) + 64n }]);
    assert.ok(appended.includes(`sealWrong ${paymentA} 7`), appended.join());
  });

  it('an event with another time or author than at its writing', async () => {
    const { metadata, ...event } = log[of('OperationOrdered')] as StoredEvent;
    const found = await tell(
      log.map((each) => (each.id === event.id ? { ...event, metadata: { ...metadata, cause: 'operator:bob' } } : each)),
    );
    assert.ok(found.includes('sealWrong operation-w1 0'), found.join());
    assert.ok(found.includes('linkBroken operation-w1 1'), found.join());
  });

  it('an event that no version writes, though it is sealed', async () => {
    const found = await tell(written([...honest, ...on(paymentB, { type: 'PaymentForgiven', data: {} })]));
    assert.deepEqual(found, [`schemaWrong ${paymentB} 9`]);
    const odd = await tell(written(instead(honest, paymentB, 'RefundRequested', () => ({ amount: 'much' }))));
    assert.ok(odd.includes(`schemaWrong ${paymentB} 6`), odd.join());
  });

  it('a whole stream that is gone, by the head above it', async () => {
    const found = await tell(log.filter(({ stream }) => stream !== 'operation-w1'));
    assert.ok(found.includes('headRootWrong heads-log 0'), found.join());
  });

  it('a reordered stream', async () => {
    const [a, b] = [of('PayinDetected'), of('PayinConfirmed')];
    const swapped = log.map((event, i) => ({
      ...event,
      position: log[i === a ? b : i === b ? a : i]?.position ?? 0n,
    }));
    const found = await tell(swapped.toSorted((x, y) => Number(x.position - y.position)));
    assert.ok(found.includes(`orderBroken ${paymentA} 2`), found.join());
  });

  it('a forged head', async () => {
    const forged = whole.map((each) =>
      each === first
        ? { ...first, event: { ...first.event, data: { ...first.event.data, root: 'ab'.repeat(32) } } }
        : each,
    );
    const found = await tell(written(forged));
    assert.deepEqual(found, ['headForged heads-log 0', 'headRootWrong heads-log 0']);
  });

  it('a log that was sealed again by a holder of the master key, under a head that was signed before', async () => {
    const resealed = instead(whole, paymentA, 'PayinDetected', () => ({ transfer: { ...payin(), from: thief } }));
    assert.deepEqual(await tell(written(resealed)), ['headRootWrong heads-log 0']);
  });

  it('a truncated stream, and one that was rewritten, once an audit has seen them', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'audit-'));
    try {
      assert.deepEqual(told(await audit({ log: written(honest), grounds: shown, directory })), []);
      const truncated = without(honest, hook, 'WebhookSendStarted');
      assert.deepEqual(told(await audit({ log: written(truncated), grounds: shown, directory })), [
        `webhookNeverSent ${paymentA}`,
        `streamTruncated ${hook}`,
      ]);
      const rewritten = instead(honest, 'operation-w1', 'OperationOrdered', () => ({ reason: 'rent' }));
      assert.deepEqual(told(await audit({ log: written(rewritten), grounds: shown, directory })), [
        'streamChanged operation-w1',
      ]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

describe('the audit of heads', () => {
  it('finds an older head that was signed over another log than this, under a good one', async () => {
    const other = head(instead(honest, paymentA, 'PaymentFunded', () => ({ fee: '2' })));
    const id = '0198f3c2-0000-8000-8000-0000000000aa';
    const below = [...honest, other, ...on(`webhook-${id}`, testStart(id))];
    const log = written([...below, head(below, other.event as HeadsEvent)]);
    const { findings } = await audit({ log, grounds: shown });
    assert.deepEqual(
      findings.map(({ code, stream, revision }) => `${code} ${stream} ${revision}`),
      ['headRootWrong heads-log 0'],
    );
  });

  it('compares the log with the first head, the newest, and some evenly between them', () => {
    const entries = written(Array.from({ length: 40 }, () => ({ stream: 'heads-log', event: first.event }))).map(
      (event) => readEntry(event, null),
    );
    const kept = entries.reduce(withHead, []);
    const numbers = kept.map(({ revision }) => revision);
    assert.equal(numbers.length, headsMax);
    assert.deepEqual([numbers[0], numbers.at(-1)], [0, 39]);
    assert.ok(numbers.every((number, at) => at === 0 || number - (numbers[at - 1] ?? 0) >= 5));
  });

  it('follows heads from one to the next, and compares with one that the auditor kept', async () => {
    const more = [
      ...whole,
      ...on('webhook-0198f3c2-0000-8000-8000-0000000000aa', testStart('0198f3c2-0000-8000-8000-0000000000aa')),
    ];
    const log = written([...more, head(more, first.event as HeadsEvent)]);
    assert.deepEqual(told(await audit({ log, grounds: shown })), []);
    const kept = await audit({ log, grounds: shown, keptHeads: [{ number: 1, root: 'cd'.repeat(32) }] });
    assert.deepEqual(told(kept), ['headForged heads-log']);
  });

  it('finds that a head which the auditor kept is gone, with those after it, or with all', async () => {
    const kept = { keptHeads: [{ number: 2, root: 'cd'.repeat(32) }] };
    assert.deepEqual(pointed(await audit({ log: written(whole), grounds: shown, ...kept })), [
      'headForged heads-log 0',
    ]);
    assert.deepEqual(pointed(await audit({ log: written(honest), grounds: shown, ...kept })), [
      'headForged heads-log -',
    ]);
  });

  it('compares the log with each head that the auditor kept: a rewritten part beneath it is found, though all later heads fit', async () => {
    const second = '0198f3c2-0000-8000-8000-0000000000b2';
    const began = on(`webhook-${second}`, testStart(second));
    const kept = head([...whole, ...began], first.event as HeadsEvent);
    const anew = instead(began, `webhook-${second}`, 'WebhookSendStarted', () => ({ url: 'https://other.example' }));
    const said = [...whole, ...anew, kept];
    for (let [number, before] = [3, kept]; number <= 12; number += 1) {
      const id = `0198f3c2-0000-8000-8000-0000000001${String(number).padStart(2, '0')}`;
      said.push(...on(`webhook-${id}`, testStart(id)));
      before = head(said, before.event as HeadsEvent);
      said.push(before);
    }
    const { root } = kept.event.data as HeadSigned;
    const keptHeads = [{ number: 2, root }];
    assert.deepEqual(pointed(await audit({ log: written(said), grounds: shown, keptHeads })), [
      'headRootWrong heads-log 1',
    ]);
  });

  it('finds a head that covers less than the one before it', async () => {
    const id = '0198f3c2-0000-8000-8000-0000000000aa';
    const more = [...whole, ...on(`webhook-${id}`, testStart(id))];
    const less = head(more, first.event as HeadsEvent, ['webhook']);
    assert.deepEqual(pointed(await audit({ log: written([...more, less]), grounds: shown })), [
      'headForged heads-log 1',
    ]);
  });

  it('finds heads in another stream of theirs, and compares the log with none of them', async () => {
    const id = '0198f3c2-0000-8000-8000-0000000000aa';
    const beside = { ...head([...whole, ...on(`webhook-${id}`, testStart(id))]), stream: 'heads-other' };
    const found = pointed(await audit({ log: written([...whole, beside]), grounds: shown }));
    assert.deepEqual(found, ['illegalEvent heads-other 0']);
  });
});
