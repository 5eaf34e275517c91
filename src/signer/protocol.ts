/** Protocol between a service and a separate signer: JSON over HTTPS, with integers of any size as `{"n":"…"}`. */
import Type, { type Static, type TSchema } from 'typebox';
import Compile from 'typebox/compile';
import type { SigningPurpose, Unsigned } from '../../commands/transferPorts.ts';
import { chainIds } from '../../domain/chains.ts';
import { Address, closed, nullable, oneOf, Text } from '../../domain/schema.ts';
import { purposeKinds } from '../../domain/transfer/shapes.ts';

export const signerPaths = {
  accounts: '/v1/accounts',
  check: '/v1/check',
  sign: '/v1/sign',
  owners: '/v1/deposit-owners',
} as const;

/** Maximum size of a request or an answer, several times the largest transaction with its purpose. */
export const messageMax_bytes = 256 * 1024;
/** Maximum addresses per request. */
export const ownersMax = 100;

const Whole = Type.Object({ n: Type.String({ pattern: '^[0-9]{1,78}$' }) }, closed);
/** Ids of payments and operations, transfers of chains, `nonce 7`. */
const Reference = Type.String({ pattern: '^[\\w:./ -]{1,200}$' });
const Token = Type.Object(
  { symbol: Text(16), address: Address, decimals: Type.Integer({ minimum: 0, maximum: 36 }) },
  closed,
);

const SignRequest = Type.Object(
  {
    unsigned: Type.Object(
      {
        chainId: oneOf(chainIds),
        account: Address,
        nonce: nullable(Whole),
        order: Type.Object(
          {
            chainId: oneOf(chainIds),
            token: Token,
            receiver: Address,
            receiverMemo: nullable(Text(128)),
            amount: Whole,
          },
          // The family handles the rest of an order: its signer rebuilds the transaction from it.
          { additionalProperties: true },
        ),
        validUntil: nullable(Text(64)),
        fee: Type.Record(Type.String({ maxLength: 64 }), Text(78)),
        payload: Type.Unknown(),
      },
      closed,
    ),
    purpose: Type.Object({ kind: oneOf(purposeKinds), reference: Reference, appId: Type.Optional(Text(128)) }, closed),
  },
  closed,
);

const SignedAnswer = Type.Object({ bytes: Type.String({ maxLength: 65_536 }), hash: Text(128) }, closed);
const AccountsAnswer = Type.Object(
  {
    accounts: Type.Array(Type.Object({ family: oneOf(['evm', 'solana', 'stellar']), account: Address }, closed), {
      maxItems: 8,
    }),
  },
  closed,
);
/** Owners with new salts, or those of given salts. */
const OwnersRequest = Type.Union([
  Type.Object({ count: Type.Integer({ minimum: 1, maximum: ownersMax }) }, closed),
  Type.Object(
    { salts: Type.Array(Type.String({ pattern: '^[0-9a-f]{64}$' }), { minItems: 1, maxItems: ownersMax }) },
    closed,
  ),
]);
const OwnersAnswer = Type.Object(
  {
    owners: Type.Array(Type.Object({ address: Address, scheme: Text(32), salt: Text(128) }, closed), {
      maxItems: ownersMax,
    }),
  },
  closed,
);
/**
 * Reason of a refused signature. `refused` is a reason of `SigningRefused` or `PayoutBlocked`, or `unavailable` during an outage of its
 * nodes or stores.
 */
const RefusedAnswer = Type.Object({ refused: Text(64), message: Text(2_000) }, closed);

export type Refused = Static<typeof RefusedAnswer>;
export type OwnersWanted = Static<typeof OwnersRequest>;
export type SignerAccounts = Static<typeof AccountsAnswer>['accounts'];
export interface SigningRequest {
  readonly unsigned: Unsigned;
  readonly purpose: SigningPurpose;
}

/** Compiles the schema on first use. @throws RangeError for a text of another form */
const reading = <T>(schema: TSchema) => {
  let shape: ReturnType<typeof Compile> | undefined;
  return (text: string): T => {
    shape ??= Compile(schema);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw new RangeError('it is no JSON');
    }
    if (!shape.Check(value)) {
      const [first] = shape.Errors(value) as readonly { instancePath?: string; message?: string }[];
      throw new RangeError(`${first?.instancePath || 'it'} ${first?.message ?? 'is not as it must be'}`);
    }
    return revived(value) as T;
  };
};

export const read = {
  asked: reading<SigningRequest>(SignRequest),
  signed: reading<Static<typeof SignedAnswer>>(SignedAnswer),
  accounts: reading<Static<typeof AccountsAnswer>>(AccountsAnswer),
  ownersWanted: reading<OwnersWanted>(OwnersRequest),
  owners: reading<Static<typeof OwnersAnswer>>(OwnersAnswer),
  refused: reading<Refused>(RefusedAnswer),
};

export const write = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? { n: part.toString() } : part));

function revived(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revived);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only?.[0] === 'n' && typeof only[1] === 'string' && /^-?\d{1,78}$/.test(only[1]))
    return BigInt(only[1]);
  return Object.fromEntries(entries.map(([name, part]) => [name, revived(part)]));
}
