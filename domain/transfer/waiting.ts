/** Reasons why an owed transfer waits: nothing was signed for it, and the service retries it automatically. */
import type { RefusalCode } from '../decider.ts';

/**
 * `treasuryBehindChain`: the chain has the transfer already, and the log does not. `fundingUnproven`: nodes do not return the money that
 * funds it, or the log contradicts itself about it. `historyUnproven`: nodes do not return the account's whole history, so it may have been
 * made already. `formUnknown`: this chain does not support the form. `owed`: a withdrawal would use money that payouts are owed.
 * `addressNotInBook`: an operator removed its receiver from the address book.
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

/** `notOrdered`: the log, as the signer reads it, orders no such transfer. `signedBefore`: an earlier signature could land in addition. */
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

/** Reasons about the numbering account, or about all attempts of a transfer. */
export const accountReasons = [
  'treasuryBusy',
  'treasuryPaused',
  'treasuryBehindChain',
  'attemptsSpent',
] as const satisfies readonly RefusalCode[];

export const waitReasons = [...new Set([...blockReasons, ...signingReasons, ...accountReasons])];
export type WaitReason = (typeof waitReasons)[number];
