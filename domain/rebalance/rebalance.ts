/**
 * One move of the treasury's own money from one chain to another: a burn, its attestation, a mint. Ordered once, approved where needed.
 * Stream `rebalance-<id>`.
 *
 * The stream owns two transfers, the burn (part 1) and the mint (part 2). Each is signed, recorded, then sent, as every transfer.
 *
 * Crash before BurnSigned: nothing was sent, and the restart signs the burn. Behind it: the restart sends the recorded bytes until their
 * fate is known. Behind BurnConfirmed: the restart requests the attestation by the burn's hash, which changes nothing there. Behind
 * BurnAttested: the restart signs the mint from the recorded message. Behind MintSigned: as for the burn. A second mint of one message is
 * refused by its chain, so a lost record can never mint twice; a second burn needs a proof that the first can never land.
 *
 * A move of USDT0 has the burn alone: others deliver its message, and the stream records the arrival. Crash between BurnConfirmed and the
 * arrival's record: the restart reads both chains again.
 */
import { type Decider, type Decision, InvariantBroken, refuse } from '../decider.ts';
import { unitsText } from '../money.ts';
import type { Instant } from '../time.ts';
import {
  failedAttempts,
  liveAttempts,
  newLeg,
  type Owed,
  pendingAttempts,
  type TransferLeg,
  type TransferStep,
} from '../transfer/leg.ts';
import { type ChainLegOwner, chainLegOwner } from '../transfer/owner.ts';
import { evolveLeg, unprefixed } from '../transfer/record.ts';
import { type Form, referenceOf } from '../transfer/shapes.ts';
import { type OurBurn, objectionToMessage, parseBurnMessage } from './burnMessage.ts';
import { burnTokenOn, fromMessageUnits, inMessageUnits, isCctpChain } from './cctp.ts';
import { type CctpOrdered, isCctp, type RebalanceData, type RebalanceEvent, type RebalanceOrdered } from './events.ts';
import { objectionToRoute } from './routeObjection.ts';

export const burnPart = 1;
export const mintPart = 2;

/** Maximum burns or mints that may fail on their chain. Each costs gas, and the next one would fail for the same reason. */
export const failuresMax = 5;

export interface Attested {
  readonly burnHash: string;
  readonly message: string;
  readonly attestation: string;
  readonly feeExecuted: bigint;
  /** 0 for never. */
  readonly expirationBlock: bigint;
  readonly at: Instant;
}

export interface Minted {
  readonly hash: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  /** In smallest units of the destination's token. */
  readonly received: bigint;
  /** True if the treasury did not send the transaction. */
  readonly byOther: boolean;
}

export interface Rebalance {
  readonly ordered: RebalanceOrdered;
  readonly approvedBy: readonly string[];
  readonly calledOff: { readonly reason: string; readonly by: string; readonly at: Instant } | null;
  readonly burn: TransferLeg;
  readonly attested: Attested | null;
  /** True while the destination chain refuses the attested message. */
  readonly expired: boolean;
  /** Null before the first attestation. */
  readonly mint: TransferLeg | null;
  readonly minted: Minted | null;
}

/** `null` before it is ordered. */
export type RebalanceState = Rebalance | null;

export const rebalance: Decider<RebalanceState, RebalanceEvent> = {
  category: 'rebalance',
  initial: null,
  evolve(state, event) {
    if (event.type === 'RebalanceOrdered') return begun(event.data);
    if (!state) throw new InvariantBroken(`${event.type} before RebalanceOrdered`);
    switch (event.type) {
      case 'RebalanceApproved':
        return { ...state, approvedBy: [...state.approvedBy, event.data.by] };
      case 'RebalanceCalledOff':
        return { ...state, calledOff: { reason: event.data.reason, by: event.data.by, at: event.data.calledOffAt } };
      case 'BurnAttested':
        return withAttestation(state, event.data);
      case 'AttestationExpired':
        return { ...state, expired: true };
      case 'MintedByOther': {
        const { hash, blockNumber, blockHash, received } = event.data;
        return { ...state, minted: { hash, blockNumber, blockHash, received: BigInt(received), byOther: true } };
      }
      case 'MintByOtherOrphaned':
        return { ...state, minted: null };
      default:
        return withMintEvent(withBurnEvent(state, event), event);
    }
  },
};

type Ends = Pick<RebalanceOrdered, 'from' | 'to'>;

/** An amount of the source's token in smallest units of the destination's. Both state whole amounts of 6 decimals, so nothing is lost. */
export const inDestinationUnits = ({ from, to }: Ends, units: bigint): bigint =>
  fromMessageUnits(inMessageUnits(units, from.token), to.token);
/** The same amount in smallest units of the source's token, rounded down. */
export const inSourceUnits = ({ from, to }: Ends, units: bigint): bigint =>
  fromMessageUnits(inMessageUnits(units, to.token), from.token);

function begun(ordered: RebalanceOrdered): Rebalance {
  const { from, route, amount } = ordered;
  const burn = newLeg({
    chainId: from.chainId,
    token: from.token,
    receiver: route.minter,
    receiverMemo: null,
    amount: BigInt(amount),
    form: burnForm(ordered),
  });
  const nothing = { approvedBy: [], calledOff: null, attested: null, expired: false, mint: null, minted: null };
  return { ordered, burn, ...nothing };
}

function burnForm({ to, route }: RebalanceOrdered): Form {
  const { destinationDomain, feeMax } = route;
  return route.kind === 'oft'
    ? { kind: 'oftSend', destinationDomain, recipient: to.account, messageFee: route.messageFee }
    : { kind: 'burn', destinationDomain, mintRecipient: to.account, feeMax, finality: route.finality };
}

function withAttestation(state: Rebalance, data: RebalanceData<'BurnAttested'>): Rebalance {
  const { burnHash, message, attestation, feeExecuted, expirationBlock, attestedAt } = data;
  const { ordered, mint } = state;
  const attested = { burnHash, message, attestation, at: attestedAt };
  const { chainId, account, token } = ordered.to;
  const amount = inDestinationUnits(ordered, BigInt(ordered.amount) - BigInt(feeExecuted));
  const form = { kind: 'mint', message, attestation } as const;
  const order = { chainId, token, receiver: account, receiverMemo: null, amount, form };
  return {
    ...state,
    attested: { ...attested, feeExecuted: BigInt(feeExecuted), expirationBlock: BigInt(expirationBlock) },
    expired: false,
    mint: mint ? { ...mint, order } : newLeg(order),
  };
}

/**
 * Drops the attestation of a burn that can never land. That happens to fast burns whose block leaves its chain after Circle signed. The
 * signed message can still mint, so nothing is burned again: the rebalance is `burnLost` until somebody mints it.
 */
function withBurnEvent(state: Rebalance, event: RebalanceEvent): Rebalance {
  const told = unprefixed('Burn', event);
  if (!told) return state;
  const next = { ...state, burn: evolveLeg(state.burn, told) };
  if (told.type !== 'Died') return next;
  const died = state.burn.attempts.find(({ signed }) => signed.attempt === told.data.attempt)?.signed.hash;
  return state.attested?.burnHash === died && !state.minted ? { ...next, attested: null, expired: false } : next;
}

function withMintEvent(state: Rebalance, event: RebalanceEvent): Rebalance {
  const told = state.mint && unprefixed('Mint', event);
  if (!state.mint || !told) return state;
  const next = { ...state, mint: evolveLeg(state.mint, told) };
  if (event.type === 'MintConfirmed') {
    const { hash, blockNumber, blockHash, received } = event.data;
    return { ...next, minted: { hash, blockNumber, blockHash, received: BigInt(received), byOther: false } };
  }
  return told.type === 'Orphaned' ? { ...next, minted: null } : next;
}

/** State in one word, for operators. `done` and `short` are final on the destination chain. */
export type RebalanceStanding =
  | 'waitsForApproval'
  | 'calledOff'
  | 'ordered'
  | 'burnSigned'
  | 'burned'
  /** A move of USDT0 whose message is not delivered yet. */
  | 'sent'
  | 'attested'
  | 'expired'
  | 'mintSigned'
  /** Attested, and the burn is gone from its chain for good: the money is where it was, and the message can still mint. */
  | 'burnLost'
  | 'short'
  | 'done';

export function rebalanceStanding(state: Rebalance): RebalanceStanding {
  const { burn, mint, minted, attested, expired, calledOff, ordered, approvedBy } = state;
  if (burn.short || mint?.short) return 'short';
  if (minted) return 'done';
  if (calledOff) return 'calledOff';
  if (pendingAttempts(burn).length > 0) return 'burnSigned';
  if (!burn.settled && mint) return pendingAttempts(mint).length > 0 ? 'mintSigned' : 'burnLost';
  if (!burn.settled) return approvedBy.length < ordered.approvals ? 'waitsForApproval' : 'ordered';
  if (!isCctp(ordered)) return 'sent';
  if (!attested) return 'burned';
  if (mint && pendingAttempts(mint).length > 0) return 'mintSigned';
  return expired ? 'expired' : 'attested';
}

/** Next step of the process. */
export type RebalanceStep =
  | { readonly do: 'hold' | 'done' }
  | { readonly do: 'transfer'; readonly part: typeof burnPart | typeof mintPart; readonly step: TransferStep }
  /** Search the destination chain for the message of the send. */
  | { readonly do: 'receive'; readonly burnHash: string }
  /** Query the attestation service for the burn. */
  | { readonly do: 'attest'; readonly burnHash: string }
  /** Request a new attestation of the message's nonce. */
  | { readonly do: 'reattest'; readonly nonce: string; readonly burnHash: string };

/**
 * The recorded bytes of both transfers are sent until their fate is known, whatever else is decided: a nonce that nobody uses would stop
 * the account. So a mint whose message has expired lands and fails before another attestation is requested.
 */
export function nextRebalanceStep(state: Rebalance): RebalanceStep {
  const { burn, mint, attested } = state;
  const standing = rebalanceStanding(state);
  const burnLive = pendingAttempts(burn);
  if (burnLive.length > 0) return { do: 'transfer', part: burnPart, step: { do: 'broadcast', attempts: burnLive } };
  const mintLive = mint ? pendingAttempts(mint) : [];
  if (mintLive.length > 0) return { do: 'transfer', part: mintPart, step: { do: 'broadcast', attempts: mintLive } };
  switch (standing) {
    case 'ordered':
      return failedAttempts(burn) >= failuresMax
        ? { do: 'hold' }
        : { do: 'transfer', part: burnPart, step: { do: 'sign' } };
    case 'sent':
      return { do: 'receive', burnHash: burn.settled?.hash ?? '' };
    case 'burned':
      return { do: 'attest', burnHash: burn.settled?.hash ?? '' };
    case 'attested':
      return mint && failedAttempts(mint) >= failuresMax
        ? { do: 'hold' }
        : { do: 'transfer', part: mintPart, step: { do: 'sign' } };
    case 'expired': {
      const nonce = attested && parseBurnMessage(attested.message)?.nonce;
      return { do: 'reattest', nonce: `0x${nonce}`, burnHash: burn.settled?.hash ?? '' };
    }
    case 'done':
    case 'calledOff':
      return { do: 'done' };
    default:
      return { do: 'hold' };
  }
}

/** Both transfers of it, as far as they are known. @param id of its stream */
export function rebalanceOwed(id: string, state: Rebalance): readonly Owed[] {
  const next = nextRebalanceStep(state);
  // Nothing is signed any more for a lost burn, so its money is not kept for it.
  const isOver = next.do === 'done' || rebalanceStanding(state) === 'burnLost';
  const owed = (part: typeof burnPart | typeof mintPart, leg: TransferLeg): Owed => {
    const key = { kind: 'rebalance', id, part } as const;
    const kind = part === burnPart ? 'burn' : 'mint';
    const isNext = next.do === 'transfer' && next.part === part;
    const step: TransferStep = isNext ? next.step : { do: leg.settled || isOver ? 'done' : 'hold' };
    return { key, purpose: { kind, reference: referenceOf(key) }, appId: null, leg, step };
  };
  return [owed(burnPart, state.burn), ...(state.mint ? [owed(mintPart, state.mint)] : [])];
}

/** Returns `[]` for an equal order; refuses another order under this id, and routes that lose money or lead out of the treasury. */
export function orderRebalance(state: RebalanceState, order: RebalanceOrdered): Decision<RebalanceEvent> {
  if (state) {
    const same = JSON.stringify(termsOf(state.ordered)) === JSON.stringify(termsOf(order));
    return same ? [] : refuse('conflict', 'another rebalance has this id: order it under a new one');
  }
  return objectionToRoute(order) ?? [{ type: 'RebalanceOrdered', data: order }];
}

const termsOf = ({ from, to, amount, route }: RebalanceOrdered) => [
  [from.chainId, from.account, from.token.address],
  [to.chainId, to.account, to.token.address],
  amount,
  route.kind === 'cctp' ? [route.finality, route.feeMax] : [route.kind, route.messageFee],
];

const noRebalance = refuse('notFound', 'there is no such rebalance: npm run treasury -- floats lists them');

export function approveRebalance(state: RebalanceState, by: string, now: Instant): Decision<RebalanceEvent> {
  if (!state) return noRebalance;
  const { ordered, approvedBy, calledOff } = state;
  if (calledOff) return refuse('illegalStep', `${calledOff.by} called it off (${calledOff.reason}): order a new one`);
  if (approvedBy.includes(by) || approvedBy.length >= ordered.approvals) return [];
  if (by === ordered.by) return refuse('forbidden', `${by} ordered it: another operator has to approve it`);
  return [{ type: 'RebalanceApproved', data: { by, approvedAt: now } }];
}

/** Allowed before the burn is signed, and after each signed burn has died. @param asked `reason` has at most 400 characters */
export function callOffRebalance(
  state: RebalanceState,
  { reason, by, now }: { readonly reason: string; readonly by: string; readonly now: Instant },
): Decision<RebalanceEvent> {
  if (!state) return noRebalance;
  const { burn, calledOff, minted, mint } = state;
  if (calledOff) return [];
  const [signed] = pendingAttempts(burn);
  if (signed) return refuse('illegalStep', `the burn ${signed.hash} is signed and can land: it cannot be called off`);
  if (burn.settled || burn.short || minted || mint)
    return refuse('illegalStep', 'the money is burned: it can only be minted, not called off');
  return [{ type: 'RebalanceCalledOff', data: { reason, by, calledOffAt: now } }];
}

/** Both transfers of it: part 1 is the burn, part 2 the mint. */
const burnOwner = chainLegOwner({
  prefix: 'Burn',
  legOf: (state: RebalanceState) => state?.burn ?? noRebalance,
  guard(state) {
    if (!state) return noRebalance;
    if (state.calledOff) return refuse('illegalStep', `${state.calledOff.by} called it off: sign nothing for it`);
    // A fee bump replaces an attempt that can land; anything else would burn twice while the first message can still mint.
    if (state.mint && liveAttempts(state.burn).length === 0)
      return refuse('illegalStep', 'the burn was attested: its message can mint, so nothing is burned again');
    if (failedAttempts(state.burn) >= failuresMax)
      return refuse('attemptsSpent', `${failuresMax} burns failed: find out why, then call it off`);
    return rebalanceStanding(state) === 'waitsForApproval'
      ? refuse('illegalStep', 'another operator has to approve it first')
      : undefined;
  },
});

const mintOwner = chainLegOwner({
  prefix: 'Mint',
  legOf(state: RebalanceState, _, verb) {
    if (!state) return noRebalance;
    if (!state.mint) return refuse('illegalStep', 'the burn is not attested: there is nothing to mint yet');
    return verb === 'sign' && !state.attested
      ? refuse('illegalStep', 'the attested burn died: wait for the next one')
      : state.mint;
  },
  guard(state) {
    if (state?.expired) return refuse('illegalStep', 'the attestation has expired: request another one first');
    if (state?.minted) return refuse('illegalStep', `${state.minted.hash} minted it already`);
    return state?.mint && failedAttempts(state.mint) >= failuresMax
      ? refuse('attemptsSpent', `${failuresMax} mints failed: submit the recorded message by hand`)
      : undefined;
  },
  extra: (state, _, outcome) =>
    outcome?.kind === 'final' ? { received: unitsText(outcome.arrived ?? state?.mint?.order.amount ?? 0n) } : {},
});

const ownerOf = (part: number) => (part === burnPart ? burnOwner : mintOwner);

export const rebalanceLegs = {
  sign: (state, part, attempt) => ownerOf(part).sign(state, part, attempt),
  bury: (state, part, attempts, proof) => ownerOf(part).bury(state, part, attempts, proof),
  conclude(state, part, outcome, now) {
    if (part === mintPart && outcome.kind === 'final' && state?.minted?.byOther)
      return refuse('illegalStep', `${state.minted.hash} minted it: one message cannot mint twice`);
    const received = outcome.kind === 'final' ? outcome.arrived : undefined;
    const most = state ? inDestinationUnits(state.ordered, BigInt(state.ordered.amount)) : 0n;
    if (part === mintPart && state && received !== undefined && received > most)
      return refuse('illegalStep', `${received} arrived of ${most} burned: an operator must check it`);
    return ownerOf(part).conclude(state, part, outcome, now);
  },
  orphan: (state, part, seen) => ownerOf(part).orphan(state, part, seen),
} as ChainLegOwner<RebalanceState, RebalanceEvent>;

/** Returns the fields that the message of its burn must have. */
export const burnOf = ({ from, to, amount, route }: CctpOrdered): OurBurn => ({
  sourceDomain: route.sourceDomain,
  destinationDomain: route.destinationDomain,
  messenger: route.messenger,
  burnToken: (isCctpChain(from.chainId) && burnTokenOn(from.chainId)) || from.token.address,
  sender: from.account,
  receiver: to.account,
  amount: inMessageUnits(BigInt(amount), from.token),
  feeMax: inMessageUnits(BigInt(route.feeMax), from.token),
  finality: route.finality,
});

export interface AttestationSeen {
  /** Hash of the burn's transaction. */
  readonly burnHash: string;
  /** `0x` and lower-case hex digits. */
  readonly message: string;
  readonly attestation: string;
  readonly now: Instant;
}

/** Records the first attestation, or one that replaces an expired one. A message that does not name our burn is refused. */
export function recordAttestation(state: RebalanceState, seen: AttestationSeen): Decision<RebalanceEvent> {
  if (!state) return noRebalance;
  const { burnHash, message, attestation, now } = seen;
  const { burn, attested, expired, minted, ordered } = state;
  if (!isCctp(ordered)) return refuse('illegalStep', 'USDT0 has no attestations');
  if (minted || (attested && !expired)) return [];
  if (burn.settled?.hash !== burnHash) return refuse('illegalStep', `${burnHash} is not our settled burn`);
  const objection = objectionToMessage(message, burnOf(ordered));
  if (objection) return refuse('illegalStep', `the attested message is not that of our burn: ${objection}`);
  const parsed = parseBurnMessage(message);
  if (!parsed) return refuse('illegalStep', 'the attested message cannot be read');
  if (attested && parseBurnMessage(attested.message)?.nonce !== parsed.nonce)
    return refuse('illegalStep', `the nonce is 0x${parsed.nonce}, the expired message had another one`);
  if (attested?.message === message) return [];
  const { expirationBlock } = parsed;
  const feeExecuted = fromMessageUnits(parsed.feeExecuted, ordered.from.token);
  const amounts = { feeExecuted: unitsText(feeExecuted), expirationBlock: unitsText(expirationBlock) };
  return [{ type: 'BurnAttested', data: { burnHash, message, attestation, ...amounts, attestedAt: now } }];
}

/** @param block newest final block of the destination chain. Returns `[]` if the message is valid there, or known to have expired. */
export function expireAttestation(state: RebalanceState, block: bigint, now: Instant): Decision<RebalanceEvent> {
  if (!state) return noRebalance;
  const { attested, expired, minted } = state;
  if (!attested || expired || minted) return [];
  const { expirationBlock } = attested;
  if (expirationBlock === 0n || block < expirationBlock) return [];
  const data = { expirationBlock: unitsText(expirationBlock), seenBlock: block.toString(), seenAt: now };
  return [{ type: 'AttestationExpired', data }];
}

/** Transaction in a final block that minted our message and that the treasury did not send. */
export interface MintSeen {
  readonly hash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly received: bigint;
  readonly now: Instant;
}

export function recordMintByOther(state: RebalanceState, seen: MintSeen): Decision<RebalanceEvent> {
  if (!state) return noRebalance;
  const { minted, ordered, mint } = state;
  const { hash, blockNumber, blockHash, received, now } = seen;
  if (minted?.hash === hash && minted.blockHash === blockHash) return [];
  if (minted) return refuse('illegalStep', `${minted.hash} minted it already: one message cannot mint twice`);
  if (!mint) return refuse('illegalStep', 'the burn is not attested: nothing can mint it');
  if (mint.attempts.some(({ signed }) => signed.hash === hash))
    return refuse('illegalStep', `${hash} is our own mint: its fate is recorded as that of a transfer`);
  const [most = 0n, feeMax = 0n] = [ordered.amount, ordered.route.feeMax].map((units) =>
    inDestinationUnits(ordered, BigInt(units)),
  );
  if (received > most || received < most - feeMax)
    return refuse('illegalStep', `${received} arrived of ${most} burned, with a fee limit of ${feeMax}`);
  const data = { hash, blockNumber: blockNumber.toString(), blockHash, received: unitsText(received), seenAt: now };
  return [{ type: 'MintedByOther', data }];
}

/** The final transaction that delivered the message of a send of USDT0. */
export interface ArrivalSeen extends MintSeen {
  /** Hash of the send's transaction. */
  readonly burnHash: string;
  /** Id of the message, which the logs of both chains have. */
  readonly guid: string;
}

/** Records that the message of our settled send was delivered. The whole amount arrives, because the protocol takes no tokens. */
export function recordMessageArrival(state: RebalanceState, seen: ArrivalSeen): Decision<RebalanceEvent> {
  if (!state) return noRebalance;
  const { minted, ordered, burn } = state;
  const { hash, blockNumber, blockHash, received, guid, now } = seen;
  if (isCctp(ordered)) return refuse('illegalStep', 'a mint by CCTP is recorded from its attested message');
  if (minted?.hash === hash && minted.blockHash === blockHash) return [];
  if (minted) return refuse('illegalStep', `${minted.hash} brought it already: one message cannot arrive twice`);
  if (burn.settled?.hash !== seen.burnHash) return refuse('illegalStep', `${seen.burnHash} is not our settled send`);
  const whole = inDestinationUnits(ordered, BigInt(ordered.amount));
  if (received !== whole)
    return refuse('illegalStep', `${received} arrived of ${whole} sent: an operator must check it`);
  const place = { hash, blockNumber: blockNumber.toString(), blockHash };
  return [{ type: 'MintedByOther', data: { ...place, received: unitsText(received), guid, seenAt: now } }];
}

export function orphanMintByOther(
  state: RebalanceState,
  { hash, blockHash, now }: { readonly hash: string; readonly blockHash: string; readonly now: Instant },
): Decision<RebalanceEvent> {
  if (!state) return noRebalance;
  const { minted } = state;
  if (!minted?.byOther || minted.hash !== hash || minted.blockHash !== blockHash) return [];
  return [{ type: 'MintByOtherOrphaned', data: { hash, blockHash, seenAt: now } }];
}
