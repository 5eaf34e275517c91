/** Common dependencies of all roles: stores, chains, decisions; opened once per process. */
import type { Observable } from 'rxjs';
import { type ChainBroken, eventCodec } from '../commands/codec.ts';
import { createHandle, type Handle } from '../commands/handle.ts';
import type { HeadKeys } from '../commands/heads/sign.ts';
import { createManageMerchant, type ManageMerchant } from '../commands/manageMerchant.ts';
import { type Clock, type CrashPoint, type RevokedKeys, Unavailable } from '../commands/ports.ts';
import { chainOf } from '../domain/chains.ts';
import { epochMs, hour_ms } from '../domain/time.ts';
import { openActive, ProjectionOutdated } from '../projections/generations.ts';
import { projectionSets } from '../projections/sets.ts';
import type { Sql, SqlDatabase } from '../projections/sql.ts';
import { mailsChannel } from './accounts/outbox.ts';
import { familyAddresses } from './chains/families.ts';
import { openLines } from './chains/node/metrics.ts';
import { type Chains, openChains } from './chains/open.ts';
import { type Config, ConfigError } from './config.ts';
import { writeConnections } from './lib/connections.ts';
import { endPassedChannel } from './postgres/cursors.ts';
import { type Database, openDatabase } from './postgres/database.ts';
import { stockChannel } from './postgres/depositOwners.ts';
import { type Leases, openLeases } from './postgres/leases.ts';
import { listen, type Notification } from './postgres/listen.ts';
import { ddlOf, migrate } from './postgres/migrate.ts';
import { createProfileStore } from './postgres/profiles.ts';
import { createReplicaReads } from './postgres/replica.ts';
import { createRevokedKeys, revokedKeysChannel } from './postgres/revokedKeys.ts';
import { sessionFault } from './postgres/sessions.ts';
import { retryUnavailable, startWaits } from './process/retryUnavailable.ts';
import { crashPointFrom, randomIds } from './process/system.ts';
import { createLogger, createTelemetry, type Telemetry } from './process/telemetry.ts';
import { LogSetBack, refuseSetBack } from './readmodels/logSetBack.ts';
import { appEventsChannel } from './readmodels/paymentNews.ts';
import {
  caughtUpWaiter,
  checkpointOf,
  projectedWaiter,
  type WaitUntilCaughtUp,
  type WaitUntilProjected,
} from './readmodels/projections.ts';
import { newApiKey } from './security/apiKey.ts';
import {
  createSecretBox,
  type FormerKey,
  headKeysOf,
  parseMasterKey,
  type SecretBox,
  sealKeyOf,
} from './security/masterKey.ts';
import { createTargetCheck } from './security/publicAddress.ts';
import { remoteOwnersOf } from './signer/index.ts';
import type { OpenEventStore } from './store/client.ts';
import { Unusable } from './store/failures.ts';
import { embeddedStore, openStore } from './store/index.ts';
import { withSeals } from './store/sealed.ts';
import { type ClockWatch, watchClock } from './workers/health/clockWatch.ts';
import { createUnavailableReasons, type UnavailableReasons } from './workers/health/unavailable.ts';
import { depositNeeds } from './workers/payins/depositNeeds.ts';

export interface Core extends Chains {
  readonly config: Config;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly clockWatch: ClockWatch;
  readonly unavailable: UnavailableReasons;
  readonly crash: CrashPoint;
  readonly store: OpenEventStore;
  /** URL of the store in use, configured or embedded. */
  readonly eventStoreUrl: string;
  readonly database: Database;
  /** False while the store is known to accept no event, for example because of a full disk. */
  readonly canWrite: () => boolean;
  /** The database for requests: separate connections and short timeouts. */
  readonly reads: Sql;
  /** For lists, statistics and exports: the replica, where there is one. As fresh as `reads`. */
  readonly reports: Sql;
  /** The database for requests that write. */
  readonly writes: SqlDatabase;
  readonly leases: Leases;
  readonly notifications: Observable<Notification>;
  readonly projected: WaitUntilProjected;
  readonly caughtUp: WaitUntilCaughtUp;
  readonly box: SecretBox;
  /** Former keys, which verify hashes from before a change of the master key. */
  readonly formerKeys: () => readonly FormerKey[];
  /** Keys of heads. @throws Unavailable until the event store has returned the former master keys */
  readonly headKeys: () => Promise<HeadKeys>;
  readonly revokedKeys: RevokedKeys;
  readonly merchants: ManageMerchant;
  /** Decides for requests. */
  readonly handle: Handle;
  /** Decides for workers, through the store's queue that requests cannot fill. */
  readonly workHandle: Handle;
  close(): Promise<void>;
}

/** A request is answered, if only with 503, before its caller's timeout. */
const readLimits = { connectionsMax: 12, statementTimeout_ms: 4_000, patience_ms: 1_000 };
/** Most payments are created and not used again soon: a larger cache would only cost garbage collection. */
const requestedStreams = 1_000;
/** Maximum wait of a start for chains that do not answer. */
const askChains_ms = 3_000;
const notified = [
  'projected',
  'transfers',
  'todo_webhooks',
  'todo_cashback',
  'settings',
  mailsChannel,
  revokedKeysChannel,
  appEventsChannel,
  endPassedChannel,
  stockChannel,
] as const;

export async function openCore(config: Config, clock: Clock): Promise<Core> {
  const telemetry = createTelemetry(createLogger(config.logLevel));
  const depositOwner = remoteOwnersOf(config);
  const open = openChains(config, {
    ...depositNeeds(() => stores),
    depositOwner,
    lines: openLines(telemetry.registry),
  });
  const misfits = await open.misfits(AbortSignal.timeout(askChains_ms));
  if (misfits.length > 0) throw new ConfigError(misfits);
  const crash = crashPointFrom(config.crashAt ?? undefined);
  const box = createSecretBox(parseMasterKey(config.masterKey));
  const node = config.eventStoreUrl ? null : await embeddedStore(config, telemetry);
  const eventStoreUrl = config.eventStoreUrl ?? node?.url ?? '';
  const deciding = { clock, ids: randomIds, codec: eventCodec, crash };
  const store = withSeals(await openStore(eventStoreUrl, config.eventStoreClient, telemetry), {
    masterKey: parseMasterKey(config.masterKey),
    deciding,
    tell: brokenChains(telemetry),
  });
  const database = openDatabase({ url: config.databaseUrl, connectionsMax: 16 });
  const reads = openDatabase({ url: config.databaseUrl, ...readLimits });
  const replica = config.databaseReadUrl === null ? null : openDatabase({ url: config.databaseReadUrl, ...readLimits });
  const reports = replica
    ? createReplicaReads({
        ...{ primary: reads, replica, now_ms: () => epochMs(clock.now()) },
        counted: telemetry.replicaRead,
      })
    : reads;
  const close = async (): Promise<void> => {
    await Promise.allSettled([database.close(), reads.close(), replica?.close(), store.close()]);
    await node?.stop();
  };
  await prepare({ config, clock, telemetry, database, store, eventStoreUrl }).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const leases = openLeases({ database, clock });
  const notifications = listen(database, notified);
  const handle = createHandle({ ...deciding, store, cachedStreams: requestedStreams });
  const projected = projectedWaiter(database, notifications);
  const caughtUp = caughtUpWaiter(store, () => checkpointOf(database), projected);
  const stores = { clock, store, database, reads, projected, caughtUp };
  const revokedKeys = createRevokedKeys(database, clock);
  return {
    config,
    telemetry,
    clockWatch: clockWatchOf(open, clock, telemetry),
    unavailable: createUnavailableReasons(clock, telemetry),
    crash,
    eventStoreUrl,
    canWrite: () => node?.canWrite() ?? true,
    leases,
    notifications,
    ...stores,
    writes: reads,
    reports,
    ...open,
    box,
    formerKeys: store.formerKeys,
    async headKeys() {
      const { former } = await store.sealed();
      const before = former.map(({ kept }) => Buffer.from(kept.seal, 'base64url'));
      return headKeysOf(config.heads, [sealKeyOf(parseMasterKey(config.masterKey)), ...before]);
    },
    handle,
    workHandle: createHandle({ ...deciding, store: store.workers }),
    revokedKeys,
    merchants: manageMerchant({ config, handle, clock, database, box, revokedKeys, ...open }),
    async close() {
      await leases.close();
      await close();
    },
  };
}

type Opened = Pick<Core, 'config' | 'clock' | 'telemetry' | 'database' | 'eventStoreUrl'> & { readonly store: Store };
type Store = ReturnType<typeof withSeals<OpenEventStore>>;

/** Checks and preparations before a role begins. @throws Unavailable if Postgres does not answer in time */
async function prepare({ config, clock, telemetry, database, store, eventStoreUrl }: Opened): Promise<void> {
  const patience = { clock, tell: startWaits(telemetry.logger) };
  const fault = await retryUnavailable(patience, () => sessionFault(database));
  if (fault !== null) throw new ConfigError([`DATABASE_URL: ${fault}`]);
  await retryUnavailable(patience, () => migrate(database));
  // The first read also checks the user and certificates of EVENTSTORE_URL.
  await store
    .tail()
    .then(store.sealed)
    .catch((error: unknown) => {
      if (error instanceof Unusable) throw new ConfigError([error.message]);
      // An unavailable store may recover: nothing is read or written before it has returned where seals begin.
      if (!(error instanceof Unavailable)) throw error;
    });
  await writeConnections(config.dataDir, { databaseUrl: config.databaseUrl, eventStoreUrl });
  await retryUnavailable(patience, () => firstReadModels(database, telemetry));
  await refuseOtherLog({ database, store, telemetry, clock });
}

/** While the log is unavailable, nothing is projected from it: the projections check again. @throws LogSetBack */
async function refuseOtherLog({
  database,
  store,
  telemetry,
  clock,
}: Omit<Opened, 'config' | 'eventStoreUrl'>): Promise<void> {
  try {
    await refuseSetBack(database, store, { clock });
  } catch (error) {
    if (!(error instanceof LogSetBack)) return;
    telemetry.alarm('logSetBack', {}, error.message);
    throw error;
  }
}

const clockWatchOf = ({ chains }: Chains, clock: Clock, telemetry: Telemetry): ClockWatch =>
  watchClock({
    clock,
    newest: [...chains.values()].map(
      ({ ingester }) =>
        async (signal) =>
          (await ingester.head(signal)).chainTime,
    ),
    observe: telemetry.observeClock,
    alarm: (message) => telemetry.alarm('clockOff', {}, message),
  });

/** The first process creates the empty tables, so no role finds one missing. */
async function firstReadModels(database: Database, telemetry: Telemetry): Promise<void> {
  for (const set of projectionSets) {
    await openActive(database, set, await ddlOf(set.name)).catch((error: unknown) => {
      // An older generation remains readable; its runner reports what to do.
      if (!(error instanceof ProjectionOutdated)) throw error;
      telemetry.alarm('projectionOutdated', { set: set.name }, error.message);
    });
  }
}

/** Maximum streams whose breaks are reported once per process; further ones may be reported again. */
const brokenMost = 1_000;

/** Reports streams with a broken hash chain to an operator. */
export function brokenChains({ alarm }: Telemetry): (broken: ChainBroken) => void {
  const told = new Set<string>();
  return ({ stream, revision, message }) => {
    if (told.size >= brokenMost) told.clear();
    if (told.has(stream)) return;
    told.add(stream);
    alarm('chainBroken', { stream, revision: String(revision) }, message);
  };
}

type MerchantNeeds = Pick<
  Core,
  'config' | 'handle' | 'clock' | 'database' | 'box' | 'revokedKeys' | 'receiverChecks' | 'chains'
>;

function manageMerchant(needs: MerchantNeeds): ManageMerchant {
  const { config, handle, clock, database, box, revokedKeys, receiverChecks, chains } = needs;
  return createManageMerchant({
    handle,
    clock,
    ids: randomIds,
    newKey: () => newApiKey(config.mode === 'production' ? 'live' : 'test'),
    revokedKeys,
    profiles: createProfileStore(database),
    // Its library is large, and most processes never handle a picture.
    readLogo: async (bytes) => (await import('./images/logo.ts')).readLogo(bytes),
    localSites: config.mode === 'sandbox',
    settlementCoolDown_ms: config.settlementCoolDown_hours * hour_ms,
    seal: box.seal,
    canonicalAddress: (chainId, text) => familyAddresses.canonical(chainOf(chainId), text) ?? undefined,
    canReceive: receiverChecks,
    offers: ({ id }) => chains.has(id),
    isAllowedTarget: createTargetCheck(config.webhook.allowedCidrs),
  });
}
