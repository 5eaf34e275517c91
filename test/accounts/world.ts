/** Accounts on a real Postgres with the real commands. Only the spec advances time. The world counts everything costly. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { eventCodec } from '../../commands/codec.ts';
import { createHandle } from '../../commands/handle.ts';
import { createManageMerchant } from '../../commands/manageMerchant.ts';
import { type CrashPoint, Unavailable } from '../../commands/ports.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { hour_ms, instant, plus } from '../../domain/time.ts';
import type { AccountRegistration, Asker } from '../../src/accounts/accounts.ts';
import { createAccounts } from '../../src/accounts/createAccounts.ts';
import type { AccountsDeps } from '../../src/accounts/deps.ts';
import { createOutbox, type Mail } from '../../src/accounts/outbox.ts';
import { createPasscodes, type Passcodes } from '../../src/accounts/passcodes.ts';
import { createSigningKeys, createTokens } from '../../src/accounts/sessions.ts';
import { createRates, defaultRates, type RateLimits, unlimited } from '../../src/api/rateLimits.ts';
import type { Database } from '../../src/postgres/database.ts';
import { randomIds } from '../../src/process/system.ts';
import { newApiKey } from '../../src/security/apiKey.ts';
import { createSecretBox } from '../../src/security/masterKey.ts';
import { createTargetCheck } from '../../src/security/publicAddress.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';
import { memoryProfiles } from '../support/profiles.ts';

export type World = ReturnType<typeof createWorld>;

export const ada = 'ada@shop.example';
export const asker = (more: Partial<Asker> = {}): Asker => ({
  address: '192.0.2.1',
  userAgent: 'a browser',
  known: null,
  ...more,
});

export const request = (more: Partial<AccountRegistration> = {}): AccountRegistration => ({
  email: ada,
  displayName: 'Ada’s beans',
  kind: 'merchant',
  slug: 'beans',
  settlement: null,
  webhookUrl: 'https://shop.example/hooks',
  ...more,
});

interface Options {
  readonly registration?: AccountsDeps['registration'];
  readonly rates?: Partial<RateLimits>;
  readonly limited?: boolean;
  readonly sendsMail?: boolean;
  /** Default: the product's passcodes, at a thousandth of the cost. */
  readonly passcodes?: Passcodes;
}

const cheapPasscodes = createPasscodes({ N: 16, r: 8, p: 1 });

export function createWorld(database: Database, options: Options = {}) {
  const { registration = 'open', rates = {}, limited = false, sendsMail = true, passcodes = cheapPasscodes } = options;
  let now = instant(Date.UTC(2026, 10, 22, 9));
  const clock = { now: () => now, sleep: async () => {} };
  const store = memoryEventStore();
  const box = createSecretBox(randomBytes(32));
  const ids = randomIds;
  const isHash = (text: string) => /^0x[0-9a-f]{40}$/i.test(text);
  const merchants = createManageMerchant({
    handle: createHandle({ store, clock, ids, codec: eventCodec }),
    clock,
    ids,
    newKey: newApiKey,
    revokedKeys: { add: async () => {}, unconfirmed: async () => [] },
    seal: box.seal,
    canonicalAddress: (_chain, text) => (isHash(text) ? text.toLowerCase() : undefined),
    canReceive: {},
    ...memoryProfiles(),
    settlementCoolDown_ms: 48 * hour_ms,
    localSites: false,
    isAllowedTarget: createTargetCheck([]),
    offers: () => true,
  });
  const waits: (bigint | null)[] = [];
  let isBehind = false;
  const observed: string[] = [];
  const work = { hashes: 0, mails: 0, statements: 0 };
  let crashAt: string | null = null;
  const crash: CrashPoint = (point) => {
    if (point === crashAt) throw new Error(`killed at ${point}`);
  };
  const sql: Database = {
    ...database,
    query: (text, values) => {
      work.statements += 1;
      return database.query(text, values);
    },
    transaction: (body) =>
      database.transaction((tx) =>
        body({
          query: (text, values) => {
            work.statements += 1;
            return tx.query(text, values);
          },
        }),
      ),
  };
  const outbox = createOutbox({ sql, box, clock, ids });
  const instance = (own: { readonly keys?: typeof box } = {}) =>
    createAccounts({
      sql,
      box: own.keys ?? box,
      clock,
      ids,
      passcodes: {
        make: (digits) => count('hashes', passcodes.make(digits)),
        matches: (code, kept) => count('hashes', passcodes.matches(code, kept)),
      },
      tokens: createTokens(createSigningKeys({ sql, box: own.keys ?? box, clock, ids }), clock),
      outbox: { ...outbox, put: (tx, mail) => count('mails', outbox.put(tx, mail)) },
      limits: limited ? createRates(database, { ...defaultRates, ...rates }) : unlimited,
      merchants,
      inForce: async (position) => {
        waits.push(position);
        if (isBehind) throw new Unavailable('behind', 2);
      },
      registration,
      sendsMail,
      observe: (step, result) => observed.push(`${step} ${result}`),
      crash,
    });

  function count<T>(what: keyof typeof work, done: T): T {
    work[what] += 1;
    return done;
  }

  /** Sends all waiting mails and returns them, oldest first. */
  async function mails(): Promise<readonly Mail[]> {
    const sent: Mail[] = [];
    for (const mailId of await outbox.due(1_000, now)) {
      const mail = await outbox.open(mailId);
      if (mail) sent.push(mail);
      await outbox.remove(mailId);
    }
    return sent;
  }

  return {
    accounts: instance(),
    waits,
    /** Makes read models lag, or lets them catch up. */
    fallBehind: (behind: boolean) => {
      isBehind = behind;
    },
    instance,
    store,
    box,
    database,
    outbox,
    merchants,
    mails,
    work,
    observed,
    clock,
    advance: (duration_ms: number) => {
      now = plus(now, duration_ms);
    },
    crashAt: (point: string | null) => {
      crashAt = point;
    },
    events: async (appId: string) => (await store.read(`merchant-${appId}`)).map(({ type }) => type),
    /** Returns the costly work that a function caused. */
    async workOf(act: () => Promise<unknown>) {
      const before = { ...work };
      await act();
      const { hashes, mails: put, statements } = work;
      return { hashes: hashes - before.hashes, mails: put - before.mails, statements: statements - before.statements };
    },
  };
}

export function accepted<T>(answer: T | Refusal): T {
  if (isRefusal(answer)) assert.fail(`${answer.refused}: ${answer.message}`);
  return answer;
}

export const refusedWith = (answer: unknown): unknown => (isRefusal(answer) ? answer.refused : answer);

export const codeIn = ({ text }: Mail): string => /Your code is (\d{6})/.exec(text)?.[1] ?? assert.fail(text);
export const anotherCode = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

/** Empties all tables of accounts. */
export async function clear(database: Database): Promise<void> {
  await database.query(
    'TRUNCATE ops.people, ops.registrations, ops.challenges, ops.sessions, ops.signing_keys, ops.mails, ops.rate_limits CASCADE',
  );
}

/** Requests a code and reads it in the mail. Older mail is sent first. */
export async function askedCode({ accounts, mails }: World, email: string, from: Asker = asker()) {
  await mails();
  const { challenge } = accepted(await accounts.ask(email, from));
  const [mail] = await mails();
  return { challenge, code: codeIn(mail ?? assert.fail('no mail')) };
}

/** Registers an app and proves its owner's e-mail. */
export async function registered(world: World, more: Partial<AccountRegistration> = {}, from: Asker = asker()) {
  const registering = accepted(await world.accounts.register(request(more), from));
  const [mail] = await world.mails();
  const code = codeIn(mail ?? assert.fail('no mail'));
  const proved = accepted(await world.accounts.prove(registering.challenge, code, from));
  await world.mails();
  return { ...registering, ...proved, code };
}
