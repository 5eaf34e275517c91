/** Signers of this instance: its own keys, or the signer that SIGNER_URL names. */
import { type Clock, Unavailable } from '../../commands/ports.ts';
import type { ChainFamily } from '../../domain/chains.ts';
import { allFamilies } from '../chains/families.ts';
import type { DepositOwner, RelaySignerNeeds } from '../chains/family.ts';
import type { SpentLately } from '../chains/money/spending.ts';
import { openSigners, type Signers } from '../chains/open.ts';
import type { Config } from '../config.ts';
import { boundedMap } from '../lib/cache.ts';
import { createBoundedQueue } from '../lib/concurrency.ts';
import { createRemoteSigner, type RemoteSigner } from './client.ts';
import { loadTls } from './settings.ts';

/** Null if this instance signs itself, or not at all. */
export const remoteSignerOf = ({ signing: { remote } }: Config): RemoteSigner | null =>
  remote && createRemoteSigner(remote.url, loadTls(remote.tls));

/** Derivations never change: a relay's second signature needs no second answer. */
const rememberedMax = 1_000;

/** Anybody may request terms, so requests for addresses are few at a time. */
const derived = { atOnce: 4, waiting: 60, retryAfter_s: 2 } as const;

/** Derives deposit addresses from salts at the separate signer; null without one, and if no served family has such deposits. */
export function remoteOwnersOf(config: Config): RelaySignerNeeds['depositOwner'] {
  if (config.signing.remote === null || config.treasuries.solana === null) return null;
  const known = boundedMap<DepositOwner>(rememberedMax);
  const queue = createBoundedQueue(derived.atOnce, derived.waiting);
  let remote: RemoteSigner | null = null;
  return async (salt) => {
    const before = known.get(salt);
    if (before) return before;
    // Programs that never derive an address need no certificates.
    remote ??= remoteSignerOf(config);
    const asked = queue(async () => remote?.depositOwner(salt));
    const owner = await asked;
    if (!owner)
      throw new Unavailable('too many deposits are being derived: try again in a moment', derived.retryAfter_s);
    known.set(salt, owner);
    return owner;
  };
}

/** A signer per served family; none if keys are neither here nor at a signer. */
export function signersOf(
  { config, clock }: { readonly config: Config; readonly clock: Pick<Clock, 'now'> },
  lately?: SpentLately,
): Signers {
  const remote = remoteSignerOf(config);
  if (remote === null) return openSigners(config, clock, lately);
  const served = allFamilies.flatMap(({ name }): readonly (readonly [ChainFamily, string])[] => {
    const treasury = config.treasuries[name];
    return treasury ? [[name, treasury.address]] : [];
  });
  return new Map(served.map(([name, account]) => [name, remote.signerOf(account)]));
}
