/**
 * Accounts of a program that change: programSubscribe as the network's nodes have it. Each slot that has reached the commitment tells what it
 * changed, as it was at its end; an account that is closed belongs to the program no more, and nothing is told of it. `dataSlice` is taken
 * and not followed, as by all nodes before github.com/anza-xyz/agave/pull/15241.
 * @see https://github.com/anza-xyz/agave/blob/master/rpc/src/rpc_subscriptions.rs
 */
import type { Address } from '@solana/kit';
import type { Chain } from '../chain/chain.ts';
import { slotAt } from '../chain/commitments.ts';
import { accountView } from './accountView.ts';
import { addressParam, commitmentOf, configParam, type Params } from './method.ts';
import { programFilters } from './programFilters.ts';

/** @returns what has changed since it was called last, oldest slot first. @throws RpcError */
export function programWatch(chain: Chain, params: Params): () => readonly object[] {
  const program = addressParam(params, 0);
  const { filters, dataSlice, ...config } = configParam(params, 1);
  const commitment = commitmentOf(config);
  const allows = programFilters(filters);
  // A slot that is processed is over: what it changes is not told one by one.
  const reached = () => slotAt(commitment, chain.head(), chain.finality) - (commitment === 'processed' ? 1 : 0);
  const viewAt = (slot: number) => (address: Address) => {
    const accountOf = (each: Address) => chain.accounts.get(each, slot);
    const account = accountOf(address);
    if (account?.owner !== program || !allows(account.data)) return [];
    return [
      { context: { slot }, value: { pubkey: address, account: accountView(account, accountOf, config, 'told') } },
    ];
  };
  // An encoding that is not known is refused before anything changes.
  accountView({ owner: program, lamports: 0n, executable: false, data: new Uint8Array() }, () => undefined, config);
  let told = reached();
  return () => {
    const [after, upTo] = [told, reached()];
    told = Math.max(told, upTo);
    if (upTo <= after) return [];
    return chain.accounts.writtenIn(after, upTo).flatMap(({ slot, addresses }) => [...addresses].flatMap(viewAt(slot)));
  };
}
