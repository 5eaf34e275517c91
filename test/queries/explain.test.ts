import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { eventCodec, linkOf, verifyChain } from '../../commands/codec.ts';
import { readStream } from '../../commands/handle.ts';
import { type PaymentEvent, paymentEventSchemas, paymentSchemaVersion } from '../../domain/payment/events.ts';
import { situations } from '../../domain/payment/situation.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { paymentStatuses } from '../../domain/payment/view.ts';
import { waitReasons } from '../../domain/transfer/shapes.ts';
import { type Explanation, eventSentence, explainPayment, situationSentences } from '../../queries/explain/explain.ts';
import { type TransferNotes, waitAnswer, waitAnswers } from '../../queries/explain/next.ts';
import { append, createWorld } from '../support/histories.ts';
import * as p from '../support/payments.ts';

const paymentId = '0198f3c2-0000-8000-8000-000000000001';

interface Asked {
  readonly minute?: number;
  readonly noted?: TransferNotes;
}

async function explain(
  history: readonly PaymentEvent[],
  { minute = 10, noted = {} }: Asked = {},
): Promise<Explanation> {
  const world = createWorld();
  await append(world, `payment-${paymentId}`, history);
  const events = await readStream(world.store, `payment-${paymentId}`);
  const explained = explainPayment(events, {
    read: eventCodec.read,
    linkOf,
    now: p.minute(minute),
    noted: () => noted,
    chainOf: () => ({ head: 102n, needed: 12 }),
  });
  return explained ?? assert.fail('no payment');
}

describe('a payment explained', () => {
  it('states its status, its events, the next step and its time', async () => {
    const { summary, because, next, operator } = await explain([p.created(), p.detected()]);
    assert.equal(
      summary,
      'Money has come, and it is not all there or not final on its chain yet. All that is due has been seen; blocks above it are being counted.',
    );
    const [created, seen] = because;
    assert.match(
      created?.sentence ?? '',
      /10\.01 USDC may be paid on Base until 2026-11-21T10:00:00\.000Z; 10\.00 USDC is paid out on Ethereum; the fee is 0\.01 USDC/,
    );
    assert.match(seen?.sentence ?? '', /10\.01 USDC were seen: transaction 0x.* in block 100 of Base\. It counts\./);
    assert.match(next.join(), /Money counts until .* 2 blocks are on top of the shallowest payin, 12 are wanted/);
    assert.deepEqual(operator, []);
  });

  it('names number, place and hash of each event, as the log has them', async () => {
    const world = createWorld();
    await append(world, `payment-${paymentId}`, p.done);
    const events = await readStream(world.store, `payment-${paymentId}`);
    assert.equal(verifyChain(events), null);
    const { because, next } = await explain(p.done);
    assert.deepEqual(
      because.map(({ type }) => type),
      p.done.map(({ type }) => type),
    );
    assert.match(
      because[3]?.sentence ?? '',
      /rule "agreed".*Received 10\.01 USDC = 10\.00 USDC to be paid out \+ 0\.01 USDC fee \+ 0\.00 USDC excess/,
    );
    assert.deepEqual(
      because.map(({ revision }) => Number(revision)),
      [0, 1, 2, 3, 4, 5, 6],
    );
    for (const { link } of because) assert.match(link, /^[0-9a-f]{64}$/);
    assert.deepEqual(next, ['Nothing is due: it has come to its end.']);
  });

  it('states why its payout waits, since when, and the operator’s options', async () => {
    const since = p.minute(7);
    const wait = { reason: 'float', message: 'the treasury holds 3.00 USDC', since };
    const { next, operator } = await explain(p.ordered, { noted: { wait } });
    assert.deepEqual(next, [
      `The payout waits since ${since} (float). ${waitAnswers.float.why} Noted: the treasury holds 3.00 USDC`,
    ]);
    assert.deepEqual(operator, [waitAnswers.float.operator]);
    assert.match((await explain(p.ordered)).next.join(), /The payout of 10\.00 USDC is signed next/);
    assert.match(waitAnswer('fromTheFuture').why, /does not know: fromTheFuture/);
  });

  it('states parked, held and short transfers, and lost money', async () => {
    const failure = { attempts: 10, error: 'boom', parked: true, nextAttempt: p.minute(9) };
    const parked = await explain(p.sent, { noted: { failure } });
    assert.match(parked.next.join(), /recorded bytes are sent.*The payout failed 10 times and is left to you: boom/);
    assert.match(parked.operator.join(), /npm run work -- retry/);
    assert.match((await explain([...p.ordered, p.held()])).next.join(), /on hold: an operator holds it: paid by hand/);
    assert.match(
      (await explain([...p.sent, p.short('4.00')])).next.join(),
      /on hold: .* brought the receiver 4\.00 of 10\.00 USDC/,
    );
    assert.match(
      (await explain([...p.ordered, p.lost()])).next.join(),
      /on hold: money that funded the payment has left/,
    );
  });

  it('states the held money and its refund', async () => {
    const late = p.payin({ tx: 'late', at: p.minute(61) });
    const { summary, next, operator } = await explain(
      [p.created(), p.expired(), p.detected(late), p.confirmed(late), p.bounced('latePayin', '10.01')],
      { minute: 70 },
    );
    assert.match(summary, /it is held, and can go back\. /);
    assert.match(
      next.join(),
      /10\.01 USDC on Base are held: it came too late\..*10\.01 USDC on Base can go back: its sender proves/,
    );
    assert.match(operator.join(), new RegExp(`npm run refunds -- list ${paymentId}`));
  });

  it('states its end, by the clocks of the chains', async () => {
    assert.match(
      (await explain(p.unpaid, { minute: 61 })).next.join(),
      /It ends once every chain .* read past 2026-11-21T10:00:00\.000Z/,
    );
  });

  describe('has a sentence', () => {
    const isSentence = (text: string | undefined): void => assert.match(text ?? '', /^[A-Z].{10,}[.:)]|: /);

    it('for every status and situation', async () => {
      const seen = new Set<string>();
      for (const history of lives()) {
        for (let length = 1; length <= history.length; length += 1) {
          const { status, summary } = await explain(history.slice(0, length));
          seen.add(status);
          isSentence(summary);
        }
      }
      // Without a bridge, completed and payout completed are one status with two names.
      assert.deepEqual(
        paymentStatuses.filter((status) => !seen.has(status) && status !== 'payment_completed'),
        [],
      );
      for (const kind of situations) isSentence(situationSentences[kind]);
    });

    it('for every reason to wait', () => {
      for (const reason of waitReasons) isSentence(waitAnswers[reason].why);
      assert.deepEqual(Object.keys(waitAnswers).sort(), [...waitReasons].sort());
    });

    it('for every event, without a payer’s address or a proof', () => {
      const told = new Set<string>();
      for (const history of lives()) {
        let payment = paymentDecider.initial;
        for (const event of history) {
          payment = paymentDecider.evolve(payment, event);
          const sentence = payment ? eventSentence(event, payment) : undefined;
          isSentence(sentence);
          assert.ok(!sentence?.includes(p.customerWallet), sentence);
          assert.doesNotMatch(sentence ?? '', /undefined|null|\[object/);
          told.add(event.type);
        }
      }
      assert.deepEqual(
        Object.keys(paymentEventSchemas).filter((type) => !told.has(type)),
        [],
      );
    });
  });
});

/** Histories with every type of event, from the newest golden file. */
function lives(): readonly (readonly PaymentEvent[])[] {
  const file = new URL(`../domain/golden/payment.${paymentSchemaVersion}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).map(({ events }: { events: readonly PaymentEvent[] }) => events);
}
