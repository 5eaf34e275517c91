import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a burn for Solana names the wallet instead of its token account, so nobody can ever mint it',
  seenIn: 'integrations that treat a wallet of Solana as the account of its tokens',
  file: 'domain/rebalance/burnMessage.ts',
  from: "    const mintRecipient = tokenAccount32(receiver, burnTokenOn(chainId) ?? '');",
  to: '    const mintRecipient = address32(receiver);',
  breaks: 'moneyInTransit',
  specs: ['test/domain/rebalance/solanaTokenAccount.test.ts'],
};
