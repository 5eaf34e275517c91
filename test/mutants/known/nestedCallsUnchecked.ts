import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a call on Stellar may authorize any nested call of other contracts',
  seenIn: 'Soroban wallets that show the root call and sign the whole tree',
  file: 'src/chains/stellar/signer/isOrdered.ts',
  from: '  if (places.includes(-1) || new Set(places).size !== places.length) return false;\n',
  to: '',
  breaks: 'moneyInTransit',
  specs: ['test/chains/stellar/signer/usdt0.test.ts'],
};
