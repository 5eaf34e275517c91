/** Every event of a rebalance by burn and mint, as it is stored. Stream `rebalance-<id>`. */
import Type, { type Static, type TSchema } from 'typebox';
import { chainIds } from '../chains.ts';
import { Address, Amount, closed, Hash, Height, Id, oneOf, Text, Time } from '../schema.ts';
import {
  AssetRef,
  Attempt,
  DeathProof,
  Orphaned,
  Place,
  Reason,
  Settled,
  Short,
  SignedAttempt,
} from '../transfer/shapes.ts';
import { finalities } from './cctp.ts';

/** 2: routes of USDT0, and arrivals with the id of their message. */
export const rebalanceSchemaVersion = 2;

/** One of the treasury's accounts. */
const End = Type.Object({ chainId: oneOf(chainIds), account: Address, token: AssetRef }, closed);
const Domain = Type.Integer({ minimum: 0, maximum: 4_294_967_295 });

/** Smallest units of the source's token, as the policy saw them. */
const Inputs = Type.Object(
  {
    /** Version of the policy's settings: equal settings have equal versions. */
    version: Text(64),
    sourceFloat: Amount,
    sourceReserved: Amount,
    destinationFloat: Amount,
    destinationReserved: Amount,
    /** Sum in transit to the destination. */
    destinationInTransit: Amount,
    destinationOutflow_day: Amount,
    destinationOutflow_week: Amount,
  },
  closed,
);

/** `0x` and lower-case hex digits. */
const Bytes = (max_bytes: number) => Type.String({ pattern: '^0x([0-9a-f]{2})+$', maxLength: 2 + 2 * max_bytes });
const Attestation = {
  /** Transaction of the burn that the message names. */
  burnHash: Hash,
  message: Bytes(1_024),
  /** The attesters' signatures of 65 bytes each. */
  attestation: Bytes(65 * 32),
  /** In smallest units of the source's token. */
  feeExecuted: Amount,
  expirationBlock: Amount,
  attestedAt: Time,
};

/** Contracts of a route: the send calls the messenger and pays the minter, the arrival is the transmitter's. */
const Contracts = {
  /** The protocol's numbers of the chains. */
  sourceDomain: Domain,
  destinationDomain: Domain,
  messenger: Address,
  transmitter: Address,
  minter: Address,
};
const CctpRoute = Type.Object(
  { kind: Type.Literal('cctp'), ...Contracts, finality: oneOf(finalities), feeMax: Amount },
  closed,
);
const OftRoute = Type.Object(
  {
    kind: Type.Literal('oft'),
    ...Contracts,
    /** The protocol takes no tokens. */
    feeMax: Type.Literal('0'),
    /** Coin sent along, in the smallest unit. The contract returns the excess. */
    messageFee: Amount,
  },
  closed,
);

const orderedBy = <R extends TSchema>(route: R) =>
  Type.Object(
    {
      from: End,
      to: End,
      /** In smallest units of the source's token. */
      amount: Amount,
      route,
      /** In millionths of a dollar. */
      value_microUsd: Amount,
      /** Number of other operators who must approve it before it is signed. */
      approvals: Type.Integer({ minimum: 0, maximum: 1 }),
      /** Missing if an operator ordered it without the policy. */
      policy: Type.Optional(Inputs),
      reason: Reason,
      /** An operator, or a worker by its name. */
      by: Id,
      orderedAt: Time,
    },
    closed,
  );

/** An order whose route is CCTP. */
export const CctpOrdered = orderedBy(CctpRoute);

export const rebalanceEventSchemas = {
  RebalanceOrdered: orderedBy(Type.Union([CctpRoute, OftRoute])),
  RebalanceApproved: Type.Object({ by: Id, approvedAt: Time }, closed),
  RebalanceCalledOff: Type.Object({ reason: Reason, by: Id, calledOffAt: Time }, closed),
  BurnSigned: Type.Object(SignedAttempt, closed),
  BurnDied: Type.Object({ attempt: Attempt, proof: DeathProof }, closed),
  BurnOrphaned: Type.Object(Orphaned, closed),
  BurnConfirmed: Type.Object(Settled, closed),
  BurnShort: Type.Object(Short, closed),
  BurnAttested: Type.Object(Attestation, closed),
  /** The destination chain refuses the message from now on, so the service requests another attestation. */
  AttestationExpired: Type.Object({ expirationBlock: Amount, seenBlock: Height, seenAt: Time }, closed),
  MintSigned: Type.Object(SignedAttempt, closed),
  MintDied: Type.Object({ attempt: Attempt, proof: DeathProof }, closed),
  MintOrphaned: Type.Object(Orphaned, closed),
  MintConfirmed: Type.Object({ ...Settled, received: Amount }, closed),
  MintShort: Type.Object(Short, closed),
  /** Another party submitted the message: the money is in our account nevertheless. Arrivals of USDT0 are always like this. */
  MintedByOther: Type.Object(
    {
      ...Place,
      received: Amount,
      /** Id of the message of USDT0, which our send and the arrival name. */
      guid: Type.Optional(Hash),
      seenAt: Time,
    },
    closed,
  ),
  /** The block of that transaction left its chain. */
  MintByOtherOrphaned: Type.Object({ hash: Hash, blockHash: Hash, seenAt: Time }, closed),
} as const;

type Schemas = typeof rebalanceEventSchemas;
export type RebalanceEventType = keyof Schemas;
export type RebalanceEvent = {
  [T in RebalanceEventType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[RebalanceEventType];
export type RebalanceData<T extends RebalanceEventType> = Static<Schemas[T]>;
export type RebalanceOrdered = RebalanceData<'RebalanceOrdered'>;
export type CctpOrdered = Static<typeof CctpOrdered>;
export type CctpRoute = Static<typeof CctpRoute>;
export type OftRoute = Static<typeof OftRoute>;

export const isCctp = (order: RebalanceOrdered): order is CctpOrdered => order.route.kind === 'cctp';
export type PolicyInputs = Static<typeof Inputs>;
