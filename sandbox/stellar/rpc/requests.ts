/** JSON-RPC requests in stellar-rpc's reading: refused ones, and ones without an answer. */
import { RpcError } from '../../rpcError.ts';
import { noParams, type Params, rpcCodes } from './method.ts';

/** Text or a number as it was sent; undefined for a notification, which gets no answer. */
type RequestId = string | number | undefined;

export interface RpcRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: Params;
}

/** Content of a body in order: requests, and errors for invalid elements. */
export type Parsed = RpcRequest | { readonly id: RequestId; readonly error: RpcError };

const known = new Set(['jsonrpc', 'id', 'method', 'params', 'error', 'result']);

/** Undefined for a body that is not JSON. */
export function parseRequests(body: string): readonly Parsed[] | undefined {
  try {
    const json: unknown = JSON.parse(body);
    return (Array.isArray(json) ? json : [json]).map(parseRequest);
  } catch {
    return undefined;
  }
}

function parseRequest(json: unknown): Parsed {
  if (json !== null && (typeof json !== 'object' || Array.isArray(json)))
    return { id: undefined, error: new RpcError(rpcCodes.parse, 'request is not a JSON object') };
  const fields: Readonly<Record<string, unknown>> = { ...json };
  const { id, method, params } = fields;
  const error = fault(fields);
  const usedId = typeof id === 'string' || typeof id === 'number' ? id : undefined;
  if (error) return { id: usedId, error };
  return { id: usedId, method: String(method ?? ''), params: Object(params ?? noParams) };
}

function fault({ jsonrpc, id, method, params, ...more }: Readonly<Record<string, unknown>>): RpcError | undefined {
  const invalid = (message: string, data?: unknown) => new RpcError(rpcCodes.invalidRequest, message, data);
  const unreadable = (message: string) => new RpcError(rpcCodes.parse, message);
  if (isSet(jsonrpc) && typeof jsonrpc !== 'string') return unreadable('invalid version key');
  if (isSet(id) && typeof id !== 'string' && typeof id !== 'number') return invalid('invalid request ID');
  if (isSet(method) && typeof method !== 'string') return unreadable('invalid method name');
  if (isSet(params) && typeof params !== 'object') return invalid('parameters must be array or object');
  if (isSet(more['result']) || isSet(more['error'])) return invalid('mixed request and reply fields');
  if (jsonrpc !== '2.0') return invalid('invalid version marker');
  const extra = Object.keys(more).filter((name) => !known.has(name));
  if (extra.length > 0) return invalid('extra fields in request', extra);
  // Notifications get no answer, so a missing method of theirs is no error.
  return isSet(id) && !method ? invalid('empty method name') : undefined;
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;
