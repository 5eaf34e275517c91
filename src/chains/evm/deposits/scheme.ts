import { type Address, hexToBytes } from 'viem';
import type { DepositScheme } from '../../ports.ts';
import { checksummed, keccak } from '../addresses.ts';
import { forwarderAddresses } from './forwarder.ts';

/** Names the derivation of salt and address; a change of either is a new version beside this one. */
export const depositScheme = 'evm-forwarder-1';

/** EIP-1167: creation code of a minimal clone, before and after the implementation's address; as OpenZeppelin's Clones has it. */
const cloneHead = '3d602d80600a3d3981f3363d3d373d3d3d363d73';
const cloneTail = '5af43d82803e903d91602b57fd5bf3';

/** Offsets in the CREATE2 preimage: 0xff, factory (20), salt (32), hash of the creation code (32). */
const saltAt = 21;
const codeHashAt = 53;
const preimageLength = 85;

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer).toString('hex');

/** The salt of a payment's forwarder: a one-way derivation, so that a chain never shows payment ids. */
export const depositSalt = (paymentId: string): Uint8Array => keccak(`payment-intents/${depositScheme}/${paymentId}`);

/**
 * Deposit addresses by CREATE2: no key and no transaction per payment, the same address on every EVM chain.
 * @param treasury the only account that forwarders pay to; another treasury means other addresses
 */
export function createEvmDeposits({ treasury }: { readonly treasury: Address }): DepositScheme {
  const { factory, implementation } = forwarderAddresses(treasury);
  const code = hexToBytes(`0x${cloneHead}${implementation.slice(2).toLowerCase()}${cloneTail}`);
  const template = new Uint8Array(preimageLength);
  template[0] = 0xff;
  template.set(hexToBytes(factory), 1);
  template.set(keccak(code), codeHashAt);

  return {
    intents: [],
    async assign(paymentId) {
      const salt = depositSalt(paymentId);
      const preimage = template.slice();
      preimage.set(salt, saltAt);
      const address = checksummed(hexOf(keccak(preimage)).slice(-40));
      return {
        scheme: depositScheme,
        address,
        memo: null,
        contract: null,
        contractMemo: null,
        salt: `0x${hexOf(salt)}`,
      };
    },
  };
}
