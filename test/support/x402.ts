/** A payer who has tokens and no coin for gas: signs the terms of an x402 answer. Written from the specification, without its libraries. */
import { randomBytes } from 'node:crypto';
import type { Address, Hex } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';

/** One entry of `accepts`. */
export interface Requirement {
  readonly scheme: string;
  readonly network: string;
  readonly amount: string;
  readonly asset: Address;
  readonly payTo: Address;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}

export interface SignedFields {
  readonly from: Address;
  readonly to: Address;
  readonly value: string;
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: Hex;
}

export const anyPayer = (): PrivateKeyAccount => privateKeyToAccount(`0x${randomBytes(32).toString('hex')}`);

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
export const decoded = (header: string | null): any =>
  header === null ? null : JSON.parse(Buffer.from(header, 'base64').toString('utf8'));

export const encodedHeader = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

export const types = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

const networkOf = ({ network }: Pick<Requirement, 'network'>): number => Number(network.split(':')[1]);

export const nowSeconds = (): number => Math.floor(Date.now() / 1_000);

/** @param altered fields that are signed instead of the requested ones */
export async function authorize(
  payer: PrivateKeyAccount,
  requirement: Requirement,
  altered: Partial<SignedFields> = {},
): Promise<{ readonly signature: Hex; readonly authorization: SignedFields }> {
  const authorization: SignedFields = {
    from: payer.address,
    to: requirement.payTo,
    value: requirement.amount,
    validAfter: '0',
    validBefore: String(nowSeconds() + requirement.maxTimeoutSeconds),
    nonce: `0x${randomBytes(32).toString('hex')}`,
    ...altered,
  };
  const signature = await payer.signTypedData({
    domain: { ...requirement.extra, chainId: networkOf(requirement), verifyingContract: requirement.asset },
    types,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...authorization,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
    },
  });
  return { signature, authorization };
}

/** The header of version 2. */
export const headerOf = (accepted: Requirement, payload: object): string =>
  encodedHeader({ x402Version: 2, accepted, payload });

export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
  readonly body: any;
  /** Decoded PAYMENT-REQUIRED. */
  // biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
  readonly required: any;
  /** Decoded PAYMENT-RESPONSE. */
  // biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
  readonly response: any;
}

/** Calls the endpoint of a payment's link. */
export async function ask402(link: string, header?: string, init: RequestInit = {}): Promise<Asked> {
  const at = new URL(link);
  const answer = await fetch(`${at.origin}${at.pathname}/x402${at.search}`, {
    ...init,
    headers: { ...(header !== undefined && { 'PAYMENT-SIGNATURE': header }), ...(init.headers as object) },
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    body: text === '' ? null : JSON.parse(text),
    required: decoded(answer.headers.get('payment-required')),
    response: decoded(answer.headers.get('payment-response')),
  };
}

// The Payment scheme (MPP), written from its drafts.

/** Fields of the first challenge; its request is decoded. */
export function challengeIn({ headers }: Pick<Asked, 'headers'>) {
  const [, one = ''] = /^Payment (.*?)(?:, Payment |$)/.exec(headers.get('www-authenticate') ?? '') ?? [];
  const fields: Record<string, string> = Object.fromEntries(
    [...one.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
  const { request = '' } = fields;
  return { fields, request: request === '' ? null : JSON.parse(Buffer.from(request, 'base64url').toString()) };
}

/** Sends the credential of a challenge. */
export async function payByMpp(link: string, challenge: Record<string, string>, payload: object) {
  const text = Buffer.from(JSON.stringify({ challenge, payload })).toString('base64url');
  const answer = await ask402(link, undefined, { headers: { Authorization: `Payment ${text}` } });
  const receipt = answer.headers.get('payment-receipt');
  return { ...answer, receipt: receipt === null ? null : JSON.parse(Buffer.from(receipt, 'base64url').toString()) };
}
