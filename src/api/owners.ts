/** What people who have signed in may see and change of their apps. */
import { eventCodec } from '../../commands/codec.ts';
import { readStream } from '../../commands/handle.ts';
import { changesPage, listOtherChanges } from '../../queries/appHistory.ts';
import { appsOf } from '../../queries/apps.ts';
import { listKeys } from '../../queries/merchantAudit.ts';
import { findLogo, getSettings, listApps, withLastUse } from '../../queries/settings.ts';
import type { Core } from '../core.ts';
import type { Owners, OwnersCommands } from './deps.ts';
import { unavailable } from './errors.ts';
import { admitApp, type Rates } from './rateLimits.ts';

/** Maximum time that a change of settings waits for the read models. */
const inForceWithin_ms = 5_000;
const inForceRetry_s = 2;

export function ownersOf({ clock, reads, store, merchants, projected, caughtUp }: Core, rates: Rates): Owners {
  const log = { history: (stream: string) => readStream(store, stream), read: eventCodec.read };
  return {
    merchants: counted(merchants, rates),
    shown: async ({ position }) => {
      const wait = { timeout_ms: inForceWithin_ms };
      // A null position: the log said so before. An earlier request that said so may not be projected yet.
      await (position === null ? caughtUp(wait) : projected(position, wait)).catch((error: unknown) => {
        throw unavailable(
          'The change is recorded, but not in force yet: send the same request again.',
          inForceRetry_s,
          error,
        );
      });
    },
    appsOf: (developerId) => appsOf(reads, developerId),
    listApps: (developerId) => listApps(reads, developerId),
    getSettings: (appId) => getSettings(reads, appId, clock.now()),
    listKeys: async (appId) => withLastUse(reads, (await listKeys(log, appId)) ?? []),
    listChanges: (appId, page) =>
      changesPage({ ...log, otherChanges: (id, asked) => listOtherChanges(reads, id, asked) }, appId, page),
    findLogo: (digest) => findLogo(reads, digest),
  };
}

/** Nobody fills an app's history or the disk with settings. What protects an app is never too much. */
export function counted(merchants: OwnersCommands, rates: Rates): OwnersCommands {
  type Command<A extends unknown[], R> = (appId: string, ...rest: A) => Promise<R>;
  const limited =
    <A extends unknown[], R>(command: Command<A, R>): Command<A, R> =>
    async (appId, ...rest) => {
      await admitApp(rates, 'changes', appId);
      return command(appId, ...rest);
    };
  return {
    setProfile: limited(merchants.setProfile),
    setLogo: limited(merchants.setLogo),
    requestSettlement: limited(merchants.requestSettlement),
    cancelSettlement: merchants.cancelSettlement,
    setWebhookUrl: limited(merchants.setWebhookUrl),
    setEmbeddingSites: limited(merchants.setEmbeddingSites),
    setPayFrom: limited(merchants.setPayFrom),
    setPolicy: limited(merchants.setPolicy),
    rotateSecret: limited(merchants.rotateSecret),
    issueKey: limited(merchants.issueKey),
    renameKey: limited(merchants.renameKey),
    revokeKey: merchants.revokeKey,
  };
}
