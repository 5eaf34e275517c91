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

/** 2: allowances for our contracts; anchoring a head's hash on a chain. 3: allowances for the contract that burns for rebalances. 4: for USDT0's. */
export const operationSchemaVersion = 4;

export const operationKinds = ['withdrawal', 'rebalance', 'sweep', 'deployment', 'anchor'] as const;

/** Operator's account name, as in `operator:<name>`. */
const Operator = Type.String({ minLength: 1, maxLength: 128 });

/** Form of an operation other than a token transfer: coin, collection of deposits, deployment, allowance, or anchor. */
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
      /** Treasury account that owns the money. */
      account: Address,
      token: AssetRef,
      form: Type.Optional(Form),
      receiver: Address,
      receiverMemo: Memo,
      amount: Amount,
      /** Value in millionths of a dollar: tokens count as one dollar, coins as configured. */
      value_microUsd: Amount,
      /** Number of other operators who must approve before the signature. */
      approvals: Type.Integer({ minimum: 0, maximum: 1 }),
      /** It may use money that payouts are owed. Default: it waits for them. */
      evenOwed: Type.Optional(Type.Literal(true)),
      /** For a rebalance: our account that finally receives the money. */
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
      /** Amount of a collection, if it differs from the order. */
      arrived: Type.Optional(Amount),
    },
    closed,
  ),
  /** The transfer is final, and the receiver got less than ordered. Nothing more is sent. */
  OperationShort: Type.Object(Short, closed),
  /** Other end of a rebalance: the transaction that topped up our account there. */
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
