/**
 * What a signer of its own has signed for one transfer, in the signer's own log: stream `signature-<reference>`. It is written before a
 * signature leaves the signer, so that whatever the service's log says later, the signer knows what is out there.
 */
import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { type Decider, type Decision, refuse } from '../decider.ts';
import { Address, Amount, closed, Hash, Height, nullable, oneOf, Text, Time } from '../schema.ts';
import { AssetRef } from '../transfer/shapes.ts';

export const signatureSchemaVersion = 1;

/** Fee bumps and replacements after proven deaths, as many as an operator can allow one transfer. */
const signaturesMax = 1_000;

export const signatureEventSchemas = {
  TransferSigned: Type.Object(
    {
      chainId: oneOf(chainIds),
      account: Address,
      nonce: nullable(Height),
      hash: Hash,
      bytes: Type.String({ minLength: 2, maxLength: 65_536 }),
      validUntil: nullable(Text(64)),
      token: AssetRef,
      receiver: Address,
      receiverMemo: nullable(Text(128)),
      amount: Amount,
      signedAt: Time,
    },
    closed,
  ),
} as const;

export type SignatureEvent = {
  readonly type: 'TransferSigned';
  readonly data: Static<(typeof signatureEventSchemas)['TransferSigned']>;
};
export type Signature = SignatureEvent['data'];
export type SignatureState = readonly Signature[];

export const signature: Decider<SignatureState, SignatureEvent> = {
  category: 'signature',
  initial: [],
  evolve: (state, { data }) => [...state, data],
};

/** Of two with one nonce only one can land; what has no nonce shares it with nothing. */
const sharesNonce = (a: Signature, b: Signature): boolean =>
  a.nonce !== null && a.nonce === b.nonce && a.account === b.account && a.chainId === b.chainId;

const movesTheSame = (a: Signature, b: Signature): boolean =>
  a.chainId === b.chainId &&
  a.token.address === b.token.address &&
  a.receiver === b.receiver &&
  a.receiverMemo === b.receiverMemo &&
  a.amount === b.amount;

/** Earlier signatures that could land besides a new one: each of them must be proven dead before it. */
export const besides = (state: SignatureState, next: Signature): readonly Signature[] =>
  state.filter((known) => known.hash !== next.hash && !sharesNonce(known, next));

/**
 * Notes a signature that is about to leave; `[]` for one that has left before.
 * @param proven hashes that the chain itself proves can never land, asked of the signer's own nodes
 */
export function noteSignature(
  state: SignatureState,
  next: Signature,
  proven: ReadonlySet<string>,
): Decision<SignatureEvent> {
  if (state.some(({ hash }) => hash === next.hash)) return [];
  const [first] = state;
  if (first && !movesTheSame(first, next))
    return refuse(
      'forbidden',
      `another transfer was signed for this purpose (${first.hash}): it is paid to nobody else`,
    );
  const alive = besides(state, next).find(({ hash }) => !proven.has(hash));
  if (alive)
    return refuse(
      'forbidden',
      `${alive.hash} was signed for this transfer and is not proven dead: a second could land too`,
    );
  if (state.length >= signaturesMax)
    return refuse('attemptsSpent', `${signaturesMax} signatures were made for this transfer: no more are`);
  return [{ type: 'TransferSigned', data: next }];
}
