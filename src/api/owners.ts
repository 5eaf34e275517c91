/** Commands and queries of signed-in people with their dependencies: settings, apps, teams. */
import { eventCodec } from '../../commands/codec.ts';
import { readStream } from '../../commands/handle.ts';
import { createManageTeam } from '../../commands/team.ts';
import { appsOf, findLogo, getSettings, listApps } from '../../queries/apps.ts';
import { changesPage, listKeys, listOtherChanges, withLastUse } from '../../queries/merchantAudit.ts';
import { listInvitations, listTeam } from '../../queries/team.ts';
import type { WebsiteDeps } from '../../web/index.ts';
import { createFindInvitee } from '../accounts/people.ts';
import type { Core } from '../core.ts';
import { randomIds } from '../process/system.ts';
import type { ApiDeps } from './app.ts';
import { unavailable } from './errors.ts';

import { admitApp, type Rates } from './rateLimits.ts';
import type { TeamRoutesDeps } from './routes/team.ts';

/** Maximum time that a change of settings waits for the read models. */
const inForceWithin_ms = 5_000;
const inForceRetry_s = 2;

type OwnersDeps = Pick<
  ApiDeps & WebsiteDeps,
  'merchants' | 'shown' | 'appsOf' | 'listApps' | 'getSettings' | 'listKeys' | 'listChanges' | 'findLogo'
>;

export function personCommands(
  { clock, reads, store, merchants, projected, caughtUp }: Core,
  rates: Rates,
): OwnersDeps {
  const log = { history: (stream: string) => readStream(store, stream), read: eventCodec.read };
  return {
    merchants: countedCommands(merchants, rates),
    shown: async ({ position }) => {
      const wait = { timeout_ms: inForceWithin_ms };
      // A null position: the log had the change already, perhaps from an earlier request that is not projected yet.
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

/** Owners' commands. All except cancelSettlement, removeEndpoint and revokeKey, which protect an app, @throws ApiError rateLimited */
export type OwnersCommands = (ApiDeps & WebsiteDeps)['merchants'];

/** Limits changes, so nobody fills an app's history or the disk. Protective actions are always allowed. */
export function countedCommands(merchants: OwnersCommands, rates: Rates): OwnersCommands {
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
    setWebhookTypes: limited(merchants.setWebhookTypes),
    addEndpoint: limited(merchants.addEndpoint),
    setEndpointTypes: limited(merchants.setEndpointTypes),
    rotateEndpointSecret: limited(merchants.rotateEndpointSecret),
    removeEndpoint: merchants.removeEndpoint,
    setEmbeddingSites: limited(merchants.setEmbeddingSites),
    // By person: a member cannot use up the changes of the others.
    async setNotifications(appId, choice, by) {
      await admitApp(rates, 'changes', `${appId} ${by.cause}`);
      return merchants.setNotifications(appId, choice, by);
    },
    setPayFrom: limited(merchants.setPayFrom),
    setPolicy: limited(merchants.setPolicy),
    rotateSecret: limited(merchants.rotateSecret),
    issueKey: limited(merchants.issueKey),
    renameKey: limited(merchants.renameKey),
    revokeKey: merchants.revokeKey,
  };
}

/** Teams of apps over HTTP. Actions that protect an app are always allowed. */
export function teamOf(
  { handle, clock, reads, writes, config }: Pick<Core, 'handle' | 'clock' | 'reads' | 'writes' | 'config'>,
  rates: Rates,
): TeamRoutesDeps['team'] {
  const manage = createManageTeam({
    handle,
    clock,
    findInvitee: createFindInvitee({ sql: writes, clock, ids: randomIds, sendsMail: config.mail !== null }),
  });
  return {
    ...manage,
    async invite(appId, request, by) {
      await admitApp(rates, 'changes', appId);
      return manage.invite(appId, request, by);
    },
    async setRole(appId, developerId, role, by) {
      await admitApp(rates, 'changes', appId);
      return manage.setRole(appId, developerId, role, by);
    },
    list: (appId) => listTeam(reads, appId, clock.now()),
    invitations: (developerId) => listInvitations(reads, developerId, clock.now()),
  };
}
