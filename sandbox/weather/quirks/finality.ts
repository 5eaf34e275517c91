/**
 * `finalized` (and `safe`) without a useful value: at genesis (github.com/0xPolygon/cdk-erigon/issues/441, always 0x0),
 * far too low on some back ends (github.com/ethereum-optimism/optimism/issues/22822), refused with −39001
 * (github.com/node-real/bsc-erigon/issues/376), or null.
 */
import { RpcError } from '../../rpcError.ts';
import { fieldsOf, listOf } from '../call.ts';
import { onCalls, type Quirk } from '../quirk.ts';

export interface FinalitySettings {
  readonly as: 'genesis' | 'refused' | 'null';
}

export const finality: Quirk<FinalitySettings> = {
  families: ['evm', 'solana'],
  says: '`finalized` at genesis, refused, or null',
  begin: ({ as }, { family }) =>
    onCalls(async ({ method, params }, next) => {
      const [first, ...more] = listOf(params);
      const evm = method === 'eth_getBlockByNumber' && (first === 'finalized' || first === 'safe');
      const solana = family === 'solana' && method === 'getSlot' && fieldsOf(first)['commitment'] !== 'confirmed';
      if (!evm && !solana) return next(method, params);
      if (as === 'refused') throw new RpcError(-39001, `${first} block not found`);
      if (as === 'null') return null;
      return evm ? next(method, ['0x0', ...more]) : 0;
    }),
};
