/**
 * Does what a rebalance needs besides its two transfers: gets the attestation, notices that it expired, and finds a mint by somebody else.
 *
 * Each call does at most one of these, and each ends with one append or with none. Crash before the append: the next call asks the attestation
 * service or the chain again, which changes nothing there. A request for another attestation may be made twice; the service then signs the
 * same message once more.
 */
import { currentState, type Handle } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { parseBurnMessage } from '../../../domain/rebalance/burnMessage.ts';
import {
  expireAttestation,
  nextRebalanceStep,
  type Rebalance,
  rebalance,
  recordAttestation,
  recordMintByOther,
} from '../../../domain/rebalance/rebalance.ts';
import type { Attestations } from '../../chains/attestations.ts';
import type { MintReader } from '../../chains/mints.ts';

export interface AttendDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly attestations: Attestations;
  /** Readers of the chains that are configured here. */
  readonly mintsOn: (chainId: ChainId) => MintReader | undefined;
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
  if (step.do === 'attest') return attest(deps, { id, state, burnHash: step.burnHash }, signal);
  const found = await lookAtMint(deps, id, state, signal);
  if (found !== nothing || step.do !== 'reattest') return found;
  const again = await attest(deps, { id, state, burnHash: step.burnHash }, signal);
  if (again.kind === 'recorded') return again;
  await deps.attestations.reattest(step.nonce, signal);
  return waits('another attestation was requested');
}

interface Attesting {
  readonly id: string;
  readonly state: Rebalance;
  readonly burnHash: string;
}

/** The first message that names our burn counts. Others are refused, and the reason is reported. */
async function attest(
  { handle, clock, attestations }: AttendDeps,
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
