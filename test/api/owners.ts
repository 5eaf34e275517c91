/** Owners of apps, on the real commands and a log in memory. Their reads fold the log. */

import { eventCodec } from '../../commands/codec.ts';
import { createHandle, currentState, type Handle, readStream } from '../../commands/handle.ts';
import { createManageLinks } from '../../commands/links.ts';
import { createManageMerchant, type ManageMerchant } from '../../commands/manageMerchant.ts';
import type { Clock } from '../../commands/ports.ts';
import { createManageTeam } from '../../commands/team.ts';
import { type Link, link } from '../../domain/link.ts';
import type { SettlementWallet } from '../../domain/merchant/events.ts';
import { noProfile } from '../../domain/merchant/profile.ts';
import { roleOf } from '../../domain/merchant/roles.ts';
import { type MerchantState, merchant, pendingChange, settlementAt } from '../../domain/merchant/state.ts';
import { hour_ms } from '../../domain/time.ts';
import type { Settings, ShownWallet } from '../../queries/apps.ts';
import { listedOf } from '../../queries/links.ts';
import { type AppAuditDeps, changesPage, type HistoryDeps, listKeys } from '../../queries/merchantAudit.ts';
import type { HttpDeps } from '../../src/api/index.ts';
import { familyAddresses } from '../../src/chains/families.ts';
import { readLogo } from '../../src/images/logo.ts';
import { randomIds } from '../../src/process/system.ts';
import { newApiKey } from '../../src/security/apiKey.ts';
import { createTargetCheck } from '../../src/security/publicAddress.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';
import { memoryProfiles } from '../support/profiles.ts';
import { wholeLog } from '../support/readModels.ts';

export interface Owners
  extends Pick<
    HttpDeps,
    | 'shown'
    | 'findSession'
    | 'appsOf'
    | 'listApps'
    | 'getSettings'
    | 'listKeys'
    | 'listChanges'
    | 'findLogo'
    | 'links'
    | 'team'
  > {
  readonly merchants: ManageMerchant;
  readonly audit: AppAuditDeps;
  readonly handle: Handle;
}

/** Token of a signed-in person, with as many parts as a real one. */
const tokenOf = (developerId: string): string => `${developerId}.session.token`;
export const headersOf = (developerId: string) => ({ Authorization: `Bearer ${tokenOf(developerId)}` });

export function ownersDeps(clock: Clock): Owners {
  const store = memoryEventStore();
  const handle = createHandle({ store, clock, ids: randomIds, codec: eventCodec });
  const kept = memoryProfiles();
  const apps: string[] = [];
  const merchants = createManageMerchant({
    handle,
    clock,
    ids: randomIds,
    newKey: newApiKey,
    revokedKeys: { add: async () => {}, unconfirmed: async () => [] },
    profiles: kept.profiles,
    readLogo,
    settlementCoolDown_ms: 48 * hour_ms,
    localSites: false,
    seal: (plain) => `sealed ${plain.length}`,
    canonicalAddress: (_chain, text) => (/^0x[0-9a-f]{40}$/i.test(text) ? text : undefined),
    canReceive: {},
    offers: () => true,
    isAllowedTarget: createTargetCheck([]),
  });
  const stateOf = (appId: string) => currentState(handle, merchant, appId);
  const profileOf = async ({ profile }: MerchantState) =>
    (profile === null ? null : await kept.profiles.find(profile)) ?? noProfile;
  const ownedBy = async (developerId: string): Promise<readonly MerchantState[]> =>
    (await Promise.all(apps.map(stateOf))).filter((state) => roleOf(state, developerId) !== null);
  const audit = { history: (stream: string) => readStream(store, stream), read: eventCodec.read };

  const linksOf = async (appId: string): Promise<readonly Link[]> => {
    const streams = new Set((await wholeLog(store)).map(({ stream }) => stream).filter((name) => /^link-/.test(name)));
    const all = await Promise.all([...streams].map((name) => currentState(handle, link, name.slice('link-'.length))));
    return all.filter((each): each is Link => each?.appId === appId).toReversed();
  };

  /** A single page of all changes. */
  const otherChanges: HistoryDeps['otherChanges'] = async (appId, { cursor }) => {
    const own = (await wholeLog(store)).filter(
      ({ stream, metadata }) => /^link-/.test(stream) && metadata.appId === appId,
    );
    const rows = own.map(({ id: eventId, type: what, metadata: { at, cause: by } }) => ({ eventId, at, by, what }));
    return { rows: cursor === undefined ? rows.reverse() : [], nextCursor: null };
  };

  return {
    audit,
    handle,
    team: {
      ...createManageTeam({
        handle,
        clock,
        // A person's id is the part of their address before the @.
        findInvitee: async (email) => ({ developerId: email.replace(/@.*$/, '') }),
      }),
      list: async (appId) => {
        const { developerId, members, invitations } = await stateOf(appId);
        const emailed = (id: string) => ({ developerId: id, email: `${id}@people.example` });
        const open = invitations.filter(({ expiresAt }) => expiresAt > clock.now());
        return [
          ...(developerId === null ? [] : [{ ...emailed(developerId), role: 'owner' as const, invitedUntil: null }]),
          ...members.map(({ developerId: id, role }) => ({ ...emailed(id), role, invitedUntil: null })),
          ...open.map(({ developerId: id, role, expiresAt }) => ({ ...emailed(id), role, invitedUntil: expiresAt })),
        ];
      },
      invitations: async (developerId) => {
        const states = await Promise.all(apps.map(stateOf));
        return states.flatMap(({ registration, invitations }) =>
          invitations
            .filter((each) => each.developerId === developerId && each.expiresAt > clock.now())
            .map(({ role, expiresAt }) => ({ appId: registration?.appId ?? '', name: null, role, expiresAt })),
        );
      },
    },
    links: {
      ...createManageLinks({
        handle,
        clock,
        ids: randomIds,
        addresses: familyAddresses,
        offers: () => true,
        countOpen: async (appId) => (await linksOf(appId)).filter(({ closedAt }) => closedAt === null).length,
      }),
      find: (linkId) => currentState(handle, link, linkId),
      list: async (appId, { limit }) => {
        const own = await linksOf(appId);
        return { links: own.slice(0, limit).map(listedOf), nextCursor: null };
      },
      payments: async () => [],
    },
    merchants: {
      ...merchants,
      async register(appId, registration, by) {
        if (!apps.includes(appId)) apps.push(appId);
        return merchants.register(appId, registration, by);
      },
    },
    shown: async () => {},
    findSession: async (token) => {
      const developerId = token.split('.')[0] ?? '';
      return token !== tokenOf(developerId) ? null : { developerId, sessionId: `session of ${developerId}` };
    },
    appsOf: async (developerId) => (await ownedBy(developerId)).map(({ registration }) => registration?.appId ?? ''),
    async listApps(developerId) {
      const owned = await ownedBy(developerId);
      return Promise.all(
        owned.map(async (state) => {
          const { name, logo } = await profileOf(state);
          const { appId = '', registeredAt = clock.now() } = state.registration ?? {};
          return { appId, registeredAt, name, logo };
        }),
      );
    },
    getSettings: async (appId) => settingsOf(await stateOf(appId)),
    listKeys: async (appId) => ((await listKeys(audit, appId)) ?? []).map((key) => ({ ...key, lastUsedAt: null })),
    listChanges: (appId, page) => changesPage({ ...audit, otherChanges }, appId, page),
    findLogo: async (digest) => kept.logos.get(digest) ?? null,
  };

  async function settingsOf(state: MerchantState): Promise<Settings | null> {
    if (!state.registration) return null;
    const now = clock.now();
    const wallet = settlementAt(state, now);
    const pending = pendingChange(state, now);
    return {
      appId: state.registration.appId,
      registeredAt: state.registration.registeredAt,
      profile: await profileOf(state),
      settlement: wallet && shown(wallet),
      settlementChange: pending && { ...pending, wallet: shown(pending.wallet) },
      webhookUrl: state.webhookUrl,
      webhookTypes: state.webhookTypes,
      webhookEndpoints: state.webhookEndpoints.map(({ ciphertext: _, ...endpoint }) => endpoint),
      webhookSecretFingerprint: state.webhookSecret?.fingerprint ?? null,
      webhookSecretRotatedAt: state.webhookSecret?.rotatedAt ?? null,
      keylessAllowed: state.keylessCreation,
      embeddingSites: state.embeddingSites,
      payFrom: state.payFrom,
      policy: state.policy,
      fees: state.fees,
    };
  }
}

const shown = ({ chainId, token, receiverAddress, receiverMemo }: SettlementWallet): ShownWallet => ({
  chainId,
  tokenSymbol: token.symbol,
  receiverAddress,
  receiverMemo,
});
