/** Prepares what wallets on Solana and Stellar sign, for the account that a page names; reads what they signed. */
import type { Clock } from '../../../commands/ports.ts';
import type { PreparedAuthorization, Relaying, RelayOffer, SignedAuthorization } from '../../../commands/relayPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal, type Refusal } from '../../../domain/decider.ts';
import { ttlCache } from '../../lib/cache.ts';
import { createBoundedQueue } from '../../lib/concurrency.ts';
import { unavailable } from '../errors.ts';
import { preparing } from '../preparedPayments.ts';

export interface PreparingDeps {
  readonly clock: Pick<Clock, 'now'>;
  /** Undefined for a chain without a relay account. */
  readonly relayOn: (chainId: ChainId) => Pick<Relaying, 'read' | 'wallets' | 'accountOf'> | undefined;
}

/** A wallet's answer to a prepared authorization, in base64. */
export type SignedByWallet = { readonly chainId: number } & (
  | { readonly transaction: string }
  | { readonly entry: string; readonly signature: string }
);

export type PreparedOffer = RelayOffer & { readonly prepared: PreparedAuthorization };

export interface AuthorizationPreparing {
  /** The offers that this account can sign, which are those of its chain. @throws ApiError unavailable, ChainUnavailable */
  prepare(
    offers: readonly RelayOffer[],
    account: string,
    signal: AbortSignal,
  ): Promise<readonly PreparedOffer[] | Refusal>;
  /** The authorization; null for anything but one signed transfer. */
  read(sent: SignedByWallet): SignedAuthorization | null;
}

const busyRetry_s = 2;

export function createAuthorizationPreparing({ clock, relayOn }: PreparingDeps): AuthorizationPreparing {
  const admit = createBoundedQueue(preparing.running, preparing.waiting);
  const walletsOn = (chainId: number) => relayOn(chainId as ChainId)?.wallets;
  // Concurrent requests share one read of the network's facts.
  const termsOf = ttlCache(async (chainId) => ({ terms: await walletsOn(Number(chainId))?.readTerms() }), clock);

  async function prepareOne(offer: RelayOffer, account: string, signal: AbortSignal) {
    const { source, deposit, payTo, nonce } = offer;
    const { chainId, token, amount } = source;
    const wallets = walletsOn(chainId);
    const payer = relayOn(chainId)?.accountOf(account) ?? null;
    if (!wallets || payer === null) return null;
    const order = { token, amount: BigInt(amount), deposit, payTo, payer, nonce };
    const prepared = await admit(async () => {
      const { terms } = (await termsOf(String(chainId))) ?? {};
      return wallets.prepare(order, terms, signal);
    });
    if (prepared === undefined) throw unavailable('too many payments are being prepared: try again', busyRetry_s);
    return isRefusal(prepared) ? prepared : { ...offer, prepared };
  }

  return {
    async prepare(offers, account, signal) {
      const found: PreparedOffer[] = [];
      for (const offer of offers) {
        const prepared = await prepareOne(offer, account, signal);
        if (prepared === null) continue;
        if (isRefusal(prepared)) return prepared;
        found.push(prepared);
      }
      return found;
    },

    read: (sent) =>
      'transaction' in sent
        ? (relayOn(sent.chainId as ChainId)?.read?.(sent.transaction) ?? null)
        : (walletsOn(sent.chainId)?.signedEntry?.(sent.entry, sent.signature) ?? null),
  };
}
