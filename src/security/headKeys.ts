/** Keys of heads. Without a configured key, an installation derives one from its master key. */
import { type HeadKey, headKeyOf } from '../../commands/heads/chain.ts';
import type { HeadKeys } from '../../commands/heads/sign.ts';
import type { HeadSettings } from '../environment/heads.ts';
import { deriveKey } from './paymentSecrets.ts';

/** @param sealKey of the master key: those of former master keys are kept, so they can sign that another key follows */
const derived = (sealKey: Uint8Array): HeadKey => headKeyOf(deriveKey(sealKey, 'heads of the log'));

/** @param sealKeys of the current master key and then the former ones */
export function headKeysOf(
  { key, oldKey, lost }: Pick<HeadSettings, 'key' | 'oldKey' | 'lost'>,
  [inForce, ...before]: readonly [Uint8Array, ...(readonly Uint8Array[])],
): HeadKeys {
  const given = [key, oldKey].flatMap((hex) => (hex === null ? [] : [headKeyOf(Buffer.from(hex, 'hex'))]));
  const all = [...given, ...[inForce, ...before].map(derived)];
  const current = key === null ? derived(inForce) : headKeyOf(Buffer.from(key, 'hex'));
  return { current, former: all.filter(({ publicKey }) => publicKey !== current.publicKey), lost };
}
