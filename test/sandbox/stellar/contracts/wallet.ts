import { join } from 'node:path';
import { compileContract } from '../../../../contracts/stellar/compile.ts';
import { addressType, anyValue, bytesN, functionSpec } from '../../../../contracts/stellar/spec.ts';

/** A second contract, so that the simulator cannot be specialized to the first. */
export const compileWallet = (): Promise<Buffer> =>
  compileContract(join(import.meta.dirname, 'wallet.as'), [
    functionSpec('__constructor', { owner: bytesN(32) }),
    functionSpec('shout', { topic: addressType, data: anyValue }),
    functionSpec('a_name_longer_than_nine', {}, anyValue),
  ]);
