/** Accounts, as they were in the slot of the commitment that a request names. */
import type { Address } from '@solana/kit';
import { accountView } from './accountView.ts';
import { accountConfig, contextConfig, programConfig } from './configs.ts';
import { addressOf, type ContextOptions, checkCount, contextSlot, inContext, type View } from './method.ts';
import { defineMethod, list, optional, text } from './params.ts';
import { programFilters } from './programFilters.ts';

const accountsMax = 100;

/** State of the chain in the slot of a request's options. */
export function readAt(view: View, options: ContextOptions = {}) {
  const slot = contextSlot(view, options);
  const accountOf = (address: Address) => view.chain.accounts.get(address, slot);
  return { slot, accountOf };
}

export const getBalance = defineMethod([text, optional(contextConfig)], 1, (view, key, config) => {
  const address = addressOf(key);
  const { slot, accountOf } = readAt(view, config);
  return inContext(slot, accountOf(address)?.lamports ?? 0n);
});

export const getAccountInfo = defineMethod([text, optional(accountConfig)], 1, (view, key, config) => {
  const address = addressOf(key);
  const { slot, accountOf } = readAt(view, config);
  return inContext(slot, accountView(accountOf(address), accountOf, config));
});

export const getMultipleAccounts = defineMethod([list(text), optional(accountConfig)], 1, (view, keys, config) => {
  checkCount(keys, accountsMax);
  const addresses = keys.map(addressOf);
  const { slot, accountOf } = readAt(view, config);
  const options = { ...config, encoding: config?.encoding ?? 'base64' };
  return inContext(
    slot,
    addresses.map((address) => accountView(accountOf(address), accountOf, options)),
  );
});

/** Knows the accounts that were written since the chain began. */
export const getProgramAccounts = defineMethod([text, optional(programConfig)], 1, (view, key, config) => {
  const program = addressOf(key);
  const allows = programFilters(config?.filters);
  const { slot, accountOf } = readAt(view, config);
  const found = [...view.chain.accounts.addresses()].toSorted().flatMap((pubkey) => {
    const account = accountOf(pubkey);
    if (account?.owner !== program || !allows(account.data)) return [];
    return [{ pubkey, account: accountView(account, accountOf, config) }];
  });
  return config?.withContext ? inContext(slot, found) : found;
});
