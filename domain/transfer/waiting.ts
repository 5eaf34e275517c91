/** Why a transfer that is owed waits: nothing was signed for it, and it is tried again by itself. */
import type { RefusalCode } from '../decider.ts';

/**
 * `treasuryBehindChain`: the chain shows that it was made already, and the log does not know. `fundingUnproven`: nodes do not return the
 * money that it is paid from, or the log contradicts itself about it. `historyUnproven`: nodes do not show the
 * account's whole history, so that it may have been made already. `formUnknown`: nothing of the kind is done on this chain. `owed`: a withdrawal would take what payouts are owed.
 * `addressNotInBook`: an operator has taken its receiver out of the address book.
 */
export const blockReasons = [
  'float',
  'gas',
  'refusedByToken',
  'treasuryBehindChain',
  'fundingUnproven',
  'historyUnproven',
  'formUnknown',
  'owed',
  'addressNotInBook',
] as const;

export type BlockReason = (typeof blockReasons)[number];

/** `notOrdered`: the log, as the signer reads it, orders no such transfer. `signedBefore`: what the signer signed before could land besides. */
export const signingReasons = [
  'chain',
  'account',
  'fee',
  'mismatch',
  'perTransfer',
  'perHour',
  'appPerHour',
  'coinPerHour',
  'notOrdered',
  'signedBefore',
] as const;

export type SigningReason = (typeof signingReasons)[number];

/** About the account that numbers transfers, or about all attempts of one. */
export const accountReasons = [
  'treasuryBusy',
  'treasuryPaused',
  'treasuryBehindChain',
  'attemptsSpent',
] as const satisfies readonly RefusalCode[];

export const waitReasons = [...new Set([...blockReasons, ...signingReasons, ...accountReasons])];
export type WaitReason = (typeof waitReasons)[number];
