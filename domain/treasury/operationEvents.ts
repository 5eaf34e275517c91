/** Every event of a treasury operation, as it is stored. Stream `operation-<id>`. */
import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { Address, Amount, closed, Digest, Hash, oneOf, Text, Time } from '../schema.ts';
import {
  AssetRef,
  Attempt,
  allowedContracts,
  DeathProof,
  Memo,
  Orphaned,
  ourContracts,
  Reason,
  Settled,
  Short,
  SignedAttempt,
} from '../transfer/shapes.ts';

/** 2: a contract of ours may be allowed to take so much of a token; the hash of a head may be written on a chain. 3: the contract that
 * burns for rebalances may be allowed to take so much of a token. */
export const operationSchemaVersion = 3;

export const operationKinds = ['withdrawal', 'rebalance', 'sweep', 'deployment', 'anchor'] as const;

/** The name of an operator's account, as `operator:<name>` has it. */
const Operator = Type.String({ minLength: 1, maxLength: 128 });

/** What is sent where it is no transfer of a token: the coin, a collection of deposits, a contract's code, what it may take, or a hash. */
const Form = Type.Union([
  Type.Object({ kind: Type.Literal('coin') }, closed),
  Type.Object(
    {
      kind: Type.Literal('flush'),
      deposits: Type.Array(Type.Object({ address: Address, salt: Text(128) }, closed), { minItems: 1, maxItems: 200 }),
    },
    closed,
  ),
  Type.Object({ kind: Type.Literal('deploy'), contract: oneOf(ourContracts) }, closed),
  Type.Object({ kind: Type.Literal('allow'), contract: oneOf(allowedContracts), most: Amount }, closed),
  Type.Object({ kind: Type.Literal('anchor'), hash: Digest }, closed),
]);

export const operationEventSchemas = {
  OperationOrdered: Type.Object(
    {
      kind: oneOf(operationKinds),
      chainId: oneOf(chainIds),
      /** Of the treasury: whose money it is. */
      account: Address,
      token: AssetRef,
      form: Type.Optional(Form),
      receiver: Address,
      receiverMemo: Memo,
      amount: Amount,
      /** What it is worth, in millionths of a dollar: tokens count as one dollar, coins as configured. */
      value_microUsd: Amount,
      /** How many other operators must agree before it is signed. */
      approvals: Type.Integer({ minimum: 0, maximum: 1 }),
      /** It may take what payouts are owed; left out: it waits for them. */
      evenOwed: Type.Optional(Type.Literal(true)),
      /** Of a rebalance: which of our accounts is to be topped up in the end. */
      expects: Type.Optional(Type.Object({ chainId: oneOf(chainIds), account: Address, token: AssetRef }, closed)),
      reason: Reason,
      /** An operator, or a worker by its name. */
      by: Operator,
      orderedAt: Time,
    },
    closed,
  ),
  OperationApproved: Type.Object({ by: Operator, approvedAt: Time }, closed),
  OperationCalledOff: Type.Object({ reason: Reason, by: Operator, calledOffAt: Time }, closed),
  OperationSigned: Type.Object(SignedAttempt, closed),
  OperationDied: Type.Object({ attempt: Attempt, proof: DeathProof }, closed),
  OperationOrphaned: Type.Object(Orphaned, closed),
  OperationConfirmed: Type.Object(
    {
      ...Settled,
      /** What a collection brought, where that is not what was ordered. */
      arrived: Type.Optional(Amount),
    },
    closed,
  ),
  /** It is on its chain for good, and less than was ordered reached the receiver. Nothing more is sent. */
  OperationShort: Type.Object(Short, closed),
  /** The other end of a rebalance: the transaction that topped up our account there. */
  RebalanceArrived: Type.Object({ hash: Hash, amount: Amount, by: Operator, arrivedAt: Time }, closed),
} as const;

type Schemas = typeof operationEventSchemas;
export type OperationEventType = keyof Schemas;
export type OperationEvent = {
  [T in OperationEventType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[OperationEventType];
export type OperationOrdered = Static<Schemas['OperationOrdered']>;
export type OperationKind = (typeof operationKinds)[number];
export type OperationForm = Static<typeof Form>;
