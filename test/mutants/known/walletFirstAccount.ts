import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the account at the time of the connection pays, not the present one',
  seenIn: 'sites that keep the first account of a wallet',
  file: 'web/client/evmWallet.js',
  from: `  const [account] = [await ask('eth_accounts').catch(rethrow)].flat();
  if (!isAccount(account)) throw new WalletProblem('failed');
  await checkBalances(ask, offer, account);`,
  to: `  const [account] = [await ask('eth_requestAccounts').catch(rethrow)].flat();
  if (!isAccount(account)) throw new WalletProblem('failed');
  await checkBalances(ask, offer, account);`,
  breaks: 'onePress',
  specs: ['test/web/wallets.test.ts'],
};
