/** Reasons why a contract call failed, in the host's own terms. */
import { xdr } from '@stellar/stellar-sdk';

export type HostErrorType =
  | 'Contract'
  | 'WasmVm'
  | 'Context'
  | 'Storage'
  | 'Value'
  | 'Object'
  | 'Auth'
  | 'Budget'
  | 'Crypto';
export type HostErrorCode =
  | 'InvalidAction'
  | 'InvalidInput'
  | 'MissingValue'
  | 'ExistingValue'
  | 'ExceededLimit'
  | 'UnexpectedType'
  | 'UnexpectedSize'
  | 'IndexBounds';

/** `code` is a number for errors that contracts define themselves. */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly type: HostErrorType;
  readonly code: HostErrorCode | number;
  constructor(type: HostErrorType, code: HostErrorCode | number, message: string) {
    super(message);
    this.type = type;
    this.code = code;
  }
}

/** In the form of RPC nodes; clients read `Error(Contract, #1)` out of it. */
export const hostErrorText = ({ type, code, message }: HostError): string =>
  `HostError: Error(${type}, ${typeof code === 'number' ? `#${code}` : code})\n\nEvent log (newest first):\n   0: ${message}`;

/** The error as a contract's value. */
export function scError(type: HostErrorType, code: HostErrorCode | number): xdr.ScError {
  if (typeof code === 'number') return xdr.ScError.sceContract(code);
  const named = xdr.ScErrorCode[`scec${code}`]();
  return type === 'Contract' ? xdr.ScError.sceContext(named) : xdr.ScError[`sce${type}`](named);
}
