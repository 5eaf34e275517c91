/** The shop's orders, in one SQLite file. What belongs together is one transaction: a kill leaves all of it or nothing. */
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

/** The two statuses that mean: hand it over. */
const isPaid = (status) => status === 'payment_payout_completed' || status === 'payment_completed';
const over = [
  'payment_payout_completed',
  'payment_completed',
  'payment_bounced',
  'payment_expired',
  'payment_refunded',
];

export function openOrders(file) {
  const db = new DatabaseSync(file, { timeout: 5_000 });
  db.exec(`
    CREATE TABLE IF NOT EXISTS orders (
      id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, goods TEXT NOT NULL, price TEXT NOT NULL,
      payment TEXT UNIQUE, link TEXT, status TEXT NOT NULL DEFAULT 'payment_unpaid', asked INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE IF NOT EXISTS parcels (number INTEGER PRIMARY KEY, orderId TEXT NOT NULL, goods TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS feed (one INTEGER PRIMARY KEY CHECK (one = 1), after TEXT NOT NULL);
    INSERT OR IGNORE INTO feed VALUES (1, '0');`);

  function together(work) {
    db.exec('BEGIN IMMEDIATE');
    try {
      work();
      db.exec('COMMIT');
    } catch (error) {
      db.exec('ROLLBACK');
      throw error;
    }
  }

  const find = (id) => db.prepare('SELECT * FROM orders WHERE id = ?').get(id);

  /** A paid order stays paid, and is handed over by the one change that made it paid. A foreign order changes nothing. */
  function learn({ orderId, paymentId, status }) {
    const changed = db
      .prepare(`UPDATE orders SET status = ? WHERE id = ? AND payment = ?
        AND status NOT IN ('payment_payout_completed', 'payment_completed')`)
      .run(status, orderId, paymentId).changes;
    if (changed === 0 || !isPaid(status)) return;
    db.prepare('INSERT INTO parcels (orderId, goods) SELECT id, goods FROM orders WHERE id = ?').run(orderId);
  }

  return {
    find,
    /** Written to disk before the payment is requested. The same key finds its order. */
    place(key, { name, price }) {
      const insert = db.prepare('INSERT OR IGNORE INTO orders (id, key, goods, price) VALUES (?, ?, ?, ?)');
      insert.run(randomUUID(), key, name, price);
      return db.prepare('SELECT * FROM orders WHERE key = ?').get(key);
    },
    keepPayment(orderId, { id, paymentLink }) {
      db.prepare('UPDATE orders SET payment = ?, link = ? WHERE id = ?').run(id, paymentLink, orderId);
    },
    learn: (news) => together(() => learn(news)),
    cursor: () => db.prepare('SELECT after FROM feed').get().after,
    /** The news of a page and its cursor: neither without the other. */
    learnPage: (page, after) =>
      together(() => {
        for (const news of page) learn(news);
        db.prepare('UPDATE feed SET after = ?').run(after);
      }),
    withoutPayment: () => db.prepare('SELECT * FROM orders WHERE payment IS NULL LIMIT 50').all(),
    /** Orders with an unknown outcome, the least often queried first. */
    toAsk() {
      const marks = over.map(() => '?').join();
      const open = db
        .prepare(`SELECT * FROM orders WHERE payment IS NOT NULL AND status NOT IN (${marks}) ORDER BY asked LIMIT 20`)
        .all(...over);
      for (const { id } of open) db.prepare('UPDATE orders SET asked = asked + 1 WHERE id = ?').run(id);
      return open;
    },
  };
}
