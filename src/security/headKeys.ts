/** The keys of heads. Without one of its own an installation signs with one that is derived from its master key. */
import { type HeadKey, headKeyOf } from '../../commands/heads/chain.ts';
import type { HeadKeys } from '../../commands/heads/sign.ts';
import type { HeadSettings } from '../environment/heads.ts';
import { deriveKey } from './paymentSecrets.ts';

/** @param sealKey of the master key: of former ones it is kept, so that theirs still says that another key follows */
const derived = (sealKey: Uint8Array): HeadKey => headKeyOf(deriveKey(sealKey, 'heads of the log'));

/** @param sealKeys of the master key and of those before it, the one in force first */
export function headKeysOf(
  { key, oldKey, lost }: Pick<HeadSettings, 'key' | 'oldKey' | 'lost'>,
  [inForce, ...before]: readonly [Uint8Array, ...(readonly Uint8Array[])],
): HeadKeys {
  const given = [key, oldKey].flatMap((hex) => (hex === null ? [] : [headKeyOf(Buffer.from(hex, 'hex'))]));
  const all = [...given, ...[inForce, ...before].map(derived)];
  const current = key === null ? derived(inForce) : headKeyOf(Buffer.from(key, 'hex'));
  return { current, former: all.filter(({ publicKey }) => publicKey !== current.publicKey), lost };
}
