/** What a payout brought its receiver, as the events of its transaction tell it. */
import type { Sent } from '../../ports.ts';
import { accountOf } from '../addresses.ts';
import { movementsOf } from '../payins/movements.ts';
import { seenInMeta } from '../payins/transfers.ts';
import type { FoundTransaction } from '../reads.ts';
import { assetContractOf } from '../tokens.ts';

/**
 * What the token's own events say that the treasury transferred to the receiver (CAP-67); undefined when the node tells no events at all:
 * every transfer makes one.
 * @throws Error when an event of the token cannot be decoded
 */
export function arrivedIn(
  { events }: Pick<FoundTransaction, 'events'>,
  { token, receiver }: Pick<Sent, 'token' | 'receiver'>,
  { treasury, networkPassphrase }: { readonly treasury: string; readonly networkPassphrase: string },
): bigint | undefined {
  if (events.every((operation) => operation.length === 0)) return undefined;
  const contract = assetContractOf(token, networkPassphrase);
  const told = events.flatMap((operation) => operation.flatMap(seenInMeta((its) => its === contract)));
  const tokens = new Map([[contract, token]]);
  const watched = { treasury: accountOf(receiver) ?? receiver, tokens, payin: null };
  const moved = movementsOf(watched, told).filter(({ from }) => from === treasury);
  return moved.reduce((sum, { amount }) => sum + amount, 0n);
}
