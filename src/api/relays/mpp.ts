/**
 * The Payment authentication scheme (MPP; draft-ryan-httpauth-payment, intent `charge`) over the same authorizations: challenges in
 * WWW-Authenticate, a credential in Authorization, a receipt in Payment-Receipt. The methods are `evm`, `solana` (draft-solana-charge-00) and
 * `stellar` (draft-stellar-charge-00), the latter two in pull mode with fees that the relay account pays.
 */
import type { RelayOffer } from '../../../commands/relayPorts.ts';
import type { PreparedSeals } from '../../security/masterKey.ts';
import { ApiError } from '../errors.ts';
import {
  type Bill,
  decodeJson,
  headerMax,
  networkName,
  objectIn,
  type SentPayment,
  textIn,
  timeoutOf,
} from './wire.ts';

export const mppHeaders = {
  challenge: 'WWW-Authenticate',
  credential: 'Authorization',
  receipt: 'Payment-Receipt',
} as const;

const scheme = 'Payment';
const malformed = (what: string): ApiError => new ApiError('invalidRequest', `the Payment credential ${what}`);

const methods = ['evm', 'solana', 'stellar'] as const;
type PaymentMethod = (typeof methods)[number];

/** The names of the method `solana` for networks in CAIP-2. */
const solanaNetworks: ReadonlyMap<string, string> = new Map([
  ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 'mainnet-beta'],
  ['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', 'devnet'],
]);

/** The signed part of a challenge: a credential must answer a challenge that this installation issued. */
interface Challenge {
  readonly realm: string;
  readonly method: PaymentMethod;
  readonly request: string;
  readonly expires: string;
  readonly opaque: string | null;
}

export interface Challenges {
  /** One challenge for each source, in one header. @param now_ms since 1970 */
  of(bill: Bill, now_ms: number): string;
  /** The credential of an Authorization header. @throws ApiError invalidRequest */
  read(header: string): SentPayment;
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The method and the details of an offer; null on a network that its method cannot name. */
function methodOf({ source, network, terms }: RelayOffer): readonly [PaymentMethod, object] | null {
  const { decimals } = source.token;
  switch (terms.kind) {
    case 'eip712':
      return ['evm', { chainId: terms.networkId, credentialTypes: ['authorization'], decimals }];
    case 'transaction': {
      const name = solanaNetworks.get(network);
      return name === undefined
        ? null
        : ['solana', { decimals, feePayer: true, feePayerKey: terms.feePayer, network: name }];
    }
    case 'entry':
      return ['stellar', { feePayer: true, network }];
  }
}

/** Keys in the order of RFC 8785: clients serialize the request again, and its text must stay the same. */
const requestOf = ({ source, asset, payTo }: RelayOffer, methodDetails: object): string =>
  base64url({ amount: source.amount, currency: asset, methodDetails, recipient: payTo });

const factsOf = ({ realm, method, request, expires, opaque }: Challenge): readonly string[] => [
  'payment challenge',
  realm,
  method,
  'charge',
  request,
  expires,
  opaque ?? '',
];

/** @param nonceOf keccak-256 of a text, in hex */
export function createChallenges(seals: PreparedSeals, nonceOf: (text: string) => string): Challenges {
  const serialized = (challenge: Challenge): string => {
    const { realm, method, request, expires, opaque } = challenge;
    const fields = [
      ['id', seals.sealOf(factsOf(challenge))],
      ['realm', realm],
      ['method', method],
      ['intent', 'charge'],
      ['request', request],
      ['expires', expires],
      ...(opaque === null ? [] : [['opaque', opaque]]),
    ];
    return `${scheme} ${fields.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
  };

  return {
    of(bill, now_ms) {
      const realm = new URL(bill.url).host;
      const expires = new Date(now_ms + timeoutOf(bill) * 1_000).toISOString();
      const opaque = bill.quote === null ? null : base64url({ quote: bill.quote });
      return bill.offers
        .flatMap((offer) => {
          const [method, details] = methodOf(offer) ?? [];
          return method && details
            ? serialized({ realm, method, request: requestOf(offer, details), expires, opaque })
            : [];
        })
        .join(', ');
    },

    read(header) {
      if (header.length > headerMax) throw malformed(`is longer than ${headerMax} characters`);
      const credential = objectIn(decodeJson(header.slice(scheme.length).trim()), 'credential');
      const sent = objectIn(credential['challenge'], 'challenge');
      const method = methods.find((each) => each === textIn(sent, 'method'));
      if (!method || textIn(sent, 'intent') !== 'charge')
        throw malformed(`answers no challenge of intent charge and method ${methods.join(', ')}`);
      const challenge = {
        realm: textIn(sent, 'realm'),
        method,
        request: textIn(sent, 'request'),
        expires: textIn(sent, 'expires'),
        opaque: sent['opaque'] === undefined ? null : textIn(sent, 'opaque'),
      };
      const id = textIn(sent, 'id');
      if (!seals.isSealOf(id, factsOf(challenge))) throw malformed('answers no challenge of this server');
      const payload = objectIn(credential['payload'], 'payload');
      const request = objectIn(decodeJson(challenge.request), 'request');
      const network = networkIn(method, objectIn(request['methodDetails'], 'methodDetails'));
      const opaque = challenge.opaque === null ? null : objectIn(decodeJson(challenge.opaque), 'opaque');
      return {
        version: 'mpp',
        network,
        caip2: network,
        accepted: { asset: textIn(request, 'currency'), quote: opaque ? textIn(opaque, 'quote') : null },
        signed: method === 'evm' ? fieldsIn(payload, nonceOf(`${id}${challenge.realm}`)) : transactionIn(payload),
      };
    },
  };
}

type Fields = ReturnType<typeof objectIn>;

/** Network in CAIP-2 of a request that this service made. */
function networkIn(method: PaymentMethod, details: Fields): string {
  if (method === 'evm') return networkName(Number(details['chainId']));
  const name = textIn(details, 'network');
  if (method === 'stellar') return name;
  const [caip2 = ''] = [...solanaNetworks].find(([, each]) => each === name) ?? [];
  return caip2;
}

/** @param bound nonce that binds the signature to the challenge */
function fieldsIn(payload: Fields, bound: string): SentPayment['signed'] {
  const nonce = textIn(payload, 'nonce');
  if (nonce.toLowerCase() !== bound) throw malformed('has a nonce that is not that of its challenge');
  return {
    from: textIn(payload, 'from'),
    to: textIn(payload, 'to'),
    value: textIn(payload, 'value'),
    validAfter: textIn(payload, 'validAfter'),
    validBefore: textIn(payload, 'validBefore'),
    nonce,
    signature: textIn(payload, 'signature'),
  };
}

/** A signed transaction, which can pay its own payment's deposit alone. A transaction that its payer has sent has paid the fee already. */
function transactionIn(payload: Fields): SentPayment['signed'] {
  if (textIn(payload, 'type') !== 'transaction') throw malformed('has another type than transaction');
  const { transaction } = payload;
  if (typeof transaction !== 'string' || transaction.length > headerMax) throw malformed('has no text transaction');
  return { from: '', transaction };
}

/** Null where the request authenticates otherwise, or not at all. */
export const credentialIn = (authorization: string | undefined): string | null =>
  authorization !== undefined && /^payment\s/i.test(authorization) ? authorization : null;

/**
 * @param network in CAIP-2
 * @param timestamp when the authorization was accepted (RFC 3339); the same one gets the same receipt
 */
export function paymentReceipt(network: string, transaction: string, timestamp: string): string {
  const method = methods.find((each) => network.startsWith(`${each}:`)) ?? 'evm';
  return base64url({ method, reference: transaction, status: 'success', timestamp });
}
