import assert from 'node:assert/strict';
import type { Pass } from '../../commands/chainPorts.ts';
import type { ChainId } from '../../domain/chains.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { sentByItself, startSend, webhook } from '../../domain/webhook.ts';
import { dueExpiries, dueWebhooks, type WorkerShare } from '../../queries/work.ts';
import { createCursors } from '../../src/postgres/cursors.ts';
import { createFailures } from '../../src/postgres/failures.ts';
import { createUnreadableNotes, unreadableName } from '../../src/postgres/unreadable.ts';
import { unexplainedName } from '../../src/workers/payins/unreadable.ts';
import { paymentIdOf } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { addressOf, givenReadModels } from './given.ts';

describe('the to-do list', () => {
  const given = givenReadModels();

  it('names a payment with several sources once, when all disclosed chains have passed its end', async () => {
    const created = p.created({ alternatives: [p.polygonUsdc, p.solanaUsdc] });
    await given.payments([created], [created, p.chose(p.solanaUsdc)], p.unpaid);
    const { database } = given;
    await database.query('TRUNCATE ops.chain_cursors');
    const passes = [8453, 137, 501].map((chainId) => ({ chainId, pass: 'final' as const }));
    const scan = (chainId: ChainId, minute: number) =>
      createCursors(database).save(
        { chainId, pass: 'final', blockNumber: BigInt(minute), blockHash: 'hash', chainTime: p.minute(minute) },
        null,
      );
    const expiries = async () =>
      (await dueExpiries(database, { worker: 'expiry', passes, max: 10, now: p.minute(90) }))
        .map(({ paymentId }) => paymentId)
        .sort();
    await scan(8453, 61);
    assert.deepEqual(await expiries(), [paymentIdOf(3)]);
    await scan(137, 61);
    assert.deepEqual(await expiries(), [paymentIdOf(1), paymentIdOf(3)]);
    await scan(501, 59);
    assert.deepEqual(await expiries(), [paymentIdOf(1), paymentIdOf(3)]);
    await database.query('UPDATE ops.chain_cursors SET chain_time = $1 WHERE chain_id = 501', [p.minute(60)]);
    assert.deepEqual(await expiries(), [1, 2, 3].map(paymentIdOf));
    await database.query('TRUNCATE ops.chain_cursors');
  });

  it('names payments to expire once every final pass of their chain has passed their end, by the chain’s time', async () => {
    await given.payments(p.unpaid, p.paid);
    const { database } = given;
    const cursors = createCursors(database);
    const save = (pass: Pass, minute: number) =>
      cursors.save(
        { chainId: 8453, pass, blockNumber: BigInt(minute), blockHash: 'hash', chainTime: p.minute(minute) },
        null,
      );
    const passes = [
      { chainId: 8453, pass: 'final' },
      { chainId: 8453, pass: 'finalLarge' },
      { chainId: 1, pass: 'final' },
    ];
    const expiries = async (of = passes) =>
      (await dueExpiries(database, { worker: 'expiry', passes: of, max: 10, now: p.minute(90) })).map(
        ({ paymentId }) => paymentId,
      );
    await save('final', 61);
    assert.deepEqual(await expiries(), []);
    await save('finalLarge', 59);
    assert.deepEqual(await expiries(), []);
    assert.deepEqual(await expiries(passes.slice(0, 1)), [paymentIdOf(1)]);
    await database.query("UPDATE ops.chain_cursors SET chain_time = $1 WHERE pass = 'finalLarge'", [p.minute(62)]);
    assert.deepEqual(await expiries(), [paymentIdOf(1)]);
    await createFailures(database).failed('expiry', paymentIdOf(1), new Error('no'), p.minute(90));
    assert.deepEqual(await expiries(), []);
  });

  it('names no payment to expire whose deposit holds unexplained money, until that was tried often enough; others continue', async () => {
    await given.payments(p.unpaid, p.unpaid);
    const { database } = given;
    const [at, passes] = [
      { blockNumber: 62n, blockHash: 'hash', chainTime: p.minute(62) },
      ['final', 'finalLarge'] as const,
    ];
    await database.query('DELETE FROM ops.chain_cursors');
    for (const pass of passes) await createCursors(database).save({ chainId: 8453, pass, ...at }, null);
    const of = passes.map((pass) => ({ chainId: 8453, pass }));
    const expiries = async () =>
      (await dueExpiries(database, { worker: 'expiry', passes: of, max: 10, now: p.minute(90) }))
        .map(({ paymentId }) => paymentId)
        .toSorted();
    const failures = createFailures(database, { attemptsMax: 2 });
    const [worker, address] = [unexplainedName(8453), addressOf(1).toLowerCase()];
    await failures.note(worker, address, 'why', p.minute(62));
    assert.deepEqual(await expiries(), [paymentIdOf(2)]);
    await failures.failed(worker, address, new Error('no'), p.minute(63));
    assert.deepEqual(await expiries(), [paymentIdOf(2)]);
    await failures.failed(worker, address, new Error('no'), p.minute(64));
    assert.deepEqual(await expiries(), [paymentIdOf(1), paymentIdOf(2)]);
    await failures.note(worker, address, 'again', p.minute(65));
    assert.deepEqual(await failures.due(worker, 10, p.minute(99)), [], 'an operator has it');
    await failures.succeeded(worker, address);
    assert.deepEqual(await expiries(), [paymentIdOf(1), paymentIdOf(2)]);
  });

  it('names no payment to expire that an unreadable transaction may have paid, while it is tried; others continue', async () => {
    await given.payments(p.unpaid, p.unpaid);
    const { database } = given;
    const at = { blockNumber: 62n, blockHash: 'hash', chainTime: p.minute(62) };
    await database.query('DELETE FROM ops.chain_cursors');
    await createCursors(database).save({ chainId: 8453, pass: 'final', ...at }, null);
    const expiries = async () => {
      const passes = [{ chainId: 8453, pass: 'final' }];
      const found = await dueExpiries(database, { worker: 'expiry', passes, max: 10, now: p.minute(90) });
      return found.map(({ paymentId }) => paymentId).toSorted();
    };
    const failures = createFailures(database, { attemptsMax: 2 });
    const found = { blockNumber: 60n, evidence: 'meta is null' };
    const notes = createUnreadableNotes(database, failures, 8453);
    await notes.note([{ ...found, txHash: 'a', addresses: [addressOf(1).toLowerCase()] }], p.minute(62));
    await notes.note([{ ...found, txHash: 'b', addresses: [] }], p.minute(62));
    assert.deepEqual(await expiries(), [paymentIdOf(2)]);
    for (const minute of [63, 64]) await failures.failed(unreadableName(8453), 'a', new Error('no'), p.minute(minute));
    assert.deepEqual(await expiries(), [paymentIdOf(1), paymentIdOf(2)]);
  });

  it('names few webhooks of each endpoint, so that its backlog hides neither others nor the webhook URL', async () => {
    const [one, two] = ['4b1c4e2f-97d0-4a3b-8c6e-8f214f1a77b1', '4b1c4e2f-97d0-4a3b-8c6e-8f214f1a77b2'];
    const types = ['payment_payin_completed', 'payment_payout_completed'];
    const webhookEndpoints = [one, two].map((endpointId) => ({ endpointId, url: 'https://books.example/', types }));
    const toAll = ([, ...rest]: readonly PaymentEvent[]) => {
      const created = p.created({ webhookUrl: 'https://shop.example/hook' });
      return [{ ...created, data: { ...created.data, webhookEndpoints } } as PaymentEvent, ...rest];
    };
    await given.payments(toAll(p.done), toAll(p.done));
    const webhooks = () =>
      dueWebhooks(given.database, { worker: 'webhooks', max: 20, now: p.minute(10), perApp: 4, perEndpoint: 1 });
    const due = await webhooks();
    assert.deepEqual(
      [null, one, two].map((endpoint) => due.filter(({ endpointId }) => endpointId === endpoint).length),
      [4, 1, 1],
    );
    const ids = due.map(({ deliveryId }) => deliveryId);
    assert.equal(new Set(ids).size, ids.length);

    const waiting = due.find(({ endpointId }) => endpointId === one);
    assert.ok(waiting);
    const failures = createFailures(given.database, { attemptsMax: 2 });
    await failures.failed('webhooks', `${waiting.paymentId}:${one}`, new Error('no'), p.minute(10));
    const left = await webhooks();
    assert.ok(!left.some((each) => each.endpointId === one && each.paymentId === waiting.paymentId));
    assert.equal(left.filter(({ endpointId }) => endpointId !== one).length, 5, 'the others are still due');
  });

  it('names webhooks until their one attempt begins', async () => {
    const told = ([, ...rest]: readonly PaymentEvent[]) => [
      p.created({ webhookUrl: 'https://shop.example/hook' }),
      ...rest,
    ];
    await given.payments(told(p.paid), told(p.done));
    const webhooks = (perApp = 10) =>
      dueWebhooks(given.database, { worker: 'webhooks', max: 10, now: p.minute(10), perApp, perEndpoint: 1 });
    const [first, ...rest] = await webhooks();
    assert.deepEqual(await webhooks(2), [first, ...rest].slice(0, 2));
    assert.equal(rest.length, 2);
    assert.ok(first);
    assert.deepEqual(
      [first.paymentId, first.eventType, first.eventRevision],
      [paymentIdOf(1), 'payment_payin_completed', 3n],
    );

    const { eventRevision, endpointId, ...delivery } = first;
    assert.equal(endpointId, null);
    const start = { ...delivery, ...sentByItself, eventRevision: eventRevision.toString(), startedAt: p.minute(10) };
    await given.world.handle(webhook, first.deliveryId, (state) => startSend(state, start), {
      cause: 'worker:test',
      appId: null,
    });
    await given.project();
    assert.deepEqual(await webhooks(), rest);
  });

  it('is shared out whole: each due item is in one share, whatever their number, and in no other', async () => {
    const { database } = given;
    await given.payments(p.unpaid);
    await database.query('TRUNCATE ops.chain_cursors');
    await createCursors(database).save(
      { chainId: 8453, pass: 'final', blockNumber: 99n, blockHash: 'hash', chainTime: p.minute(99) },
      null,
    );
    await database.query(`INSERT INTO todo_payments
      SELECT (jsonb_populate_record(NULL::todo_payments,
                to_jsonb(todo) || jsonb_build_object('payment_id', gen_random_uuid()))).*
        FROM (SELECT * FROM todo_payments LIMIT 1) AS todo, generate_series(1, 300)`);
    const passes = [{ chainId: 8453, pass: 'final' }];
    const due = async (share?: WorkerShare) =>
      (
        await dueExpiries(database, {
          worker: 'expiry',
          passes,
          max: 1_000,
          now: p.minute(99),
          ...(share && { share }),
        })
      ).map(({ paymentId }) => paymentId);
    const all = (await due()).toSorted();
    assert.equal(all.length, 301);
    for (const parts of [1, 2, 3, 7, 64]) {
      const shares = await Promise.all(
        Array.from({ length: parts }, (_, before) => due({ number: before + 1, of: parts })),
      );
      assert.deepEqual(shares.flat().toSorted(), all);
      const largest = Math.max(...shares.map(({ length }) => length));
      assert.ok(largest < 301 / parts + 60, `one of ${parts} shares has ${largest}`);
    }
  });
});
