/** Token balances, as they were in the slot of the commitment that a request names. */
import { type Address, unwrapOption } from '@solana/kit';
import type { Account } from '../chain/account.ts';
import { mintOf, type TokenAccount, tokenAccountOf, tokenPrograms, uiAmount } from '../chain/tokens.ts';
import { readAt } from './accounts.ts';
import { type AccountOptions, accountView } from './accountView.ts';
import { accountConfig, commitmentConfig } from './configs.ts';
import { addressOf, type ContextOptions, inContext, invalid, type View } from './method.ts';
import { defineMethod, optional, text, variant } from './params.ts';

const largestMax = 20;

export const getTokenAccountBalance = defineMethod([text, optional(commitmentConfig)], 1, (view, key, config) => {
  const address = addressOf(key);
  const { slot, accountOf } = readAt(view, config);
  const token = tokenAccountOf(existing(accountOf(address)));
  const mint = token && mintOf(accountOf(token.mint));
  if (!mint) throw invalid('Invalid param: not a Token account');
  return inContext(slot, uiAmount(token.amount, mint.decimals));
});

function existing(account: Account | undefined): Account {
  if (!account) throw invalid('Invalid param: could not find account');
  return account;
}

export const getTokenSupply = defineMethod([text, optional(commitmentConfig)], 1, (view, key, config) => {
  const address = addressOf(key);
  const { slot, accountOf } = readAt(view, config);
  const account = existing(accountOf(address));
  const mint = mintOf(account);
  if (!mint)
    throw invalid(
      `Invalid param: ${tokenPrograms.has(account.owner) ? 'mint could not be unpacked' : 'not a Token mint'}`,
    );
  return inContext(slot, uiAmount(mint.supply, mint.decimals));
});

export const getTokenLargestAccounts = defineMethod([text, optional(commitmentConfig)], 1, (view, key, config) => {
  const address = addressOf(key);
  const { slot, accountOf } = readAt(view, config);
  const { decimals } = knownMint(accountOf(address));
  const amounts = tokensAt(view, accountOf).filter(({ token }) => token.mint === address);
  const largest = amounts.toSorted((one, other) => Number(other.token.amount - one.token.amount)).slice(0, largestMax);
  return inContext(
    slot,
    largest.map(({ pubkey, token }) => ({ address: pubkey, ...uiAmount(token.amount, decimals) })),
  );
});

/** @throws RpcError */
function knownMint(account: Account | undefined) {
  if (!account) throw invalid('Invalid param: could not find mint');
  const mint = mintOf(account);
  if (mint) return mint;
  throw invalid('Invalid param: Token mint could not be unpacked');
}

type AccountOf = (address: Address) => Account | undefined;

interface Held {
  readonly pubkey: Address;
  readonly account: Account;
  readonly token: TokenAccount;
}

const tokensAt = ({ chain }: View, accountOf: AccountOf): readonly Held[] =>
  [...chain.accounts.addresses()].flatMap((pubkey) => {
    const account = accountOf(pubkey);
    const token = tokenAccountOf(account);
    return account && token ? [{ pubkey, account, token }] : [];
  });

const tokenFilter = variant({ mint: text, programId: text });

const listTokens = (isMeant: (token: TokenAccount, key: Address) => boolean) =>
  defineMethod(
    [text, tokenFilter, optional<AccountOptions & ContextOptions>(accountConfig)],
    2,
    (view, key, filter: ReturnType<typeof tokenFilter>, config) => {
      const address = addressOf(key);
      const wanted = addressOf(filter.content);
      const { slot, accountOf } = readAt(view, config);
      if (filter.name === 'mint') knownMint(accountOf(wanted));
      else if (!tokenPrograms.has(wanted)) throw invalid('Invalid param: unrecognized Token program id');
      const isListed = ({ account, token }: Held) =>
        isMeant(token, address) && (filter.name === 'mint' ? token.mint : account.owner) === wanted;
      const found = tokensAt(view, accountOf).filter(isListed);
      return inContext(
        slot,
        found.map(({ pubkey, account }) => ({ pubkey, account: accountView(account, accountOf, config) })),
      );
    },
  );

export const getTokenAccountsByOwner = listTokens((token, owner) => token.owner === owner);
export const getTokenAccountsByDelegate = listTokens((token, delegate) => unwrapOption(token.delegate) === delegate);
