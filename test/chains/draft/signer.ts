import { type Signer, SigningRefused } from '../../../src/chains/ports.ts';

export function createSigner(account: string): Signer {
  const refuse = (): never => {
    throw new SigningRefused('account', `nobody holds the key of ${account}`);
  };
  return { account, check: refuse, sign: async () => refuse() };
}
