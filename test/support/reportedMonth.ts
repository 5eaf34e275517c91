/** A few payments and an unmatched transfer in read models, for reports: two paid out, one each unpaid, expired and underpaid. */
import { type PaymentEvent, transferId } from '../../domain/payment/events.ts';
import { reportsSet, workSet } from '../../projections/sets.ts';
import type { Database } from '../../src/postgres/database.ts';
import { append, createWorld, paymentIdOf } from './histories.ts';
import * as p from './payments.ts';
import { freshDatabase } from './postgres.ts';
import { fill, wholeLog } from './readModels.ts';

/** A payment of its own with this history. */
export const payment = (n: number, history: readonly PaymentEvent[]): readonly PaymentEvent[] =>
  history.map((event) =>
    event.type === 'PaymentCreated' ? { ...event, data: { ...event.data, paymentId: paymentIdOf(n) } } : event,
  );

/** Paid out in a transaction of its own, which cost 0.0001 ETH. */
function paidOut(n: number): readonly PaymentEvent[] {
  const signing = p.attempt(1, { nonce: String(n) });
  const cost = { payer: signing.account, fee: '100000000000000' };
  const settled = p.settled(signing);
  return payment(n, [...p.ordered, p.signed(signing), { ...settled, data: { ...settled.data, cost } } as PaymentEvent]);
}

const paidTooLittle = p.payin({ amount: '4.00', tx: 'too little' });
export const monthsHistories: readonly (readonly PaymentEvent[])[] = [
  paidOut(1),
  paidOut(2),
  payment(3, [p.created()]),
  payment(4, [p.created(), p.expired()]),
  payment(5, [p.created(), p.confirmed(paidTooLittle), p.bounced('amountTooLow', '4.00')]),
];

/** @param more histories of further payments */
export async function reportedMonth(more: readonly (readonly PaymentEvent[])[] = []): Promise<Database> {
  const database = await freshDatabase();
  const world = createWorld();
  for (const [index, history] of [...monthsHistories, ...more].entries())
    await append(world, `payment-${paymentIdOf(index + 1)}`, history);
  const nobodys = { ...p.payin({ amount: '7.00', tx: 'nobody’s', in: p.stellarUsdc }), memo: null };
  const seen = { type: 'UnmatchedPayinSeen', data: { transfer: nobodys, seenAt: p.minute(6) } };
  await append(world, `unmatched-${transferId(nobodys)}`, [seen]);
  for (const set of [workSet, reportsSet]) await fill(database, world.store, set, [await wholeLog(world.store)]);
  return database;
}
