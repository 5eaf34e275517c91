/** Notifications of EVM nodes (`eth_subscribe`): a new block, and the receiver of a catalogue-token transfer. */
import type { Observable } from 'rxjs';
import type { Chain } from '../../../domain/chains.ts';
import type { Push } from '../family.ts';
import { type PushesOptions, pushesOf } from '../node/pushes.ts';
import { addressIn } from './addresses.ts';
import { transferTopic } from './reads.ts';

export interface EvmPushesOptions extends PushesOptions {
  readonly chain: Pick<Chain, 'tokens'>;
}

export const createPushes = ({ chain, ...options }: EvmPushesOptions): Observable<Push> =>
  pushesOf({ subscriptions: subscriptionsTo(chain), read: pushIn }, options);

const subscriptionsTo = ({ tokens }: Pick<Chain, 'tokens'>) =>
  [['newHeads'], ['logs', { address: tokens.map(({ address }) => address), topics: [transferTopic] }]].map(
    (params) => ({ method: 'eth_subscribe', params }),
  );

function pushIn(message: unknown): Push | undefined {
  const { params } = message as { params?: { result?: { topics?: readonly unknown[]; number?: unknown } } };
  const { topics, number } = params?.result ?? {};
  const receiver = topics?.[2];
  if (typeof receiver === 'string' && /^0x[0-9a-fA-F]{64}$/.test(receiver))
    return { kind: 'transfer', to: addressIn(receiver) };
  return typeof number === 'string' ? { kind: 'head' } : undefined;
}
