import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the account at the time of the connection pays, not the present one',
  seenIn: 'sites that keep the first account of a wallet',
  file: 'web/client/evmWallet.js',
  from: "  const [account] = [await ask('eth_accounts').catch(rethrow)].flat();",
  to: "  const [account] = [await ask('eth_requestAccounts').catch(rethrow)].flat();",
  breaks: 'onePress',
  specs: ['test/web/wallets.test.ts'],
};
