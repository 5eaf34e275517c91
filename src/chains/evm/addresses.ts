import { createKeccak } from 'hash-wasm';
import {
  type Address,
  concatHex,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  hexToBytes,
  isHash,
  keccak256,
  zeroAddress,
} from 'viem';
import { forwarderFactory } from '../../../contracts/evm/artifacts/ForwarderFactory.ts';
import type { Chain } from '../../../domain/chains.ts';
import type { Deposit } from '../../../domain/payment/shapes.ts';
import type { DepositScheme } from '../ports.ts';

const hasher = await createKeccak(256);

/**
 * Keccak-256 of a text's UTF-8. Every payment needs three: viem's implementation gives the same result in ten times the time. One hasher
 * serves all, because nothing else runs between its start and its end.
 */
const keccak = (message: Uint8Array | string): Uint8Array => hasher.init().update(message).digest('binary');

/** Hash digits from here on capitalise the letter at their position. */
const capitalFrom = 8;

/**
 * Spells an address with its checksum (EIP-55). Without a cache: most addresses are a payment's own and used once, and viem's cache costs
 * more per new address than the hash.
 *
 * @param digits the address's 40 hex digits in lower case, without 0x
 */
export function checksummed(digits: string): Address {
  const hash = keccak(digits);
  let spelled = '0x';
  for (let i = 0; i < digits.length; i += 1) {
    const byte = hash[i >> 1] ?? 0;
    const digit = digits.charAt(i);
    spelled += (i % 2 === 0 ? byte >> 4 : byte & 15) >= capitalFrom ? digit.toUpperCase() : digit;
  }
  return spelled as Address;
}

const evmAddress = /^0x[0-9a-fA-F]{40}$/;

/**
 * Accepts mixed case only with a valid checksum, and all lower case without one. Null for the zero address and the chain's own token
 * contracts: money sent there is refused or lost.
 */
export function canonicalEvmAddress(chain: Pick<Chain, 'tokens'>, text: string): Address | null {
  if (!evmAddress.test(text)) return null;
  const lower = text.toLowerCase();
  const address = checksummed(lower.slice(2));
  if (address === zeroAddress || chain.tokens.some((token) => token.address === address)) return null;
  return text === address || text === lower ? address : null;
}

/** An account's address, with its checksum; null for any other text, and for a wrong checksum. */
export function accountIn(text: string): Address | null {
  if (!evmAddress.test(text)) return null;
  const lower = text.toLowerCase();
  const address = checksummed(lower.slice(2));
  return text === address || text === lower ? address : null;
}

/** An indexed address is right-aligned in a topic of 32 bytes. */
export const addressIn = (topic: string): Address => checksummed(topic.slice(-40).toLowerCase());

export const canonicalEvmHash = (text: string): string | null => (isHash(text) ? text.toLowerCase() : null);

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
