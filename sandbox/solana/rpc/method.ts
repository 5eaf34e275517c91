/** What RPC methods share: the node that they ask, how they see the chain, their parameters and their errors. */
import { type Address, isAddress } from '@solana/kit';
import type { Chain } from '../chain/chain.ts';
import { type Commitment, commitments, slotAt } from '../chain/commitments.ts';
import type { Faults } from '../faults.ts';

export interface Node {
  readonly chain: Chain;
  readonly faults: Faults;
}

/** The node as one request meets it: maybe some slots behind. */
export interface View extends Node {
  /** The newest slot that it has seen. */
  readonly head: number;
}

export type Params = readonly unknown[];
export type Config = Readonly<Record<string, unknown>>;
/** Bigints in the answer become numbers of JSON, however large. */
export type Method = (view: View, params: Params) => unknown;

/** Codes of JSON-RPC 2.0, and the network's own. */
export const rpcCodes = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  preflightFailure: -32002,
  signatureVerification: -32003,
  blockNotAvailable: -32004,
  nodeUnhealthy: -32005,
  slotSkipped: -32007,
  unsupportedVersion: -32015,
  minContextSlot: -32016,
};

export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const invalid = (message: string): RpcError => new RpcError(rpcCodes.invalidParams, message);

export function textParam(params: Params, place: number, name: string): string {
  const value = params[place];
  if (typeof value !== 'string') throw invalid(`invalid type: ${name} must be a string`);
  return value;
}

export function addressParam(params: Params, place: number): Address {
  return addressOf(textParam(params, place, 'public key'));
}

export function addressOf(text: unknown): Address {
  if (typeof text !== 'string') throw invalid('invalid type: a public key must be a string');
  if (!/^[1-9A-HJ-NP-Za-km-z]*$/.test(text)) throw invalid('Invalid param: Invalid');
  if (!isAddress(text)) throw invalid('Invalid param: WrongSize');
  return text;
}

export function integerParam(params: Params, place: number, name: string): number {
  const value = params[place];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw invalid(`invalid type: ${name} must be a whole number`);
  return value;
}

export function listParam(params: Params, place: number, name: string, max: number): readonly unknown[] {
  const value = params[place];
  if (!Array.isArray(value)) throw invalid(`invalid type: ${name} must be a list`);
  if (value.length > max) throw invalid(`Too many inputs provided; max ${max}`);
  return value;
}

/** An object with options, or nothing. */
export function configParam(params: Params, place: number): Config {
  const value = params[place] ?? {};
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid('invalid type: the options must be an object');
  return value as Config;
}

export function commitmentOf(config: Config, name = 'commitment'): Commitment {
  const wanted = config[name] ?? 'finalized';
  const known = commitments.find((each) => each === wanted);
  if (!known) throw invalid(`unknown variant \`${String(wanted)}\`, expected one of ${commitments.join(', ')}`);
  return known;
}

/**
 * The newest slot of the commitment that a request asks for.
 * @throws RpcError when it asks for a later one than the node has
 */
export function contextSlot({ chain, head }: View, config: Config, commitment = commitmentOf(config)): number {
  const slot = slotAt(commitment, head, chain.finality);
  const wanted = config['minContextSlot'];
  if (typeof wanted === 'number' && wanted > slot) {
    throw new RpcError(rpcCodes.minContextSlot, 'Minimum context slot has not been reached', { contextSlot: slot });
  }
  return slot;
}

/** Most answers tell the slot that they are true for. */
export const inContext = (slot: number, value: unknown) => ({ context: { apiVersion: version, slot }, value });

/** Of the node's software, as far as callers can tell. */
export const version = '3.0.0';
