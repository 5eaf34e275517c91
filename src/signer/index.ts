/** Signers of this instance: its own keys, or the signer that SIGNER_URL names. */
import type { ChainFamily } from '../../domain/chains.ts';
import { allFamilies } from '../chains/families.ts';
import type { SpentLately } from '../chains/money/spending.ts';
import { openSigners, type Signers } from '../chains/open.ts';
import type { Config } from '../config.ts';
import type { Core } from '../core.ts';
import { createRemoteSigner, type RemoteSigner } from './client.ts';
import { loadTls } from './settings.ts';

/** Null if this instance signs itself, or not at all. */
export const remoteSignerOf = ({ signing: { remote } }: Config): RemoteSigner | null =>
  remote && createRemoteSigner(remote.url, loadTls(remote.tls));

/** A signer per served family; none if keys are neither here nor at a signer. */
export function signersOf({ config, clock }: Pick<Core, 'config' | 'clock'>, lately?: SpentLately): Signers {
  const remote = remoteSignerOf(config);
  if (remote === null) return openSigners(config, clock, lately);
  const served = allFamilies.flatMap(({ name }): readonly (readonly [ChainFamily, string])[] => {
    const treasury = config.treasuries[name];
    return treasury ? [[name, treasury.address]] : [];
  });
  return new Map(served.map(([name, account]) => [name, remote.signerOf(account)]));
}
