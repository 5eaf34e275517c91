/** The headers and bodies of x402, versions 1 and 2 (x402 specification; `@x402/core`). This module only parses input and trusts none of it. */
import type { RelayOffer, Relays, RelayTerms, SignedAuthorization } from '../../../commands/relayPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
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

/** A fault in the words of the network's scheme: those of commands are the EVM scheme's. */
export function faultOn(network: string, fault: string): string {
  const [namespace = ''] = network.split(':');
  const scheme = { stellar: 'stellar', solana: 'svm' }[namespace] ?? 'evm';
  return fault.replace('invalid_exact_evm_', `invalid_exact_${scheme}_`);
}

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

const extraOf = ({ quote }: Bill, { terms }: Pick<RelayOffer, 'terms'>) => ({
  ...extraOfTerms(terms),
  ...(quote !== null && { quote }),
});

/** Fields that the scheme `exact` of a network requires. */
export function extraOfTerms(terms: RelayTerms): object {
  switch (terms.kind) {
    case 'eip712':
      return { name: terms.domain.name, version: terms.domain.version };
    case 'entry':
      // The relay account pays the fee (x402, scheme_exact_stellar).
      return { areFeesSponsored: true };
    case 'transaction':
      // x402, scheme_exact_svm.
      return { feePayer: terms.feePayer };
  }
}

export const timeoutOf = ({ left_s }: Bill): number => Math.max(1, Math.min(validMax_s, Math.floor(left_s)));

/** Requirements of version 2, one for each source. */
export const requirementsOf = (bill: Bill) =>
  bill.offers.map((offer) => ({
    scheme: 'exact',
    network: offer.network,
    amount: offer.source.amount,
    asset: offer.asset,
    payTo: offer.payTo,
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
    const { source, payTo, terms } = offer;
    const network = terms.kind === 'eip712' ? oldNames.get(terms.networkId) : undefined;
    if (network === undefined) return [];
    return [
      {
        scheme: 'exact',
        network,
        maxAmountRequired: source.amount,
        resource: bill.url,
        description: bill.description,
        mimeType: 'application/json',
        payTo,
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
  /** Network as the client spells it. */
  readonly network: string;
  /** The same in CAIP-2; empty if version 1 has no such name. */
  readonly caip2: string;
  /** Terms that the client chose; null in version 1, whose clients send none back. */
  readonly accepted: { readonly asset: string; readonly quote: string | null } | null;
  readonly signed: SentFields | SentTransaction;
}

type SentFields = Omit<SignedAuthorization, 'chainId' | 'tokenAddress'>;

/** A transaction that holds the authorization, with its payer as far as it is read. */
interface SentTransaction {
  readonly from: string;
  readonly transaction: string;
}

/** A payment with its fields. */
export type ReadPayment = SentPayment & { readonly signed: SignedAuthorization };

/**
 * The fields of a payment on one chain.
 * @param asset token of fields that name none
 * @throws ApiError invalidRequest for a transaction that holds no authorization
 */
export function sentAuthorization(
  { read }: Pick<Relays, 'read'>,
  sent: SentPayment,
  { chainId, asset }: { readonly chainId: ChainId; readonly asset: string },
): ReadPayment {
  if (!('transaction' in sent.signed)) return { ...sent, signed: { ...sent.signed, chainId, tokenAddress: asset } };
  const signed = read(chainId, sent.signed.transaction);
  if (!signed) throw malformed('has another transaction than one transfer that the scheme of its network describes');
  return { ...sent, signed };
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
  return {
    version,
    network,
    caip2: version === 2 ? network : oldNetworkIn(network),
    accepted: version === 2 ? { asset: textIn(chosen, 'asset'), quote: quoteIn(chosen['extra']) } : null,
    signed: signedIn(inner),
  };
}

function signedIn(inner: { readonly [name: string]: Json }): SentPayment['signed'] {
  const { transaction } = inner;
  if (typeof transaction === 'string' && transaction.length <= headerMax) return { from: '', transaction };
  const authorization = objectIn(inner['authorization'], 'authorization');
  return {
    from: textIn(authorization, 'from'),
    to: textIn(authorization, 'to'),
    value: textIn(authorization, 'value'),
    validAfter: textIn(authorization, 'validAfter'),
    validBefore: textIn(authorization, 'validBefore'),
    nonce: textIn(authorization, 'nonce'),
    signature: textIn(inner, 'signature'),
  };
}

const quoteIn = (extra: Json | undefined): string | null => {
  if (typeof extra !== 'object' || extra === null || Array.isArray(extra)) return null;
  const quote = (extra as { readonly [name: string]: Json })['quote'];
  return typeof quote === 'string' && quote.length <= 1_024 ? quote : null;
};

function oldNetworkIn(network: string): string {
  const [networkId] = [...oldNames].find(([, name]) => name === network) ?? [];
  return networkId === undefined ? '' : networkName(networkId);
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
