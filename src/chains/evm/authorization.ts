/** Authorizations of EVM tokens (EIP-3009): typed data, signature, call and contract domain. Nothing here calls a node. */
import {
  type Address,
  domainSeparator,
  encodeFunctionData,
  type Hex,
  isAddressEqual,
  keccak256,
  parseAbi,
  recoverTypedDataAddress,
  stringToBytes,
} from 'viem';
import type { Authorization, AuthorizationDomain } from '../../../commands/relayPorts.ts';
import { type Chain, findToken } from '../../../domain/chains.ts';
import type { TransferOrder } from '../ports.ts';
import { networkId } from './config.ts';

export const authorizationAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
]);

export const authorizationTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/** USDC of these chains has EIP-3009; names are those of the deployed contracts (developers.circle.com, and the contracts' `name()`). */
const names: Readonly<Record<string, string>> = {
  8453: 'USD Coin',
  1: 'USD Coin',
  42161: 'USD Coin',
  137: 'USD Coin',
  84532: 'USDC',
  11155111: 'USDC',
  421614: 'USD Coin',
  80002: 'USDC',
};
const version = '2';

/** The domain of a catalogue token in this table; null for a token without EIP-3009. The start compares it with the contract's own statement. */
export function knownDomain(chain: Chain, tokenAddress: string): AuthorizationDomain | null {
  const name = names[networkId(chain.id)];
  return name !== undefined && findToken(chain, 'USDC')?.address === tokenAddress ? { name, version } : null;
}

const domainOf = (chainId: Chain['id'], token: string, domain: AuthorizationDomain) => ({
  ...domain,
  chainId: networkId(chainId),
  verifyingContract: token as Address,
});

export const separatorOf = (chain: Chain, token: string, domain: AuthorizationDomain): Hex =>
  domainSeparator({ domain: domainOf(chain.id, token, domain) });

/** Half of the order of secp256k1: contracts refuse the twin of a signature above it (EIP-2). */
const lowerHalf = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** r, s and v. Some wallets number v from 0. */
const keySignature = /^0x([0-9a-fA-F]{64})([0-9a-fA-F]{64})(0[01]|1[bBcC])$/;

/** @returns the signature with v in the contracts' form; null if the payer's key did not make it */
export async function acceptedSignature(
  chainId: Chain['id'],
  { token, payer, receiver, amount, validAfter, validBefore, nonce }: Authorization,
  domain: AuthorizationDomain,
  text: string,
): Promise<string | null> {
  const [, r = '', s = '', v = ''] = keySignature.exec(text) ?? [];
  if (r === '' || BigInt(`0x${s}`) > lowerHalf) return null;
  const signature: Hex = `0x${`${r}${s}`.toLowerCase()}${v === '00' || v.toLowerCase() === '1b' ? '1b' : '1c'}`;
  const message = {
    from: payer as Address,
    to: receiver as Address,
    value: amount,
    validAfter,
    validBefore,
    nonce: nonce as Hex,
  };
  // Numbers that belong to no signature make the library throw.
  const signer = await recoverTypedDataAddress({
    domain: domainOf(chainId, token.address, domain),
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message,
    signature,
  }).catch(() => null);
  return signer !== null && isAddressEqual(signer, payer as Address) ? signature : null;
}

/** A nonce in lower case; null for any other text. */
export const wordIn = (text: string): string | null => (/^0x[0-9a-fA-F]{64}$/.test(text) ? text.toLowerCase() : null);

export const nonceFrom = (text: string): Hex => keccak256(stringToBytes(text));

interface Call {
  readonly to: Address;
  readonly data: Hex;
}

/** The call that sends an order's authorization to its token. */
export function authorizationCall({ token, receiver, amount, form }: TransferOrder): Call {
  if (form?.kind !== 'authorization') throw new TypeError('the order has no authorization');
  const [r, s]: readonly Hex[] = [`0x${form.signature.slice(2, 66)}`, `0x${form.signature.slice(66, 130)}`];
  const v = Number.parseInt(form.signature.slice(130), 16);
  const data = encodeFunctionData({
    abi: authorizationAbi,
    functionName: 'transferWithAuthorization',
    args: [
      form.payer as Address,
      receiver as Address,
      amount,
      BigInt(form.validAfter),
      BigInt(form.validBefore),
      form.nonce as Hex,
      v,
      r ?? '0x',
      s ?? '0x',
    ],
  });
  return { to: token.address as Address, data };
}

/** The authorization that an order sends. */
export function authorizationIn({ token, receiver, amount, form }: TransferOrder): Authorization | null {
  if (form?.kind !== 'authorization') return null;
  const { payer, nonce, validAfter, validBefore } = form;
  return {
    token: token as Authorization['token'],
    payer,
    receiver,
    amount,
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce,
  };
}
