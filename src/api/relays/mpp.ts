/**
 * The Payment authentication scheme (MPP; draft-ryan-httpauth-payment, method `evm`, intent `charge`) over the same authorizations: challenges
 * in WWW-Authenticate, a credential in Authorization, a receipt in Payment-Receipt.
 */
import type { RelayOffer } from '../../../commands/relays.ts';
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

/** The signed part of a challenge: a credential must answer a challenge that this installation issued. */
interface Challenge {
  readonly realm: string;
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

/** Keys in the order of RFC 8785: clients serialize the request again, and its text must stay the same. */
const requestOf = ({ source, payTo }: RelayOffer, networkId: number): string =>
  base64url({
    amount: source.amount,
    currency: source.token.address,
    methodDetails: { chainId: networkId, credentialTypes: ['authorization'], decimals: source.token.decimals },
    recipient: payTo,
  });

const factsOf = ({ realm, request, expires, opaque }: Challenge): readonly string[] => [
  'payment challenge',
  realm,
  'evm',
  'charge',
  request,
  expires,
  opaque ?? '',
];

/** @param nonceOf keccak-256 of a text, in hex */
export function createChallenges(seals: PreparedSeals, nonceOf: (text: string) => string): Challenges {
  const serialized = (challenge: Challenge): string => {
    const { realm, request, expires, opaque } = challenge;
    const fields = [
      ['id', seals.sealOf(factsOf(challenge))],
      ['realm', realm],
      ['method', 'evm'],
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
        .flatMap((offer) => (offer.terms.kind === 'eip712' ? requestOf(offer, offer.terms.networkId) : []))
        .map((request) => serialized({ realm, request, expires, opaque }))
        .join(', ');
    },

    read(header) {
      if (header.length > headerMax) throw malformed(`is longer than ${headerMax} characters`);
      const credential = objectIn(decodeJson(header.slice(scheme.length).trim()), 'credential');
      const sent = objectIn(credential['challenge'], 'challenge');
      if (textIn(sent, 'method') !== 'evm' || textIn(sent, 'intent') !== 'charge')
        throw malformed('answers no challenge of method evm and intent charge');
      const challenge = {
        realm: textIn(sent, 'realm'),
        request: textIn(sent, 'request'),
        expires: textIn(sent, 'expires'),
        opaque: sent['opaque'] === undefined ? null : textIn(sent, 'opaque'),
      };
      const id = textIn(sent, 'id');
      if (!seals.isSealOf(id, factsOf(challenge))) throw malformed('answers no challenge of this server');
      const payload = objectIn(credential['payload'], 'payload');
      const nonce = textIn(payload, 'nonce');
      // The nonce binds the signature to the challenge.
      if (nonce.toLowerCase() !== nonceOf(`${id}${challenge.realm}`))
        throw malformed('has a nonce that is not that of its challenge');
      const request = objectIn(decodeJson(challenge.request), 'request');
      const networkId = Number(objectIn(request['methodDetails'], 'methodDetails')['chainId']);
      const opaque = challenge.opaque === null ? null : objectIn(decodeJson(challenge.opaque), 'opaque');
      return {
        version: 'mpp',
        network: networkName(networkId),
        caip2: networkName(networkId),
        accepted: { asset: textIn(request, 'currency'), quote: opaque ? textIn(opaque, 'quote') : null },
        signed: {
          from: textIn(payload, 'from'),
          to: textIn(payload, 'to'),
          value: textIn(payload, 'value'),
          validAfter: textIn(payload, 'validAfter'),
          validBefore: textIn(payload, 'validBefore'),
          nonce,
          signature: textIn(payload, 'signature'),
        },
      };
    },
  };
}

/** Null where the request authenticates otherwise, or not at all. */
export const credentialIn = (authorization: string | undefined): string | null =>
  authorization !== undefined && /^payment\s/i.test(authorization) ? authorization : null;

/** @param timestamp when the authorization was accepted (RFC 3339); the same one gets the same receipt */
export const paymentReceipt = (transaction: string, timestamp: string): string =>
  base64url({ method: 'evm', reference: transaction, status: 'success', timestamp });
