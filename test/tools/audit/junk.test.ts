/** A writer with access to the event store, but without a key, writes events that fit nothing: the audit still ends, and these events hide nothing. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoredEvent } from '../../../domain/decider.ts';
import { streams } from '../../../domain/streams.ts';
import { findingsOfKindMax } from '../../../tools/audit/findings.ts';
import { honest, hook, shown, without } from './honest.ts';
import { audit, head, told, written } from './world.ts';

const log = written([...honest, head(honest)]);

/** Appends foreign events to the log. */
function withJunk(junk: readonly Partial<StoredEvent>[]): StoredEvent[] {
  const last = log.at(-1)?.position ?? 0n;
  const counts = new Map<string, bigint>();
  for (const { stream } of log) counts.set(stream, (counts.get(stream) ?? 0n) + 1n);
  const behind = junk.map((each, at) => {
    const stream = each.stream ?? 'junk-1';
    const revision = counts.get(stream) ?? 0n;
    counts.set(stream, revision + 1n);
    const id = `0198f3c2-0000-8000-8000-${String(at).padStart(12, '0')}`;
    return {
      id,
      type: 'Junk',
      data: {},
      metadata: {},
      ...each,
      stream,
      revision,
      position: last + 64n * BigInt(at + 1),
    };
  });
  return [...log, ...(behind as unknown as StoredEvent[])];
}

const datas = [null, 'text', [], {}, { number: null }, { transfer: 1, order: 1, data: null }];
const metadatas = [
  null,
  'text',
  {},
  { prev: 1, at: 2, schemaVersion: 'x' },
  { schemaVersion: 1 },
  { schemaVersion: -1e9 },
];
/** Events of every type, in an existing stream if there is one. */
const everything: readonly Partial<StoredEvent>[] = Object.entries(streams).flatMap(([category, { schemas }]) =>
  Object.keys(schemas).flatMap((type, number) => {
    const stream = log.find((event) => event.stream.startsWith(`${category}-`))?.stream ?? `${category}-junk`;
    const one = (at: number) => ({
      type,
      data: datas[at % datas.length],
      metadata: metadatas[(at + number) % metadatas.length],
    });
    return datas.flatMap((_, at) => [
      { ...one(at), stream },
      { ...one(at + 1), stream: `${category}-junk${at}` },
    ]) as unknown as Partial<StoredEvent>[];
  }),
);

describe('an audit of a log with junk in it', () => {
  it('ends whatever an event of any type holds, and names its stream, with the key of seals and without', async () => {
    for (const sealed of [true, false]) {
      const found = await audit({ log: withJunk(everything), grounds: shown, sealed });
      assert.ok(found.found >= everything.length, `${found.found} of ${everything.length}`);
    }
  });

  it('reports a number of each kind, and counts the others: nothing is hidden behind them', async () => {
    const junk = Array.from({ length: 3_000 }, (_, at) => ({ stream: `aaa-${at}` }));
    const { findings, found, kinds } = await audit({
      log: withJunk(junk),
      grounds: shown.map((each) => ({ ...each, transactions: each.transactions.slice(1) })),
    });
    assert.ok(found > 6_000);
    assert.equal(findings.filter(({ code }) => code === 'sealWrong').length, findingsOfKindMax);
    assert.equal(kinds['sealWrong'], 3_000);
    assert.equal(kinds['schemaWrong'], 3_000);
    assert.ok(findings.some(({ code }) => code === 'settlementForged'));
  });

  it('remembers that a stream was truncated until it is whole again, whatever else is found', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'audit-'));
    try {
      assert.deepEqual(told(await audit({ log, grounds: shown, directory })), []);
      const cut = written(without(honest, hook, 'WebhookSendStarted'));
      const junk = withJunk(Array.from({ length: 1_500 }, (_, at) => ({ stream: `aaa-${at}` }))).slice(log.length);
      const hidden = [...cut, ...junk.map((event, at) => ({ ...event, position: 64n * BigInt(cut.length + at + 1) }))];
      for (let time = 0; time < 2; time += 1) {
        const found = told(await audit({ log: hidden, grounds: shown, directory }));
        assert.ok(found.includes(`streamTruncated ${hook}`), `time ${time}`);
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
