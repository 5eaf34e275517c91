/**
 * Calls to a node whose answers are read on the spot. The readers of JSON here know neither node nor method: they complain by throwing,
 * and `ask` says whose answer it was.
 */
import { type ChainNode, RpcFailed } from './jsonRpc.ts';
import type { RpcParams } from './transport.ts';

/**
 * @param read takes the answer apart; what it throws makes the answer malformed, unless it is an RpcFailed of its own
 * @throws RpcFailed
 */
export async function ask<T>(
  node: ChainNode,
  method: string,
  params: RpcParams,
  read: (answer: unknown) => T,
): Promise<T> {
  const answer = await node.request(method, params);
  try {
    return read(answer);
  } catch (error) {
    if (error instanceof RpcFailed) throw error;
    const detail = error instanceof Error ? error.message : 'unreadable answer';
    throw new RpcFailed(node.name, method, 'malformed', detail);
  }
}

export type Json = Readonly<Record<string, unknown>>;

export function object(value: unknown): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw new Error('expected an object');
}

export function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error('expected a list');
}

export function text(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new Error('expected a text');
}

/** A whole number that is not negative, as JSON has it or as decimal digits: up to 64 bits. */
export function whole(value: unknown): bigint {
  const digits = typeof value === 'number' ? String(value) : value;
  if (typeof digits === 'string' && /^\d{1,20}$/.test(digits)) return BigInt(digits);
  throw new Error(`expected a whole number, not ${String(digits).slice(0, 40)}`);
}

/** Undefined for what is null or missing. */
export const optional = <T>(value: unknown, read: (value: unknown) => T): T | undefined =>
  value === null || value === undefined ? undefined : read(value);
