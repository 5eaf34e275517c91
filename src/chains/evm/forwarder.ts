import {
  type Address,
  concatHex,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  hexToBytes,
  keccak256,
} from 'viem';
import { forwarderFactory } from '../../../contracts/evm/artifacts/ForwarderFactory.ts';
import type { Deposit } from '../../../domain/payment/shapes.ts';
import type { DepositScheme } from '../ports.ts';
import { checksummed, keccak } from './addresses.ts';

/** Name of the derivation of salt and address; a change of either is a new version beside this one. */
export const depositScheme = 'evm-forwarder-1';

/** Salt of a payment's forwarder: a one-way derivation, so no payment id appears on a chain. */
export const depositSalt = (paymentId: string): Uint8Array => keccak(`payment-intents/${depositScheme}/${paymentId}`);

/**
 * Deposit addresses by CREATE2: no key and no transaction per payment, the same address on every EVM chain.
 * @param treasury the only account that forwarders pay to; another treasury has other addresses
 */
export function createEvmDeposits({ treasury }: { readonly treasury: Address }): DepositScheme {
  const depositOf = evmDeposits(treasury);
  return { intents: [], assign: async (paymentId) => depositOf(paymentId) };
}

/** Deposit of each payment, deterministic. */
export function evmDeposits(treasury: Address): (paymentId: string) => Deposit {
  const addressOf = depositAddresses(treasury);
  return (paymentId) => {
    const salt = depositSalt(paymentId);
    return {
      scheme: depositScheme,
      address: addressOf(salt),
      memo: null,
      contract: null,
      contractMemo: null,
      salt: `0x${hexOfBytes(salt)}`,
    };
  };
}

// Addresses and calls of the deposit forwarder, computed without a call to a chain.

/** Deterministic deployer with this address on every EVM chain (github.com/Arachnid/deterministic-deployment-proxy). */
export const deployer: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C';

/** Part of every deposit address: never change it. */
const deploySalt: Hex = `0x${'00'.repeat(32)}`;

const creationCode = (treasury: Address): Hex =>
  encodeDeployData({ abi: forwarderFactory.abi, bytecode: forwarderFactory.bytecode, args: [treasury] });

export interface ForwarderAddresses {
  readonly factory: Address;
  readonly implementation: Address;
}

/**
 * Addresses of one treasury's factory and forwarder implementation, deployed or not: the same on every chain.
 * @param treasury receiver of every flush, fixed in the deployed code
 */
export function forwarderAddresses(treasury: Address): ForwarderAddresses {
  const factory = getContractAddress({
    opcode: 'CREATE2',
    from: deployer,
    salt: deploySalt,
    bytecodeHash: keccak256(creationCode(treasury)),
  });
  // The factory's constructor creates the implementation; a contract's first nonce is 1 (EIP-161).
  return { factory, implementation: getContractAddress({ opcode: 'CREATE', from: factory, nonce: 1n }) };
}

interface Call {
  readonly to: Address;
  readonly data: Hex;
}

/** Transaction that deploys the factory; any account may send it with the same result. */
export const forwarderDeployment = (treasury: Address): Call => ({
  to: deployer,
  data: concatHex([deploySalt, creationCode(treasury)]),
});

/** Transaction that sends the deposits' whole balance of a token to the treasury; any account may send it. */
export function flushCall(treasury: Address, salts: readonly string[], token: string): Call {
  const args = [salts as readonly Hex[], token as Address] as const;
  const data = encodeFunctionData({ abi: forwarderFactory.abi, functionName: 'flush', args });
  return { to: forwarderAddresses(treasury).factory, data };
}

/** EIP-1167: creation code of a minimal clone, before and after the implementation's address, as in OpenZeppelin's Clones. */
const cloneHead = '3d602d80600a3d3981f3363d3d373d3d3d363d73';
const cloneTail = '5af43d82803e903d91602b57fd5bf3';

/** Offsets in the CREATE2 preimage: 0xff, factory (20), salt (32), hash of the creation code (32). */
const saltAt = 21;
const codeHashAt = 53;
const preimageLength = 85;

/** @returns the deposit address of a salt of 32 bytes, equal to the result of `ForwarderFactory.addressOf` */
export function depositAddresses(treasury: Address): (salt: Uint8Array) => Address {
  const { factory, implementation } = forwarderAddresses(treasury);
  const code = hexToBytes(`0x${cloneHead}${implementation.slice(2).toLowerCase()}${cloneTail}`);
  const template = new Uint8Array(preimageLength);
  template[0] = 0xff;
  template.set(hexToBytes(factory), 1);
  template.set(keccak(code), codeHashAt);
  return (salt) => {
    const preimage = template.slice();
    preimage.set(salt, saltAt);
    return checksummed(hexOfBytes(keccak(preimage)).slice(-40));
  };
}

export const hexOfBytes = (bytes: Uint8Array): string => Buffer.from(bytes.buffer).toString('hex');
