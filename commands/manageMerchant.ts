/** Changes of an app by its owner and by operators. */
import { type Decision, isRefusal, personOf, type Refusal, refuse } from '../domain/decider.ts';
import * as apps from '../domain/merchant/app.ts';
import * as settlements from '../domain/merchant/app.ts';
import type { KeyScope, MerchantEvent, RotatedSecret } from '../domain/merchant/events.ts';
import * as keys from '../domain/merchant/keys.ts';
import { type NotificationChoice, setNotifications } from '../domain/merchant/notifications.ts';
import { type ProfileChange, readLabel } from '../domain/merchant/profile.ts';
import { type Action, refuseRole } from '../domain/merchant/roles.ts';
import * as fees from '../domain/merchant/settings.ts';
import { setEmbeddingSites, setPayFrom, setPolicy } from '../domain/merchant/settings.ts';
import { type MerchantState, merchant, pendingChange } from '../domain/merchant/state.ts';
import * as webhooks from '../domain/merchant/webhook.ts';
import type { StatedPolicy } from '../domain/payment/amountPolicy.ts';
import type { Instant } from '../domain/time.ts';
import { readFee, readPayFromSetting, readPolicy, readRoute, type StatedFee, type StatedRoute } from './appTerms.ts';
import { type By, createRoleCheck, currentState, type Handled } from './handle.ts';
import {
  type Changed,
  changeLogo,
  changeProfile,
  endpointSecretContext,
  makeSecret,
  type NewRegistration,
  type PreparedRegistration,
  prepare,
  type Registered,
  type RegistrationDeps,
  type RegistrationRequest,
  readSettlement,
  refuseTarget,
  register,
  type SettlementRequest,
  webhookSecretContext,
} from './merchantRegistration.ts';
import type { Side } from './paymentRequest.ts';
import type { RevokedKeys } from './ports.ts';

export type { Changed, NewRegistration, PreparedRegistration, Registered, RegistrationRequest, SettlementRequest };

/** A new key: `key` goes to its owner once, the rest is stored. */
export interface NewKey {
  readonly keyId: string;
  readonly key: string;
  readonly hash: string;
  readonly hint: string;
}

export interface ManageMerchantDeps extends RegistrationDeps {
  readonly newKey: () => NewKey;
  readonly revokedKeys: RevokedKeys;
  /** Cool-down of an owner's change of the settlement wallet. */
  readonly settlementCoolDown_ms: number;
  /** Allows sites of this machine to embed payment pages, for a sandbox. */
  readonly localSites: boolean;
}

/** A secret is returned only by the call that made it. */
export interface ShownSecret extends Changed {
  readonly webhookSecret: string;
  readonly webhookSecretFingerprint: string;
  readonly webhookSecretRotatedAt: Instant;
}

/** The secret of an endpoint, returned only by the call that made it. */
export interface ShownEndpointSecret extends Changed {
  readonly endpointId: string;
  readonly secret: string;
  readonly secretFingerprint: string;
  readonly secretRotatedAt: Instant;
}

export interface EndpointRequest {
  readonly url: string;
  readonly types: readonly string[];
}

export interface KeyRequest {
  readonly scope: KeyScope;
  readonly name: string;
  /** Null for never. */
  readonly expiresAt: Instant | null;
}

export interface IssuedKeyText extends Changed, Omit<NewKey, 'hash'>, KeyRequest {}

export interface RequestedSettlement extends Changed {
  /** Pending change; null if the wallet is in force. */
  readonly pending: { readonly changeId: string; readonly effectiveAt: Instant } | null;
}

/** A person (cause `developer:…`) is refused with `forbidden` unless their role in the app's team allows the change. */
export interface ManageMerchant {
  /** Checks everything that needs no write. Refuses an id that is in use (`appIdTaken`). */
  prepare(appId: string, request: RegistrationRequest): Promise<PreparedRegistration | Refusal>;
  /** Repeating it for the same person changes nothing; for another person it is refused with `appIdTaken`. */
  register(appId: string, registration: NewRegistration, by: By): Promise<Registered | Refusal>;
  setOwner(appId: string, developerId: string, by: By): Promise<Changed | Refusal>;
  /** Omitted fields keep their values; null unsets one. */
  setProfile(appId: string, change: ProfileChange, by: By): Promise<Changed | Refusal>;
  /** @param bytes an uploaded picture; null removes the logo */
  setLogo(appId: string, bytes: Uint8Array | null, by: By): Promise<Changed | Refusal>;
  /** Takes effect at once: for operators. */
  setSettlement(appId: string, wallet: SettlementRequest, by: By): Promise<Changed | Refusal>;
  /** For owners: the first wallet takes effect at once, a later one after the cool-down. */
  requestSettlement(appId: string, wallet: SettlementRequest, by: By): Promise<RequestedSettlement | Refusal>;
  cancelSettlement(appId: string, by: By): Promise<Changed | Refusal>;
  setWebhookUrl(appId: string, url: string | null, by: By): Promise<Changed | Refusal>;
  /** Replaces all types that the app gets besides the first two, for payments created from now on. */
  setWebhookTypes(appId: string, types: readonly string[], by: By): Promise<Changed | Refusal>;
  /** Adds an endpoint besides the webhook URL, for payments created from now on. */
  addEndpoint(appId: string, endpoint: EndpointRequest, by: By): Promise<ShownEndpointSecret | Refusal>;
  /** Replaces the endpoint's types, for payments created from now on. */
  setEndpointTypes(appId: string, endpointId: string, types: readonly string[], by: By): Promise<Changed | Refusal>;
  rotateEndpointSecret(appId: string, endpointId: string, by: By): Promise<ShownEndpointSecret | Refusal>;
  /** The endpoint gets nothing more, also of existing payments. */
  removeEndpoint(appId: string, endpointId: string, by: By): Promise<Changed | Refusal>;
  /** Replaces the notifications of the person who asks. Nobody else can choose for them. */
  setNotifications(appId: string, choice: NotificationChoice, by: By): Promise<Changed | Refusal>;
  /** Replaces the whole list of sources that payers may choose. */
  setPayFrom(appId: string, payFrom: readonly Side[], by: By): Promise<Changed | Refusal>;
  /** Replaces the whole policy for wrong amounts of new payments. */
  setPolicy(appId: string, policy: StatedPolicy, by: By): Promise<Changed | Refusal>;
  /** For operators: sets the fee of one route for new payments. */
  setFee(appId: string, fee: StatedFee, by: By): Promise<Changed | Refusal>;
  removeFee(appId: string, route: StatedRoute, by: By): Promise<Changed | Refusal>;
  /** @param sites origins: the complete list of sites that may frame payment pages */
  setEmbeddingSites(appId: string, sites: readonly string[], by: By): Promise<Changed | Refusal>;
  rotateSecret(appId: string, by: By): Promise<ShownSecret | Refusal>;
  setKeylessCreation(appId: string, allowed: boolean, by: By): Promise<Changed | Refusal>;
  issueKey(appId: string, key: KeyRequest, by: By): Promise<IssuedKeyText | Refusal>;
  renameKey(appId: string, keyId: string, name: string, by: By): Promise<Changed | Refusal>;
  /**
   * Resolves once no instance accepts the key. Every instance refuses it before the log has its event: after a crash in between, the key
   * works nowhere, and repeating the command records the event.
   * @returns a refusal if an instance has not confirmed in time: the key is revoked, but that instance may still accept it
   */
  revokeKey(appId: string, keyId: string, by: By): Promise<Changed | Refusal>;
}

export function createManageMerchant(deps: ManageMerchantDeps): ManageMerchant {
  const { handle, clock, ids, revokedKeys } = deps;

  type Decide = (state: MerchantState) => Decision<MerchantEvent>;
  type Outcome = Handled<MerchantState> | Refusal;
  const changeBy =
    (by: By, action: Action | 'operator') =>
    (appId: string, decide: Decide): Promise<Outcome> =>
      handle(merchant, appId, (state) => refused(state, by, action) ?? decide(state), { ...by, appId });
  const change = async (
    action: Action | 'operator',
    appId: string,
    by: By,
    decide: Decide,
  ): Promise<Changed | Refusal> => changed(await changeBy(by, action)(appId, decide));

  const roleCheck = createRoleCheck(handle);

  /** Gives an endpoint a new secret. */
  async function secretOf(
    appId: string,
    endpointId: string,
    by: By,
    decide: (state: MerchantState, endpointId: string, secret: RotatedSecret) => Decision<MerchantEvent>,
  ): Promise<ShownEndpointSecret | Refusal> {
    const { webhookSecret: text, secret } = makeSecret(deps, endpointSecretContext(appId, endpointId));
    const rotatedAt = clock.now();
    const outcome = await change('changeWebhookEndpoints', appId, by, (state) =>
      decide(state, endpointId, { ...secret, rotatedAt }),
    );
    if (isRefusal(outcome)) return outcome;
    return { ...outcome, endpointId, secret: text, secretFingerprint: secret.fingerprint, secretRotatedAt: rotatedAt };
  }

  return {
    prepare: (appId, request) => prepare(deps, appId, request),
    register: (appId, registration, by) => register(deps, appId, registration, by),
    setOwner: (appId, developerId, by) => change('operator', appId, by, (state) => apps.setOwner(state, developerId)),
    setProfile: async (appId, stated, by) =>
      (await roleCheck(appId, by, 'setProfile')) ??
      changed(await changeProfile(deps, appId, stated, changeBy(by, 'setProfile'))),
    // Before the picture is decoded, which costs time.
    setLogo: async (appId, bytes, by) =>
      (await roleCheck(appId, by, 'setLogo')) ?? changed(await changeLogo(deps, appId, bytes, changeBy(by, 'setLogo'))),

    async setSettlement(appId, request, by) {
      const wallet = await readSettlement(deps, request);
      return isRefusal(wallet)
        ? wallet
        : change('operator', appId, by, (state) => settlements.setSettlement(state, wallet));
    },

    async requestSettlement(appId, request, by) {
      const wallet = await readSettlement(deps, request);
      if (isRefusal(wallet)) return wallet;
      const now = clock.now();
      const asked = { changeId: ids.eventId(), wallet, now, coolDown_ms: deps.settlementCoolDown_ms };
      const handled = await changeBy(by, 'requestSettlement')(appId, (state) =>
        settlements.requestSettlement(state, asked),
      );
      if (isRefusal(handled)) return handled;
      return { position: handled.position, pending: pendingChange(handled.state, now) };
    },

    cancelSettlement: (appId, by) =>
      change('cancelSettlement', appId, by, (state) => settlements.cancelSettlement(state, clock.now())),

    setWebhookUrl: async (appId, url, by) =>
      refuseTarget(deps, url) ?? change('setWebhookUrl', appId, by, (state) => webhooks.setWebhookUrl(state, url)),

    setWebhookTypes: (appId, types, by) =>
      change('setWebhookTypes', appId, by, (state) => webhooks.setWebhookTypes(state, types)),

    addEndpoint: async (appId, { url, types }, by) =>
      refuseTarget(deps, url, 'url') ??
      secretOf(appId, ids.eventId(), by, (state, endpointId, secret) =>
        webhooks.addEndpoint(state, { endpointId, url, types: [...types], ...secret }),
      ),

    setEndpointTypes: (appId, endpointId, types, by) =>
      change('changeWebhookEndpoints', appId, by, (state) => webhooks.setEndpointTypes(state, endpointId, types)),

    rotateEndpointSecret: (appId, endpointId, by) =>
      secretOf(appId, endpointId, by, (state, id, secret) => webhooks.rotateEndpointSecret(state, id, secret)),

    removeEndpoint: (appId, endpointId, by) =>
      change('changeWebhookEndpoints', appId, by, (state) => webhooks.removeEndpoint(state, endpointId)),

    setNotifications: async (appId, choice, by) => {
      const developerId = personOf(by.cause);
      if (developerId === null) return refuse('forbidden', 'only a member of the team can choose notifications');
      return change('setNotifications', appId, by, (state) => setNotifications(state, developerId, choice));
    },

    setPayFrom: async (appId, stated, by) => {
      const payFrom = readPayFromSetting(deps, stated);
      return isRefusal(payFrom) ? payFrom : change('setPayFrom', appId, by, (state) => setPayFrom(state, payFrom));
    },

    setPolicy: async (appId, stated, by) => {
      const policy = readPolicy(stated);
      return isRefusal(policy) ? policy : change('setPolicy', appId, by, (state) => setPolicy(state, policy));
    },

    setFee: async (appId, stated, by) => {
      const fee = readFee(stated);
      return isRefusal(fee) ? fee : change('operator', appId, by, (state) => fees.setFee(state, fee));
    },

    removeFee: async (appId, stated, by) => {
      const route = readRoute(stated);
      return isRefusal(route) ? route : change('operator', appId, by, (state) => fees.removeFee(state, route));
    },

    setEmbeddingSites: (appId, sites, by) =>
      change('setEmbeddingSites', appId, by, (state) => setEmbeddingSites(state, { sites, local: deps.localSites })),

    async rotateSecret(appId, by) {
      const { webhookSecret, secret } = makeSecret(deps, webhookSecretContext(appId));
      const rotatedAt = clock.now();
      const rotated = await change('rotateSecret', appId, by, (state) =>
        webhooks.rotateSecret(state, { ...secret, rotatedAt }),
      );
      if (isRefusal(rotated)) return rotated;
      const shown = { webhookSecret, webhookSecretFingerprint: secret.fingerprint };
      return { ...rotated, ...shown, webhookSecretRotatedAt: rotatedAt };
    },

    setKeylessCreation: (appId, allowed, by) =>
      change('operator', appId, by, (state) => apps.setKeylessCreation(state, allowed)),

    async issueKey(appId, request, by) {
      const { scope, expiresAt } = request;
      const name = readLabel(request.name, keys.keyNameMax, '/name');
      if (isRefusal(name)) return name;
      const { key, ...kept } = deps.newKey();
      const issued = { ...kept, scope, name, expiresAt };
      const action = scope === 'admin' ? 'issueAdminKey' : 'issueKey';
      const outcome = await change(action, appId, by, (state) => keys.issueKey(state, issued, clock.now()));
      if (isRefusal(outcome)) return outcome;
      return { ...outcome, keyId: kept.keyId, key, hint: kept.hint, scope, name, expiresAt };
    },

    renameKey: (appId, keyId, name, by) =>
      change('renameKey', appId, by, (state) => keys.renameKey(state, keyId, name)),

    async revokeKey(appId, keyId, by) {
      const decide: Decide = (state) => keys.revokeKey(state, keyId);
      const state = await currentState(handle, merchant, appId);
      const decision = refuseRole(state, by.cause, 'revokeKey') ?? decide(state);
      if (isRefusal(decision)) return decision;
      await revokedKeys.add({ appId, keyId });
      const revoked = await change('revokeKey', appId, by, decide);
      const unconfirmed = await revokedKeys.unconfirmed(keyId);
      return unconfirmed.length === 0 ? revoked : stillAccepted(unconfirmed);
    },
  };
}

/** Read models check an app's team before a command runs; this check on the log is the final one. */
function refused(state: MerchantState, { cause }: By, action: Action | 'operator'): Refusal | undefined {
  if (action !== 'operator') return refuseRole(state, cause, action);
  return personOf(cause) === null ? undefined : refuse('forbidden', 'only the operator can change this');
}

const changed = (handled: Handled<MerchantState> | Refusal): Changed | Refusal =>
  isRefusal(handled) ? handled : { position: handled.position };

const stillAccepted = (instances: readonly string[]): Refusal =>
  refuse(
    'unavailable',
    `the key is revoked, but ${instances.join(' and ')} did not confirm it and may still accept it: stop that instance, or repeat this once it answers again`,
  );
