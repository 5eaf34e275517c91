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
export const headerMax = 8_192;

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
  /** Text that clients send back with what they sign; null if the address alone names the payment. */
  readonly quote: string | null;
  /** True if clients of version 1 can pay; they send no quote back. */
  readonly isForOldClients: boolean;
  /** Page of a payment that the address does not name; null otherwise. */
  readonly paymentLink: string | null;
}

const extraOf = ({ quote }: Bill, { domain: { name, version } }: RelayOffer) => ({
  name,
  version,
  ...(quote !== null && { quote }),
});

export const timeoutOf = ({ left_s }: Bill): number => Math.max(1, Math.min(validMax_s, Math.floor(left_s)));

/** Requirements of version 2, one for each source. */
export const requirementsOf = (bill: Bill) =>
  bill.offers.map((offer) => ({
    scheme: 'exact',
    network: networkName(offer.networkId),
    amount: offer.source.amount,
    asset: offer.source.token.address,
    payTo: offer.deposit.address,
    maxTimeoutSeconds: timeoutOf(bill),
    extra: extraOf(bill, offer),
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
  accepts: (bill.isForOldClients ? bill.offers : []).flatMap((offer) => {
    const { source, deposit, networkId } = offer;
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
        extra: extraOf(bill, offer),
      },
    ];
  }),
});

export const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64');

/** Header that a client sent. */
export interface SentPayment {
  /** Version of x402, or the Payment scheme. */
  readonly version: 1 | 2 | 'mpp';
  readonly networkId: number;
  /** Network as the client spells it. */
  readonly network: string;
  /** Terms that the client chose; null in version 1, whose clients send none back. */
  readonly accepted: { readonly asset: string; readonly quote: string | null } | null;
  readonly signed: Omit<SignedAuthorization, 'chainId' | 'tokenAddress'>;
}

const malformed = (what: string): ApiError => new ApiError('invalidRequest', `the payment of x402 ${what}`);

/** @throws ApiError invalidRequest for what no client of either version sends */
export function readPayment(text: string): SentPayment {
  if (text.length > headerMax) throw malformed(`is longer than ${headerMax} characters`);
  return readPayload(decodeJson(text));
}

/** @throws ApiError invalidRequest */
export function readPayload(value: unknown): SentPayment {
  const payload = objectIn(value, 'payload');
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
    accepted: version === 2 ? { asset: textIn(chosen, 'asset'), quote: quoteIn(chosen['extra']) } : null,
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

const quoteIn = (extra: Json | undefined): string | null => {
  if (typeof extra !== 'object' || extra === null || Array.isArray(extra)) return null;
  const quote = (extra as { readonly [name: string]: Json })['quote'];
  return typeof quote === 'string' && quote.length <= 1_024 ? quote : null;
};

function networkIdIn(network: string, version: 1 | 2): number {
  if (version === 2) return Number(/^eip155:([1-9][0-9]{0,9})$/.exec(network)?.[1] ?? 0);
  return [...oldNames].find(([, name]) => name === network)?.[0] ?? 0;
}

export function decodeJson(text: string): unknown {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) throw malformed('is not base64');
  try {
    return JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    throw malformed('is not the base64 of JSON');
  }
}

export function objectIn(value: unknown, name: string): { readonly [name: string]: Json } {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as { [name: string]: Json };
  throw malformed(`has no ${name}`);
}

export function textIn(value: { readonly [name: string]: Json }, name: string): string {
  const text = value[name];
  if (typeof text === 'string' && text.length <= 4_096) return text;
  throw malformed(`has no text ${name}`);
}
