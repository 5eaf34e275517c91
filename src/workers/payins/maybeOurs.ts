/** Which of the transactions that cannot be read may have paid us. */
import type { Ingester, Unreadable } from '../../../commands/chainPorts.ts';
import { type PayinAddress, payinAddress } from '../../../domain/payment/payins.ts';

interface Ours {
  readonly ingester: Pick<Ingester, 'sharedAddresses'>;
  readonly matchDeposits: (addresses: readonly PayinAddress[]) => Promise<readonly PayinAddress[]>;
}

/**
 * Without those that name whom they paid where nothing of it is ours. Of whom the others paid, deposits with a payment of their own stay
 * named: of an address that payments share nobody can tell whose end should wait, and all must not.
 */
export async function maybeOurs(
  found: readonly Unreadable[],
  { ingester, matchDeposits }: Ours,
): Promise<readonly Unreadable[]> {
  const spelled = found.map((each) => ({
    ...each,
    addresses: [...new Set(each.addresses.map((address) => payinAddress(address, null).address))],
  }));
  const named = [...new Set(spelled.flatMap(({ addresses }) => addresses))];
  const matched = named.length > 0 ? await matchDeposits(named.map((address) => payinAddress(address, null))) : [];
  const own = new Set(matched.map(({ address }) => address));
  const isOurs = (address: string) => own.has(address) || ingester.sharedAddresses.includes(address);
  return spelled
    .filter(({ addresses }) => addresses.length === 0 || addresses.some(isOurs))
    .map((each) => ({ ...each, addresses: each.addresses.filter((address) => own.has(address)) }));
}
