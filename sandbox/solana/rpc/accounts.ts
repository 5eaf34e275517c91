/** Accounts, as they were in the slot of the commitment that was asked for. */
import type { Address } from '@solana/kit';
import { accountView } from './accountView.ts';
import {
  addressOf,
  addressParam,
  configParam,
  contextSlot,
  inContext,
  listParam,
  type Method,
  type Params,
  type View,
} from './method.ts';

const accountsMax = 100;

/** How the chain looked in the slot that a request's options name. */
export function look(view: View, params: Params, configPlace: number) {
  const config = configParam(params, configPlace);
  const slot = contextSlot(view, config);
  const accountOf = (address: Address) => view.chain.accounts.get(address, slot);
  return { config, slot, accountOf };
}

export const getBalance: Method = (view, params) => {
  const { slot, accountOf } = look(view, params, 1);
  return inContext(slot, accountOf(addressParam(params, 0))?.lamports ?? 0n);
};

export const getAccountInfo: Method = (view, params) => {
  const { config, slot, accountOf } = look(view, params, 1);
  return inContext(slot, accountView(accountOf(addressParam(params, 0)), accountOf, config));
};

export const getMultipleAccounts: Method = (view, params) => {
  const { config, slot, accountOf } = look(view, params, 1);
  const addresses = listParam(params, 0, 'public keys', accountsMax).map(addressOf);
  return inContext(
    slot,
    addresses.map((address) => accountView(accountOf(address), accountOf, config)),
  );
};
