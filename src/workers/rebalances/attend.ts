/**
 * Does what a rebalance needs besides its transfers: gets the attestation, notices that it expired, and finds a mint by somebody else, or the
 * delivery of a message of USDT0.
 *
 * Each call does at most one of these, and each ends with one append or with none. Crash before the append: the next call asks the attestation
 * service or the chain again, which changes nothing there. A request for another attestation may be made twice; the service then signs the
 * same message once more.
 */
import { currentState, type Handle } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import type { PayoutRail } from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { parseBurnMessage } from '../../../domain/rebalance/burnMessage.ts';
import { isCctp } from '../../../domain/rebalance/events.ts';
import {
  expireAttestation,
  nextRebalanceStep,
  orphanMintByOther,
  type Rebalance,
  rebalance,
  recordAttestation,
  recordMessageArrival,
  recordMintByOther,
} from '../../../domain/rebalance/rebalance.ts';
import { isUsdt0Chain } from '../../../domain/rebalance/usdt0.ts';
import type { Instant } from '../../../domain/time.ts';
import type { Attestations } from '../../chains/attestations.ts';
import type { MintReader } from '../../chains/mints.ts';
import type { OftMessages } from '../../chains/oftMessages.ts';
import type { Worker } from '../engine.ts';
import { recheckLately } from '../payouts/audit.ts';

export interface AttendDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  /** Null without CCTP_ATTESTATIONS_URL. */
  readonly attestations: Attestations | null;
  /** Readers of the chains that are configured here. */
  readonly mintsOn: (chainId: ChainId) => MintReader | undefined;
  /** Readers of USDT0. Default: none. */
  readonly oftOn?: (chainId: ChainId) => OftMessages | undefined;
}

/** `waits`: nothing was recorded, and why. `nothing`: the rebalance needs none of this now. */
export type Attended =
  | { readonly kind: 'recorded' }
  | { readonly kind: 'waits'; readonly why: string }
  | { readonly kind: 'nothing' };

const recorded: Attended = { kind: 'recorded' };
const nothing: Attended = { kind: 'nothing' };
const waits = (why: string): Attended => ({ kind: 'waits', why });
const facts = { cause: 'worker:rebalances', appId: null } as const;

/** @throws AttestationsUnavailable, ChainUnavailable, Unavailable */
export async function attend(deps: AttendDeps, id: string, signal: AbortSignal): Promise<Attended> {
  const state = await currentState(deps.handle, rebalance, id);
  if (!state) return nothing;
  const step = nextRebalanceStep(state);
  if (step.do === 'receive') return receive(deps, { id, state, burnHash: step.burnHash }, signal);
  const { attestations } = deps;
  if (!attestations) return waits('CCTP_ATTESTATIONS_URL is not set');
  if (step.do === 'attest') return attest(deps, attestations, { id, state, burnHash: step.burnHash }, signal);
  const found = await lookAtMint(deps, id, state, signal);
  if (found !== nothing || step.do !== 'reattest') return found;
  const again = await attest(deps, attestations, { id, state, burnHash: step.burnHash }, signal);
  if (again.kind === 'recorded') return again;
  await attestations.reattest(step.nonce, signal);
  return waits('another attestation was requested');
}

interface Attesting {
  readonly id: string;
  readonly state: Rebalance;
  readonly burnHash: string;
}

/** The first message that names our burn counts. Others are refused, and the reason is reported. */
async function attest(
  { handle, clock }: AttendDeps,
  attestations: Attestations,
  { id, state, burnHash }: Attesting,
  signal: AbortSignal,
): Promise<Attended> {
  const { attested, delay } = await attestations.messagesOf(state.ordered.route.sourceDomain, burnHash, signal);
  let why = delay ?? 'the burn is not attested yet';
  for (const { message, attestation } of attested) {
    const seen = { burnHash, message, attestation, now: clock.now() };
    const outcome = await handle(rebalance, id, (current) => recordAttestation(current, seen), facts);
    if (!isRefusal(outcome) && outcome.appended > 0) return recorded;
    if (isRefusal(outcome)) why = outcome.message;
  }
  return waits(why);
}

/**
 * Finds the message of the send on the source chain and its delivery on the destination chain. Both must be as all nodes return them. A
 * message that is verified and not delivered has a name of its own: any account can deliver it.
 */
async function receive(
  { handle, clock, oftOn }: AttendDeps,
  { id, state: { ordered }, burnHash }: Attesting,
  signal: AbortSignal,
): Promise<Attended> {
  const { from, to } = ordered;
  const [source, destination] = [oftOn?.(from.chainId), oftOn?.(to.chainId)];
  if (isCctp(ordered) || !source || !destination || !isUsdt0Chain(from.chainId) || !isUsdt0Chain(to.chainId))
    return waits('a chain of the move is not configured here');
  const sending = { to: to.chainId, recipient: to.account, amount: BigInt(ordered.amount) };
  const sent = await source.sentBy({ ...sending, hash: burnHash, account: from.account }, signal);
  if (!sent) return waits('the nodes of the source chain do not return one message of the send');
  const asked = { ...sent, from: from.chainId, account: to.account, token: to.token.address };
  const found = await destination.arrivalOf(asked, signal);
  if (!found) {
    const state = await destination.stateOf(asked, signal);
    const told = state === 'delivered' ? 'delivered, and no final block has its arrival at our account' : state;
    return waits(`message ${sent.guid} is ${told}`);
  }
  const seen = { ...found, burnHash, guid: sent.guid, now: clock.now() };
  const outcome = await handle(rebalance, id, (current) => recordMessageArrival(current, seen), facts);
  return isRefusal(outcome) ? waits(outcome.message) : recorded;
}

async function lookAtMint(
  { handle, clock, mintsOn }: AttendDeps,
  id: string,
  { ordered, attested, minted, mint, expired }: Rebalance,
  signal: AbortSignal,
): Promise<Attended> {
  const { chainId, account, token } = ordered.to;
  const mints = mintsOn(chainId);
  const nonce = attested && parseBurnMessage(attested.message)?.nonce;
  if (!mints || !nonce || minted) return nothing;
  const found = await mints.mintOf({ nonce, account, token: token.address }, signal);
  const isOwn = mint?.attempts.some(({ signed }) => signed.hash === found?.hash) ?? false;
  if (found && !isOwn) {
    const seen = { ...found, now: clock.now() };
    const outcome = await handle(rebalance, id, (current) => recordMintByOther(current, seen), facts);
    return isRefusal(outcome) ? waits(outcome.message) : recorded;
  }
  if (found || expired || attested.expirationBlock === 0n) return nothing;
  const block = await mints.finalBlock(signal);
  const outcome = await handle(rebalance, id, (current) => expireAttestation(current, block, clock.now()), facts);
  return !isRefusal(outcome) && outcome.appended > 0 ? recorded : nothing;
}

export interface ArrivalsDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly railOn: (chainId: ChainId) => Pick<PayoutRail, 'stillFinal'> | undefined;
  /** Ids of rebalances whose arrival was recorded after `since`, oldest first. @throws Unavailable */
  readonly arrivedSince: (since: Instant, max: number) => Promise<readonly string[]>;
  readonly alarm: (orphaned: { readonly id: string; readonly chainId: ChainId; readonly hash: string }) => void;
}

/**
 * Checks recently recorded arrivals again that the treasury did not send: mints of CCTP by others, and deliveries of USDT0. A block may leave
 * its chain in spite of its depth. Mints of our own are checked with all transfers (`payouts/audit.ts`).
 *
 * Crash before the append: the next check reads the chain again. After it, the rebalance is in transit again: its worker looks for the
 * arrival, and of CCTP signs a mint.
 */
export function arrivalsWorker({ handle, clock, railOn, arrivedSince, alarm }: ArrivalsDeps): Worker<string> {
  return {
    name: 'rebalanceArrivals',
    concurrency: 2,
    due: recheckLately(arrivedSince, (id) => id),
    keyOf: (id) => id,
    async act(id, signal) {
      const state = await currentState(handle, rebalance, id);
      if (!state?.minted?.byOther) return;
      const { chainId } = state.ordered.to;
      const { hash, blockHash, blockNumber } = state.minted;
      const rail = railOn(chainId);
      if (!rail || (await rail.stillFinal({ hash, blockHash, blockNumber: BigInt(blockNumber) }, signal))) return;
      const seen = { hash, blockHash, now: clock.now() };
      const outcome = await handle(rebalance, id, (current) => orphanMintByOther(current, seen), facts);
      if (!isRefusal(outcome) && outcome.appended > 0) alarm({ id, chainId, hash });
    },
  };
}
