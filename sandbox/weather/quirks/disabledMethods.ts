/**
 * Methods that a node does not serve: `eth_getLogs` on bsc-dataseed, reported as "limit exceeded" with −32005
 * (github.com/bnb-chain/bsc/issues/1215, github.com/bnb-chain/docs-site/issues/621), others as −32601, method not found (JSON-RPC 2.0).
 */
import { RpcError } from '../../rpcError.ts';
import { everywhere, onCalls, type Quirk } from '../quirk.ts';

export interface DisabledMethodsSettings {
  readonly names: readonly string[];
  /** Default: −32601. */
  readonly code?: number;
  readonly message?: string;
}

export const disabledMethods: Quirk<DisabledMethodsSettings> = {
  families: everywhere,
  says: 'disabled methods',
  begin: ({ names, code = -32601, message }) =>
    onCalls(async ({ method, params }, next) => {
      if (!names.includes(method)) return next(method, params);
      throw new RpcError(code, message ?? `the method ${method} does not exist/is not available`);
    }),
};
