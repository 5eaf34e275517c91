/**
 * Three apps of one person on the real commands, read models and queries: one with nothing yet, one with 20 payments and one with 100,000
 * more. Pages of the dashboard are looked at with each of them.
 */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Handle } from '../../commands/handle.ts';
import { createRoleCheck, type RoleCheck } from '../../commands/handle.ts';
import { createTendPayment } from '../../commands/tendPayment.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { recordOutcome, startSend, webhook } from '../../domain/webhook.ts';
import { inSchema } from '../../projections/generations.ts';
import { reportsSet, workSet } from '../../projections/sets.ts';
import type { Sql } from '../../projections/sql.ts';
import type { Database } from '../../src/postgres/database.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { realDeps, servedRoutes } from '../api/twoApps.ts';
import { startWorld, type World } from '../api/world.ts';
import { deliveryOutcome, deliveryStart } from '../support/deliveries.ts';
import { append, createWorld, type World as Log } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';
import { seededPayments } from './everyDay.ts';

export const sizes = ['nothing', 'twenty', 'hundredThousand'] as const;
export type Size = (typeof sizes)[number];

const appIds: Readonly<Record<Size, string>> = {
  nothing: 'merchant_first_day',
  twenty: 'merchant_bakery',
  hundredThousand: 'merchant_marketplace_of_everything',
};
const developerId = 'ann';
/** Copies of each of the 20 payments, and how many of them one statement makes. */
const copies = 5_000;
const atOnce = 500;
const by = { cause: `developer:${developerId}` } as const;
const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

export interface ThreeApps extends AsyncDisposable {
  readonly world: World;
  /** Paths of every page of an app, by a short name for files. */
  pagesOf(size: Size): Readonly<Record<string, string>>;
  /** Signs the browser's profile in as the owner of the three apps. */
  signIn(page: Page): Promise<void>;
}

export async function startThreeApps(): Promise<ThreeApps> {
  const database = await freshDatabase();
  const log = createWorld();
  // Owners are in the log of people, payments in this log.
  const handle: Handle = (decider, ...rest) =>
    (decider.category === 'merchant' ? world.people : log).handle(decider, ...rest);
  const roleCheck: RoleCheck = (appId, who, action) => createRoleCheck(world.people.handle)(appId, who, action);
  const tend = createTendPayment({ handle, clock: log.clock, roleCheck });
  const world: World = await startWorld({
    ...realDeps(database, log, roleCheck),
    tend,
    payTest: async () => {},
    findApp: async (appId) => {
      const settings = await world.people.getSettings(appId);
      return (
        settings && {
          ...{ appId, developerId, idSalt: 'a'.repeat(64), keylessAllowed: false },
          ...{ webhookUrl: settings.webhookUrl, settlement: settings.settlement },
        }
      );
    },
  });
  await register(world, 'nothing');
  const details = {
    twenty: { ...(await settings(world, 'twenty')), ...(await seed(log, 'twenty', '01')) },
    hundredThousand: { ...(await settings(world, 'hundredThousand')), ...(await seed(log, 'hundredThousand', '02')) },
  };
  const all = [await wholeLog(log.store)];
  const work = await fill(database, log.store, workSet, all);
  const reports = await fill(database, log.store, reportsSet, all);
  await multiply(database, { work: work.schema, reports: reports.schema });
  return {
    world,
    pagesOf: (size) => pagesOf(appIds[size], size === 'nothing' ? null : details[size]),
    async signIn(page) {
      await page.context().setExtraHTTPHeaders({ cookie: `__Host-session=${developerId}.session.token` });
    },
    [Symbol.asyncDispose]: () => world.stop(),
  };
}

function accepted<T extends object>(answer: T | Refusal): T {
  if (isRefusal(answer)) assert.fail(answer.message);
  return answer;
}

const register = async ({ people }: World, size: Size) =>
  accepted(
    await people.merchants.register(appIds[size], { developerId, webhookUrl: null }, { cause: 'operator:spec' }),
  );

/** Registers an app with all settings, keys, links and a team. */
async function settings(world: World, size: 'twenty' | 'hundredThousand'): Promise<Registered> {
  const { merchants, team, links } = world.people;
  const appId = appIds[size];
  const isLarge = size === 'hundredThousand';
  await register(world, size);
  const name = isLarge ? 'Marketplace of Everything and a Little More, Inc.' : 'Bäckerei Sonntag';
  accepted(await merchants.setProfile(appId, { name, colour: '#7c3aed' }, by));
  const settlement = { chainId: 8453, tokenSymbol: 'USDC', receiverAddress: wallet, receiverMemo: null } as const;
  accepted(await merchants.requestSettlement(appId, settlement, by));
  accepted(await merchants.setWebhookUrl(appId, 'https://shop.example/webhooks', by));
  const types = ['payment_payout_completed', 'payment_held'];
  for (let n = 0; n < (isLarge ? 5 : 1); n += 1) {
    const url = `https://receiver-${n}.example/a/path/that/is/long/enough/to/wrap/on/a/phone?token=${'x'.repeat(40)}`;
    accepted(await merchants.addEndpoint(appId, { url, types }, by));
  }
  let keyId = '';
  for (let n = 0; n < (isLarge ? 12 : 2); n += 1) {
    const scope = n % 2 ? 'admin' : 'orders';
    ({ keyId } = accepted(await merchants.issueKey(appId, { scope, name: `till ${n}`, expiresAt: null }, by)));
  }
  for (const role of ['developer', 'operations', 'readOnly'] as const)
    accepted(await team.invite(appId, { email: `${role}-of-${size}@people.example`, role }, by));
  const memberId = `developer-of-${size}`;
  accepted(await team.accept(appId, { cause: `developer:${memberId}` }));
  const app = { appId, idSalt: 'a'.repeat(64), webhookUrl: null, settlement };
  const link = {
    type: 'exactOut',
    amount: '10.00',
    title: 'Workshop ticket',
    description: null,
    source: null,
  } as const;
  const made = accepted(await links.create(app, link, by));
  return { keyId, linkId: made.link.linkId, memberId };
}

interface Details extends Seeded, Registered {}

interface Registered {
  readonly keyId: string;
  readonly linkId: string;
  readonly memberId: string;
}

interface Seeded {
  readonly paymentIds: readonly string[];
  readonly deliveryId: string;
}

/** The 20 payments of an app, with a webhook for each. */
async function seed(log: Log, size: Size, mark: string): Promise<Seeded> {
  const appId = appIds[size];
  const payments = seededPayments(appId, mark);
  for (const { paymentId, events } of payments) await append(log, `payment-${paymentId}`, events);
  let deliveryId = '';
  for (const [index, { paymentId }] of payments.entries()) {
    const told = (await log.store.read(`payment-${paymentId}`)).find(({ type }) => type === 'PaymentFunded');
    if (!told) continue;
    deliveryId = `0198f3c2-00${mark}-8000-9000-0000000000${String(index).padStart(2, '0')}`;
    const eventRevision = told.revision.toString();
    const of = { deliveryId, paymentId, appId, eventId: told.id, eventRevision, startedAt: p.minute(10 + index / 10) };
    const facts = { cause: 'worker:test', appId } as const;
    await log.handle(webhook, deliveryId, (state) => startSend(state, deliveryStart(of)), facts);
    const outcome = deliveryOutcome(index % 3 === 0 ? 500 : 200, p.minute(11));
    await log.handle(webhook, deliveryId, (state) => recordOutcome(state, outcome), facts);
  }
  return { paymentIds: payments.map((each) => each.paymentId), deliveryId };
}

/** Copies the rows of the largest app's payments over 40 days, in statements that are short on a slow machine too. */
async function multiply(database: Database, { work, reports }: { readonly work: string; readonly reports: string }) {
  const appId = appIds.hundredThousand;
  await database.transaction(async (tx) => {
    for (const table of [
      `${work}.payments`,
      ...['deliveries', 'app_events', ...hourly.keys()].map((name) => `${reports}.${name}`),
    ])
      await tx.query(
        `CREATE TEMP TABLE first_${table.split('.')[1]} ON COMMIT DROP AS SELECT * FROM ${table} WHERE app_id = $1`,
        [appId],
      );
    for (let from = 1; from <= copies; from += atOnce) await copy(tx, { work, reports }, from);
    await tx.query(
      `INSERT INTO ${reports}.payment_words (app_id, word, payment_id)
         SELECT app_id, word, payment_id FROM ${work}.payments, unnest(ARRAY[lower(order_id), lower(title)]) AS word
          WHERE app_id = $1 AND word <> '' ON CONFLICT DO NOTHING`,
      [appId],
    );
  });
  for (const [set, schema] of [
    ['work', work],
    ['reports', reports],
  ] as const) {
    const statements = (await ddlOf(set)).indexes.split(/;\s*\n/).filter((text) => /\bINDEX\b/.test(text));
    await database.transaction(async (tx) => {
      await tx.query('SET LOCAL statement_timeout = 0');
      await inSchema(tx, { schema });
      for (const statement of statements) await tx.query(statement);
    });
  }
  await database.query('ANALYZE');
}

const earlier = `n * interval '12 minutes'`;

/** Copies the first rows `atOnce` times. */
async function copy(tx: Sql, { work, reports }: { readonly work: string; readonly reports: string }, from: number) {
  const values = [from, from + atOnce - 1];
  const n = 'generate_series($1::int, $2::int) AS n';
  await tx.query(
    `INSERT INTO ${work}.payments SELECT copy.* FROM first_payments AS one, ${n},
       LATERAL jsonb_populate_record(one, jsonb_build_object(
         'payment_id', md5(one.payment_id || n)::uuid::text, 'order_id', one.order_id || '-' || n,
         'created_at', one.created_at - ${earlier}, 'expires_at', one.expires_at - ${earlier})) AS copy`,
    values,
  );
  await tx.query(
    `INSERT INTO ${reports}.deliveries SELECT copy.* FROM first_deliveries AS one, ${n},
       LATERAL jsonb_populate_record(one, jsonb_build_object(
         'delivery_id', md5(one.delivery_id || n)::uuid::text, 'payment_id', md5(one.payment_id || n)::uuid::text,
         'started_at', one.started_at - ${earlier}, 'delivered_at', one.delivered_at - ${earlier})) AS copy`,
    values,
  );
  await tx.query(
    `INSERT INTO ${reports}.app_events SELECT copy.* FROM first_app_events AS one, ${n},
       LATERAL jsonb_populate_record(one, jsonb_build_object(
         'ordinal', one.ordinal + n * 1000, 'event_id', md5(one.event_id || n)::uuid::text)) AS copy`,
    values,
  );
  for (const [table, sums] of hourly)
    await tx.query(
      `INSERT INTO ${reports}.${table} AS kept (app_id, hour, ${sums.join(', ')})
         SELECT app_id, date_trunc('hour', one.hour - ${earlier}), ${sums.map((column) => `sum(one.${column})`).join(', ')}
           FROM first_${table} AS one, ${n} GROUP BY 1, 2
       ON CONFLICT (app_id, hour) DO UPDATE SET ${sums.map((column) => `${column} = kept.${column} + excluded.${column}`).join(', ')}`,
      values,
    );
}

/** Tables of sums by hour, with their columns. */
const hourly: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'hourly_payments',
    [
      ...['unpaid', 'started', 'payin_completed', 'bridging', 'payout_started'],
      ...['payout_completed', 'completed', 'bounced', 'expired', 'refunded'],
    ],
  ],
  ['hourly_stats', ['volume', 'net', 'count', 'refunded']],
]);

/** Answers other than pages, the preview in a frame, and a change of the wallet that no app has. */
const noPages =
  /\/(live|payments\.csv|events\.json|evidence|reports\/month|reports\/accounting|branding\/preview|settlement\/cancel)$/;

/** @param details null on the first day, which has only pages without an id */
function pagesOf(appId: string, details: Details | null): Readonly<Record<string, string>> {
  const home = `/dashboard/apps/${appId}/`;
  const pages: Record<string, string> = {};
  for (const route of servedRoutes()) {
    const [method, path = ''] = route.split(' ');
    const below = path.replace('/dashboard/apps/:appId/', '');
    if (method !== 'GET' || below === path || noPages.test(path)) continue;
    if (details === null && (below.includes(':') || below === 'webhooks/remove')) continue;
    const name = below.replaceAll(':', '').replaceAll('/', '-') || 'overview';
    pages[name] = home + (details === null ? below : withIds(below, details));
  }
  if (details === null) return pages;
  for (const [index, paymentId] of details.paymentIds.slice(0, 8).entries())
    pages[`payment-${index}`] = `${home}payments/${paymentId}`;
  return {
    ...pages,
    'payments-needs': `${home}payments?group=needs`,
    'payments-largest': `${home}payments?sort=largest`,
    'payments-search': `${home}payments?q=A-10`,
    'overview-30d': `${home}?period=30d`,
    'webhooks-refused': `${home}webhooks?state=exhausted`,
    'find-search': `${home}find?q=A-10`,
  };
}

/** The payment with held money allows each page of a payment but cancelling, which needs an unpaid one. */
function withIds(path: string, { paymentIds, deliveryId, keyId, linkId, memberId }: Details): string {
  const [, unpaid = '', , , , held = ''] = paymentIds;
  return path
    .replace(':paymentId', path.endsWith('/cancel') ? unpaid : held)
    .replace(':deliveryId', deliveryId)
    .replace(':keyId', keyId)
    .replace(':linkId', linkId)
    .replace(':memberId', memberId);
}
