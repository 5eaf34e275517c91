/** Checks of the two stores: they answer, store data, and match each other. */
import { randomUUID } from 'node:crypto';
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { Metadata } from '@grpc/grpc-js';
import { streamPrefixes } from '../../commands/codec.ts';
import { type EventStore, type SealedEvent, StreamConflict } from '../../commands/ports.ts';
import { ProjectionOutdated, readActive } from '../../projections/generations.ts';
import { projectionSets } from '../../projections/sets.ts';
import type { Database } from '../../src/postgres/database.ts';
import { waitingMigrations } from '../../src/postgres/migrate.ts';
import { sessionFault } from '../../src/postgres/sessions.ts';
import { compareWithLog, LogSetBack } from '../../src/readmodels/logSetBack.ts';
import { embedded } from '../../src/store/address.ts';
import { openWays } from '../../src/store/connection.ts';
import { isForbidden, isUnauthenticated, Unusable } from '../../src/store/failures.ts';
import { broken, type Check, type DoctorFinding, errorReason, fineFinding, look } from './machine.ts';

export type AccessedStore = Pick<EventStore, 'all' | 'append' | 'read' | 'tail'>;

/** No payment has this id, so the default rights of new streams apply to the stream. */
const probeStream = 'payment-access-probe';
/** No stream has this revision: the server checks the right first, and then refuses the append with WrongExpectedVersion. */
const impossibleRevision = 2n ** 62n;
const guide = 'docs/operate/event-store.md';

interface Access {
  readonly verb: 'read' | 'follow' | 'append to';
  readonly target: '$all' | 'streams of payments';
  /** Permissions in the server's access control lists. */
  readonly permission: '$r' | '$w';
  readonly attempt: (store: AccessedStore) => Promise<unknown>;
}

const accesses: readonly Access[] = [
  { verb: 'read', target: '$all', permission: '$r', attempt: (store) => store.tail() },
  { verb: 'follow', target: '$all', permission: '$r', attempt: follow },
  {
    verb: 'read',
    target: 'streams of payments',
    permission: '$r',
    attempt: (store) => store.read(probeStream, { max: 1 }),
  },
  { verb: 'append to', target: 'streams of payments', permission: '$w', attempt: append },
];

/**
 * Tries each kind of access that the service needs as the user of EVENTSTORE_URL, and writes nothing.
 * @param user of EVENTSTORE_URL; null if the URL has none
 */
export async function storeAccess(store: AccessedStore, user: string | null): Promise<readonly DoctorFinding[]> {
  const refused: Access[] = [];
  for (const access of accesses) {
    const refusal = await access.attempt(store).then(() => null, refusalOf);
    if (refusal === 'unauthenticated') return [unauthenticated(user)];
    if (refusal === 'forbidden') refused.push(access);
  }
  if (refused.length === 0)
    return [fineFinding('access', user === null ? 'no user is needed' : `all that user ${user} needs`)];
  return user === null
    ? [withoutUser]
    : [...forbidden('$all', refused, user), ...forbidden('streams of payments', refused, user)];
}

/** The first batch proves the permission, and ends the subscription. */
async function follow(store: AccessedStore): Promise<void> {
  const stop = new AbortController();
  try {
    for await (const _ of store.all({ after: null, prefixes: streamPrefixes, signal: stop.signal })) return;
  } finally {
    stop.abort();
  }
}

async function append(store: AccessedStore): Promise<void> {
  const metadata = {
    prev: null,
    at: new Date().toISOString(),
    cause: 'operator:doctor',
    appId: null,
    schemaVersion: 1,
  };
  const event = { id: randomUUID(), type: 'AccessProbed', data: {}, metadata } as SealedEvent;
  await store.append(probeStream, impossibleRevision, [event]).catch((error: unknown) => {
    if (!(error instanceof StreamConflict)) throw error;
  });
}

/** @throws any error that is no refusal */
function refusalOf(error: unknown): 'unauthenticated' | 'forbidden' {
  const cause = error instanceof Unusable ? error.cause : null;
  if (isUnauthenticated(cause)) return 'unauthenticated';
  if (isForbidden(cause)) return 'forbidden';
  throw error;
}

const unauthenticated = (user: string | null): DoctorFinding =>
  broken(
    'access',
    `The event store refuses user ${user} or their password.`,
    `fix the user and password in EVENTSTORE_URL, or create the user: ${guide}`,
  );

const withoutUser = broken(
  'access',
  'The event store refuses callers without a user.',
  `create a user and name the user in EVENTSTORE_URL: ${guide}`,
);

function forbidden(target: Access['target'], refused: readonly Access[], user: string): readonly DoctorFinding[] {
  const missing = refused.filter((access) => access.target === target);
  if (missing.length === 0) return [];
  const permissions = [...new Set(missing.map(({ permission }) => `"${permission}"`))].join(' and ');
  const list = target === '$all' ? 'the access control list of $all' : '"$userStreamAcl" in the stream $settings';
  return [
    broken(
      'access',
      `User ${user} may not ${missing.map(({ verb }) => verb).join(' or ')} ${target}.`,
      `add "${user}" to ${permissions} of ${list}: ${guide}`,
    ),
  ];
}

/** Major version in the compose file and the test suite. */
const tried = 18;
/** Connections of one instance with all roles: its pools, and its listeners. */
const connectionsOfInstance = 32;
const clockOffMost_s = 5;

interface Settings {
  readonly version: string;
  readonly number: number;
  readonly fsync: string;
  readonly commit: string;
  readonly most: number;
  readonly open: number;
  readonly off_s: number;
}

/** @param now this machine's time in seconds since 1970 */
export const postgresCheck = (database: Database, now_s: () => number): Check => ({
  area: 'Postgres',
  async look() {
    const fault = await sessionFault(database);
    if (fault !== null) return [broken('sessions', fault, 'the service does not start')];
    const [row] = await database.query<Settings>(
      `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
              current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
              current_setting('max_connections')::int AS most, (SELECT count(*)::int FROM pg_stat_activity) AS open,
              abs(extract(epoch FROM clock_timestamp()) - $1)::float8 AS off_s`,
      [now_s()],
    );
    if (!row) throw new Error('Postgres returned no row');
    return [...settings(row), await migrations(database), ...(await readModels(database))];
  },
});

function settings({ version, number, fsync, commit, most, open, off_s }: Settings): readonly DoctorFinding[] {
  const free = most - open;
  return [
    Math.floor(number / 10_000) === tried
      ? fineFinding('version', version)
      : look('version', `${version}, tried with ${tried}`, `move to ${tried}, or run the suite on yours`),
    fsync === 'on' && commit !== 'off'
      ? fineFinding('durability', 'on')
      : look(
          'durability',
          `fsync ${fsync}, synchronous_commit ${commit}`,
          'set both to on: a power cut loses rows else',
        ),
    free >= connectionsOfInstance
      ? fineFinding('connections', `${open} of ${most} in use`)
      : look(
          'connections',
          `${open} of ${most} in use`,
          `raise max_connections: an instance takes ${connectionsOfInstance}`,
        ),
    off_s <= clockOffMost_s
      ? fineFinding('clock', 'as this machine’s')
      : look(
          'clock',
          `${Math.round(off_s)} s from this machine’s`,
          'let both machines take the time from one source (NTP)',
        ),
  ];
}

async function migrations(database: Database): Promise<DoctorFinding> {
  const waiting = await waitingMigrations(database);
  return waiting.length === 0
    ? fineFinding('migrations', 'all made')
    : look('migrations', `${waiting.length} to make, ${waiting[0]} first`, 'nothing: the next start makes them');
}

async function readModels(database: Database): Promise<readonly DoctorFinding[]> {
  // Before the first start there is nothing to query.
  const [made] = await database.query<{ there: boolean }>(`SELECT to_regclass('ops.projections') IS NOT NULL AS there`);
  if (!made?.there) return [];
  return Promise.all(
    projectionSets.map(async (set) => {
      const what = `read models "${set.name}"`;
      try {
        const active = await readActive(database, set);
        return active
          ? fineFinding(what, `up to position ${active.position ?? 0}`)
          : look(what, 'not made yet', 'nothing: the first start makes them');
      } catch (error) {
        if (!(error instanceof ProjectionOutdated)) throw error;
        return broken(what, error.message, `npm run rebuild -- --set ${set.name}`);
      }
    }),
  );
}

interface ServerRelease {
  /** First two numbers of the version. */
  readonly release: string;
  readonly verdict: 'fine' | 'look';
  readonly meaning: string;
}

/** Releases of the server that the service was tried with, or that operators meet (docs/operate/event-store-versions.md). */
const releases: readonly ServerRelease[] = [
  { release: '24.6', verdict: 'fine', meaning: 'EventStoreDB under the BSD licence, tried; it receives no fixes' },
  { release: '24.10', verdict: 'look', meaning: 'EventStoreDB; its support ended in October 2026' },
  { release: '25.0', verdict: 'look', meaning: 'KurrentDB; its support has ended' },
  { release: '25.1', verdict: 'look', meaning: 'KurrentDB; its support has ended' },
  { release: '26.0', verdict: 'fine', meaning: 'KurrentDB with long-term support' },
];
const versionsGuide = 'docs/operate/event-store-versions.md';

/** Says what the server's version means. @param version null if the server names none */
export function serverVersion(version: string | null): DoctorFinding {
  const [release = ''] = /^\d+\.\d+/.exec(version ?? '') ?? [];
  const known = releases.find((each) => each.release === release);
  if (!known)
    return look('version', version ?? 'the server names none', `compare it with the tried ones: ${versionsGuide}`);
  const said = `${version}: ${known.meaning}`;
  return known.verdict === 'fine'
    ? fineFinding('version', said)
    : look('version', said, `upgrade to 26.0: ${versionsGuide}`);
}

/** A store that is opened for the check. */
export interface JoinedStore {
  readonly store: EventStore;
  /** User of EVENTSTORE_URL; null if the URL has none. */
  readonly user: string | null;
  /** Null if the server names none; `embedded` for the service's own node. */
  readonly version: () => Promise<string | null>;
  readonly close: () => Promise<void>;
}

/** @param open joins the store in use, or starts the embedded one for this */
export const eventStoreCheck = (open: () => Promise<JoinedStore>, database: Database): Check => ({
  area: 'Event store',
  async look() {
    const { store, user, version, close } = await open();
    try {
      const access = await storeAccess(store, user);
      if (access.some(({ verdict }) => verdict === 'broken')) return access;
      const end = await store.tail();
      const server = await version();
      return [
        fineFinding('answers', `its log ends at position ${end}`),
        server === embedded
          ? fineFinding('version', 'embedded, for trials and small installations')
          : serverVersion(server),
        ...access,
        await asPostgresKnows(database, store),
      ];
    } finally {
      await close();
    }
  },
});

async function asPostgresKnows(database: Database, store: EventStore): Promise<DoctorFinding> {
  try {
    const waiting = await waitingMigrations(database);
    if (waiting.length > 0)
      return look('fits Postgres', 'not compared: migrations wait', 'nothing: the next start makes them');
    await compareWithLog(database, store);
    return fineFinding('fits Postgres', 'the log has the last event of every read model');
  } catch (error) {
    if (!(error instanceof LogSetBack))
      return look('fits Postgres', `not compared: ${errorReason(error)}`, 'mend Postgres first');
    return broken('fits Postgres', error.message, 'npm run rebuild -- --log-restored, if it was restored');
  }
}

// The server behind EVENTSTORE_URL: its version, by the call of the protocol that names it.

const timeout_ms = 5_000;

/**
 * Reads the server's version, such as `24.6.0` or `26.0.3`. The embedded node returns the version that it imitates.
 * @returns null if the server does not know the call or does not answer within 5 s
 * @throws RangeError for a URL that cannot be used
 */
export async function readServerVersion(url: string): Promise<string | null> {
  const ways = openWays(url);
  try {
    const client = await ways.clientOf(features.ServerFeaturesClient);
    return await new Promise((resolve) => {
      client.getSupportedMethods(
        new shared.Empty(),
        new Metadata(),
        { deadline: Date.now() + timeout_ms },
        (error, answer) => {
          resolve(error ? null : answer.getEventStoreServerVersion() || null);
        },
      );
    });
  } finally {
    ways.close();
  }
}
