/** Token balances, as they were in the slot of the commitment that was asked for. */
import type { Account } from '../chain/account.ts';
import { mintOf, tokenAccountOf, tokenPrograms, uiAmount } from '../chain/tokens.ts';
import { look } from './accounts.ts';
import { accountView } from './accountView.ts';
import { addressOf, addressParam, configParam, inContext, invalid, type Method } from './method.ts';

export const getTokenAccountBalance: Method = (view, params) => {
  const { slot, accountOf } = look(view, params, 1);
  const account = existing(accountOf(addressParam(params, 0)));
  const token = tokenAccountOf(account);
  const mint = token && mintOf(accountOf(token.mint));
  if (!mint) throw invalid('Invalid param: not a Token account');
  return inContext(slot, uiAmount(token.amount, mint.decimals));
};

function existing(account: Account | undefined): Account {
  if (!account) throw invalid('Invalid param: could not find account');
  return account;
}

export const getTokenSupply: Method = (view, params) => {
  const { slot, accountOf } = look(view, params, 1);
  const mint = mintOf(existing(accountOf(addressParam(params, 0))));
  if (!mint) throw invalid('Invalid param: not a Token mint');
  return inContext(slot, uiAmount(mint.supply, mint.decimals));
};

export const getTokenAccountsByOwner: Method = (view, params) => {
  const { config, slot, accountOf } = look(view, params, 2);
  const owner = addressParam(params, 0);
  const { mint, programId } = configParam(params, 1);
  if ((mint === undefined) === (programId === undefined)) throw invalid('either mint or programId must be given');
  if (mint !== undefined && !mintOf(accountOf(addressOf(mint)))) {
    throw invalid('Invalid param: could not find mint');
  }
  if (programId !== undefined && !tokenPrograms.has(addressOf(programId))) {
    throw invalid('Invalid param: unrecognized Token program id');
  }
  const found = [...view.chain.accounts.addresses()].flatMap((address) => {
    const account = accountOf(address);
    const token = tokenAccountOf(account);
    if (!account || token?.owner !== owner) return [];
    if (mint !== undefined ? token.mint !== mint : account.owner !== programId) return [];
    return [{ pubkey: address, account: accountView(account, accountOf, config) }];
  });
  return inContext(slot, found);
};
