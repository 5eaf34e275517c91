/**
 * Changing accounts: programSubscribe and accountSubscribe as in the network's nodes. Each slot that has reached the commitment sends its
 * changes, as of its end. A closed account no longer belongs to its program, so nobody is notified. programSubscribe accepts `dataSlice`
 * and ignores it, as all nodes before github.com/anza-xyz/agave/pull/15241.
 * @see https://github.com/anza-xyz/agave/blob/master/rpc/src/rpc_subscriptions.rs
 */
import type { Address } from '@solana/kit';
import { wallet } from '../chain/account.ts';
import type { Chain } from '../chain/chain.ts';
import { type Commitment, slotAt } from '../chain/commitments.ts';
import { type AccountOptions, accountView } from './accountView.ts';
import type { programConfig } from './configs.ts';
import { type ProgramFilter, programFilters } from './programFilters.ts';

/** @returns changes since its last call, oldest slot first */
export type Watch = () => readonly object[];

/** @throws RpcError */
export function watchProgram(
  chain: Chain,
  program: Address,
  options: Partial<ReturnType<typeof programConfig>>,
): Watch {
  const { filters, commitment, encoding } = options;
  const allows: ProgramFilter = programFilters(filters);
  return watchSlots(chain, commitment, (slot, addresses) => {
    const accountOf = (address: Address) => chain.accounts.get(address, slot);
    return [...addresses].flatMap((pubkey) => {
      const account = accountOf(pubkey);
      if (account?.owner !== program || !allows(account.data)) return [];
      return [{ pubkey, account: accountView(account, accountOf, { encoding }, 'told') }];
    });
  });
}

export function watchAccount(
  chain: Chain,
  address: Address,
  { commitment, ...options }: AccountOptions & { readonly commitment?: Commitment | undefined },
): Watch {
  return watchSlots(chain, commitment, (slot, addresses) => {
    if (!addresses.has(address)) return [];
    const accountOf = (each: Address) => chain.accounts.get(each, slot);
    return [accountView(accountOf(address) ?? wallet(0n), accountOf, options, 'told')];
  });
}

function watchSlots(
  chain: Chain,
  commitment: Commitment = 'finalized',
  valuesIn: (slot: number, addresses: ReadonlySet<Address>) => readonly unknown[],
): Watch {
  // The newest slot is not over: its changes are not sent one by one.
  const reached = () => slotAt(commitment, chain.head(), chain.finality) - (commitment === 'processed' ? 1 : 0);
  let sent = reached();
  return () => {
    const [after, upTo] = [sent, reached()];
    sent = Math.max(sent, upTo);
    if (upTo <= after) return [];
    return chain.accounts
      .writtenIn(after, upTo)
      .flatMap(({ slot, addresses }) => valuesIn(slot, addresses).map((value) => ({ context: { slot }, value })));
  };
}
