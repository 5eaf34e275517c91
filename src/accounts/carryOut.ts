/** Outcome of a registration: proved by its code, or confirmed or discarded by its signed-in owner. */

import type { SettlementRequest } from '../../commands/manageMerchant.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import type { SettlementWallet } from '../../domain/merchant/events.ts';
import { type Accounts, appTaken, type Confirmed, registrationClosed } from './accounts.ts';
import { type AccountsDeps, isWelcome } from './deps.ts';
import { findKnown } from './people.ts';
import { dropRegistration, findRegistration, registrationsOf, type StoredRegistration } from './register.ts';

export interface CarriedOut {
  readonly appId: string;
  /** False when the app could not be registered. */
  readonly registered: boolean;
  /** True if the registration need not wait any longer: it is carried out, or cannot be. */
  readonly over: boolean;
  /** Log position, if something was appended. */
  readonly position: bigint | null;
}

/** Repeating it changes nothing. Null if the registration no longer exists. */
export async function carryOut(deps: AccountsDeps, registrationId: string): Promise<CarriedOut | null> {
  const { sql, clock, merchants } = deps;
  const found = await findRegistration(sql, registrationId, clock.now());
  if (!found) return null;
  const { appId, developerId } = found;
  const outcome = await merchants.register(appId, newApp(found), { cause: `developer:${developerId}` });
  if (!isRefusal(outcome)) return { appId, registered: true, over: true, position: outcome.position };
  // The operator took the id, or the rules have changed meanwhile. The proved e-mail still signs in.
  return { appId, registered: false, over: outcome.refused === 'appIdTaken', position: null };
}

const newApp = ({ developerId, displayName, settlement, webhookUrl, secret }: StoredRegistration) => ({
  developerId,
  name: displayName,
  settlement,
  webhookUrl,
  secret,
});

export const createPending =
  ({ sql, clock }: AccountsDeps): Accounts['pendingRegistrations'] =>
  async (developerId) =>
    (await registrationsOf(sql, developerId, clock.now())).map((found) => ({
      appId: found.appId,
      displayName: found.displayName,
      settlement: requestOf(found.settlement),
      webhookUrl: found.webhookUrl,
      requestedAt: found.requestedAt,
      expiresAt: found.expiresAt,
    }));

const requestOf = (wallet: SettlementWallet | null): SettlementRequest | null =>
  wallet && {
    chainId: wallet.chainId,
    tokenSymbol: wallet.token.symbol,
    receiverAddress: wallet.receiverAddress,
    receiverMemo: wallet.receiverMemo,
  };

/** Crash after the app is registered and before the registration is deleted: another confirmation makes a new secret. */
export function createConfirm(deps: AccountsDeps): Accounts['confirmRegistration'] {
  const { sql, clock, merchants, inForce } = deps;

  /** Registered before, by an interrupted call or by a code: makes a new secret, unless the app belongs to somebody else. */
  async function again(appId: string, webhookUrl: string | null, by: Parameters<typeof merchants.rotateSecret>[1]) {
    const rotated = await merchants.rotateSecret(appId, by);
    if (isRefusal(rotated)) return rotated.refused === 'forbidden' ? appTaken(appId) : rotated;
    const { position, webhookSecret, webhookSecretFingerprint } = rotated;
    return { position, appId, webhookUrl, webhookSecret, webhookSecretFingerprint };
  }

  type Outcome = (Confirmed & { readonly position: bigint | null }) | Refusal;
  async function confirm(
    found: StoredRegistration,
    by: Parameters<typeof merchants.rotateSecret>[1],
  ): Promise<Outcome> {
    const { appId, webhookUrl } = found;
    const prepared = await merchants.prepare(appId, { webhookUrl, settlement: requestOf(found.settlement) });
    if (isRefusal(prepared)) return prepared.refused === 'appIdTaken' ? again(appId, webhookUrl, by) : prepared;
    const { webhookSecret, secret } = prepared;
    const outcome = await merchants.register(appId, newApp({ ...found, secret }), by);
    if (isRefusal(outcome)) return outcome;
    if (outcome.webhookSecretFingerprint !== secret.fingerprint) return again(appId, webhookUrl, by);
    const { position } = outcome;
    return { position, appId, webhookUrl, webhookSecret, webhookSecretFingerprint: secret.fingerprint };
  }

  return async (developerId, appId, by) => {
    if (deps.registration === 'closed') return registrationClosed();
    const found = (await registrationsOf(sql, developerId, clock.now())).find((each) => each.appId === appId);
    if (!found) return refuse('notFound', 'no registration of yours waits under this id', '/appId');
    // A member of a team has a session without being admitted to register.
    if (!isWelcome(deps.registration, await findKnown(sql, developerId))) return registrationClosed();
    const outcome = await confirm(found, by);
    // Before the registration is deleted: after a 503 it can be confirmed again, with another secret.
    if (!isRefusal(outcome)) await inForce(outcome.position);
    if (!isRefusal(outcome) || outcome.refused === 'appIdTaken') await dropRegistration(sql, developerId, appId);
    if (isRefusal(outcome)) return outcome;
    const { position: _, ...confirmed } = outcome;
    return confirmed;
  };
}
