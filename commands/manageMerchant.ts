import { createHash } from 'node:crypto';
import { type ChainId, chainOf, findToken } from '../domain/chains.ts';
import { type Decision, isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import type { KeyScope, MerchantEvent, MerchantState, SealedSecret } from '../domain/merchant.ts';
import * as merchants from '../domain/merchant.ts';
import { type By, currentState, type Facts, type Handle, type Handled } from './handle.ts';
import { askReceiver } from './paymentRequest.ts';
import type { Clock, Ids, ReceiverChecks, RevokedKeys } from './ports.ts';

/** A key as it is made: `key` goes to its owner once, the rest is kept. */
export interface NewKey {
  readonly keyId: string;
  readonly key: string;
  readonly hash: string;
  readonly hint: string;
}

export interface ManageMerchantDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly newKey: () => NewKey;
  readonly revokedKeys: RevokedKeys;
  /** Encrypts under the master key, bound to its context. */
  readonly seal: (plain: string, context: string) => string;
  /** The chain's canonical spelling of a receiver's address; undefined when it is none. */
  readonly canonicalAddress: (chainId: ChainId, text: string) => string | undefined;
  readonly canReceive: ReceiverChecks;
  /** False for a URL to whose host no webhook would ever be sent. What a name stands for is checked at each delivery. */
  readonly isAllowedTarget: (url: string) => boolean;
}

/** `position`: the log position to wait for before reading one's own write; null when nothing had to change. */
export interface Changed {
  readonly position: bigint | null;
}

/** A secret is answered only by the call that made it. */
export interface ShownSecret extends Changed {
  readonly webhookSecret: string;
  readonly webhookSecretFingerprint: string;
}

export interface Registered extends Changed {
  readonly created: boolean;
  readonly webhookUrl: string | null;
  readonly webhookSecret: string | null;
  readonly webhookSecretFingerprint: string | null;
}

export interface ShownKey extends Changed, Omit<NewKey, 'hash'> {
  readonly scope: KeyScope;
}

export interface SettlementRequest {
  readonly chainId: ChainId;
  readonly tokenSymbol: string;
  readonly receiverAddress: string;
  readonly receiverMemo?: string | null;
}

export interface ManageMerchant {
  register(appId: string, webhookUrl: string | null, by: By): Promise<Registered | Refusal>;
  setSettlement(appId: string, wallet: SettlementRequest, by: By): Promise<Changed | Refusal>;
  setWebhookUrl(appId: string, url: string | null, by: By): Promise<Changed | Refusal>;
  rotateSecret(appId: string, by: By): Promise<ShownSecret | Refusal>;
  setKeylessCreation(appId: string, allowed: boolean, by: By): Promise<Changed | Refusal>;
  issueKey(appId: string, scope: KeyScope, name: string, by: By): Promise<ShownKey | Refusal>;
  /**
   * Resolves once no instance accepts the key. Every instance refuses it before the log has its event: a crash between the two leaves
   * a key that works nowhere, and repeating the command records the rest.
   * @returns a refusal when an instance has not confirmed in time: the key is revoked, but that instance may still accept it
   */
  revokeKey(appId: string, keyId: string, by: By): Promise<Changed | Refusal>;
}

/** What a sealed webhook secret is bound to: the ciphertext of one app opens for no other. */
export const webhookSecretContext = (appId: string): string => `webhookSecret:${appId}`;

/** @param secret 64 hex characters; what is hashed are the characters, not the bytes they spell */
export const fingerprintOf = (secret: string): string => `sha256:${createHash('sha256').update(secret).digest('hex')}`;

export function createManageMerchant(deps: ManageMerchantDeps): ManageMerchant {
  const { handle, clock, ids, revokedKeys } = deps;

  type Decide = (state: MerchantState) => Decision<MerchantEvent>;
  const change = (appId: string, by: By, decide: Decide, more: Partial<Facts> = {}) =>
    handle(merchants.merchant, appId, decide, { ...by, appId, ...more });

  function makeSecret(appId: string): { secret: string; sealed: SealedSecret } {
    const secret = ids.secret();
    const ciphertext = deps.seal(secret, webhookSecretContext(appId));
    return { secret, sealed: { ciphertext, fingerprint: fingerprintOf(secret) } };
  }

  function refuseTarget(text: string | null): Refusal | undefined {
    const url = text === null ? null : merchants.readWebhookUrl(text);
    if (url === null || isRefusal(url)) return url ?? undefined;
    if (deps.isAllowedTarget(url)) return undefined;
    return refuse('invalidRequest', 'webhookUrl must be publicly reachable: its host is not', '/webhookUrl');
  }

  return {
    async register(appId, webhookUrl, by) {
      const refused = refuseTarget(webhookUrl);
      if (refused) return refused;
      const registration = { appId, idSalt: ids.secret(), registeredAt: clock.now() };
      const { secret, sealed } = makeSecret(appId);
      const decide: Decide = (state) => merchants.register(state, registration, webhookUrl, sealed);
      const handled = await change(appId, by, decide, { expectNew: true });
      if (isRefusal(handled)) return handled;
      const created = handled.appended > 0;
      return {
        position: handled.position,
        created,
        webhookUrl: handled.state.webhookUrl,
        webhookSecret: created ? secret : null,
        webhookSecretFingerprint: handled.state.webhookSecret?.fingerprint ?? null,
      };
    },

    async setSettlement(appId, wallet, by) {
      const chain = chainOf(wallet.chainId);
      const token = findToken(chain, wallet.tokenSymbol);
      if (!token)
        return refuse('invalidRequest', `chain ${wallet.chainId} has no ${wallet.tokenSymbol}`, '/tokenSymbol');
      const receiverAddress = deps.canonicalAddress(wallet.chainId, wallet.receiverAddress);
      if (!receiverAddress) {
        return refuse('invalidRequest', `receiverAddress is no address of chain ${wallet.chainId}`, '/receiverAddress');
      }
      const { chainId, receiverMemo = null } = wallet;
      const settlement = { chainId, token, receiverAddress, receiverMemo };
      const ask = deps.canReceive[chain.family];
      const receiving = { chain, token, receiver: receiverAddress, amount: null };
      const unreceivable = ask && (await askReceiver(ask, receiving, '/receiverAddress'));
      if (unreceivable) return unreceivable;
      return changed(await change(appId, by, (state) => merchants.setSettlement(state, settlement)));
    },

    setWebhookUrl: async (appId, url, by) =>
      refuseTarget(url) ?? changed(await change(appId, by, (state) => merchants.setWebhookUrl(state, url))),

    async rotateSecret(appId, by) {
      const { secret, sealed } = makeSecret(appId);
      const handled = await change(appId, by, (state) => merchants.rotateSecret(state, sealed));
      if (isRefusal(handled)) return handled;
      return { position: handled.position, webhookSecret: secret, webhookSecretFingerprint: sealed.fingerprint };
    },

    setKeylessCreation: async (appId, allowed, by) =>
      changed(await change(appId, by, (state) => merchants.setKeylessCreation(state, allowed))),

    async issueKey(appId, scope, name, by) {
      const { key, ...kept } = deps.newKey();
      const handled = await change(appId, by, (state) => merchants.issueKey(state, { ...kept, scope, name }));
      if (isRefusal(handled)) return handled;
      return { position: handled.position, keyId: kept.keyId, key, hint: kept.hint, scope };
    },

    async revokeKey(appId, keyId, by) {
      const decide: Decide = (state) => merchants.revokeKey(state, keyId);
      const decision = decide(await currentState(handle, merchants.merchant, appId));
      if (isRefusal(decision)) return decision;
      await revokedKeys.add({ appId, keyId });
      const revoked = changed(await change(appId, by, decide));
      const unconfirmed = await revokedKeys.unconfirmed(keyId);
      return unconfirmed.length === 0 ? revoked : stillAccepted(unconfirmed);
    },
  };
}

const changed = (handled: Handled<MerchantState> | Refusal): Changed | Refusal =>
  isRefusal(handled) ? handled : { position: handled.position };

const stillAccepted = (instances: readonly string[]): Refusal =>
  refuse(
    'unavailable',
    `the key is revoked, but ${instances.join(' and ')} did not confirm it and may still accept it: stop that instance, or repeat this once it answers again`,
  );
