/** The headers and bodies of x402, versions 1 and 2 (x402 specification; `@x402/core`). This module only parses input and trusts none of it. */
import type { RelayOffer, SignedAuthorization } from '../../../commands/relays.ts';
import type { Json } from '../../../domain/schema.ts';
import { ApiError } from '../errors.ts';

export const headerNames = {
  required: 'PAYMENT-REQUIRED',
  payment: 'PAYMENT-SIGNATURE',
  response: 'PAYMENT-RESPONSE',
  /** Names of version 1. */
  oldPayment: 'X-PAYMENT',
  oldResponse: 'X-PAYMENT-RESPONSE',
} as const;

/** An authorization with its signature has about 1,000 characters. */
const headerMax = 8_192;

/** The names that version 1 has for networks. Its clients refuse a whole answer that names another one. */
const oldNames: ReadonlyMap<number, string> = new Map([
  [8453, 'base'],
  [84532, 'base-sepolia'],
  [137, 'polygon'],
  [80002, 'polygon-amoy'],
]);

export const networkName = (networkId: number): string => `eip155:${networkId}`;

/** How long a client's signature is valid at most, in seconds. */
export const validMax_s = 300;

/** Payment requirements as a client reads them. */
export interface Bill {
  readonly url: string;
  readonly description: string;
  /** Time that payers still have, in seconds. */
  readonly left_s: number;
  readonly offers: readonly RelayOffer[];
}

const timeoutOf = ({ left_s }: Bill): number => Math.max(1, Math.min(validMax_s, Math.floor(left_s)));

/** Requirements of version 2, one for each source. */
export const requirementsOf = (bill: Bill) =>
  bill.offers.map(({ source, deposit, networkId, domain }) => ({
    scheme: 'exact',
    network: networkName(networkId),
    amount: source.amount,
    asset: source.token.address,
    payTo: deposit.address,
    maxTimeoutSeconds: timeoutOf(bill),
    extra: { name: domain.name, version: domain.version },
  }));

/** The answer of version 2 that requires payment, in a header. */
export const paymentRequired = (bill: Bill, error: string) => ({
  x402Version: 2,
  error,
  resource: { url: bill.url, description: bill.description, mimeType: 'application/json' },
  accepts: requirementsOf(bill),
});

/** The same in version 1, in the body. */
export const oldPaymentRequired = (bill: Bill, error: string) => ({
  x402Version: 1,
  error,
  accepts: bill.offers.flatMap(({ source, deposit, networkId, domain }) => {
    const network = oldNames.get(networkId);
    if (network === undefined) return [];
    return [
      {
        scheme: 'exact',
        network,
        maxAmountRequired: source.amount,
        resource: bill.url,
        description: bill.description,
        mimeType: 'application/json',
        payTo: deposit.address,
        maxTimeoutSeconds: timeoutOf(bill),
        asset: source.token.address,
        extra: { name: domain.name, version: domain.version },
      },
    ];
  }),
});

export const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64');

/** Header that a client sent. */
export interface SentPayment {
  readonly version: 1 | 2;
  readonly networkId: number;
  /** Network as the client spells it. */
  readonly network: string;
  /** Requirement that the client chose, of version 2: it must be one of ours. */
  readonly accepted: { readonly amount: string; readonly asset: string; readonly payTo: string } | null;
  readonly signed: Omit<SignedAuthorization, 'chainId' | 'tokenAddress'>;
}

const malformed = (what: string): ApiError => new ApiError('invalidRequest', `the payment header ${what}`);

/** @throws ApiError invalidRequest for what no client of either version sends */
export function readPayment(text: string): SentPayment {
  if (text.length > headerMax) throw malformed(`is longer than ${headerMax} characters`);
  const payload = objectIn(parsed(text), 'payload');
  const version = payload['x402Version'];
  if (version !== 1 && version !== 2) throw malformed('has no x402Version of 1 or 2');
  const chosen = version === 2 ? objectIn(payload['accepted'], 'accepted') : payload;
  if (textIn(chosen, 'scheme') !== 'exact') throw malformed('has another scheme than exact');
  const network = textIn(chosen, 'network');
  const inner = objectIn(payload['payload'], 'payload');
  const authorization = objectIn(inner['authorization'], 'authorization');
  return {
    version,
    network,
    networkId: networkIdIn(network, version),
    accepted:
      version === 2
        ? { amount: textIn(chosen, 'amount'), asset: textIn(chosen, 'asset'), payTo: textIn(chosen, 'payTo') }
        : null,
    signed: {
      from: textIn(authorization, 'from'),
      to: textIn(authorization, 'to'),
      value: textIn(authorization, 'value'),
      validAfter: textIn(authorization, 'validAfter'),
      validBefore: textIn(authorization, 'validBefore'),
      nonce: textIn(authorization, 'nonce'),
      signature: textIn(inner, 'signature'),
    },
  };
}

function networkIdIn(network: string, version: 1 | 2): number {
  if (version === 2) return Number(/^eip155:([1-9][0-9]{0,9})$/.exec(network)?.[1] ?? 0);
  return [...oldNames].find(([, name]) => name === network)?.[0] ?? 0;
}

function parsed(text: string): unknown {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) throw malformed('is not base64');
  try {
    return JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    throw malformed('is not the base64 of JSON');
  }
}

function objectIn(value: unknown, name: string): { readonly [name: string]: Json } {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as { [name: string]: Json };
  throw malformed(`has no ${name}`);
}

function textIn(value: { readonly [name: string]: Json }, name: string): string {
  const text = value[name];
  if (typeof text === 'string' && text.length <= 4_096) return text;
  throw malformed(`has no text ${name}`);
}
