/** Arguments and values of the contracts that the sandbox runs as its own code. A value of another type ends the call, as it does on the network. */
import { StrKey, xdr } from '@stellar/stellar-sdk';
import { HostError } from '../host/errors.ts';
import type { Invocation } from '../host/invocation.ts';
import { addressOf, bigintOf, bytesOf, i128Of, sha256 } from '../xdr.ts';

type Run = (invocation: Invocation, args: xdr.ScVal[]) => xdr.ScVal;
/** The functions of a contract by name. */
export type Functions = Readonly<Record<string, { readonly parameters: number; readonly run: Run }>>;

const unexpected = (what: string): HostError => new HostError('Value', 'UnexpectedType', `${what} is expected`);

export function bytesArg(value: xdr.ScVal | undefined, length?: number): Buffer {
  if (value?.switch().name !== 'scvBytes' || (length !== undefined && value.bytes().length !== length))
    throw unexpected(`${length ?? 'some'} bytes`);
  return value.bytes();
}

export function addressArg(value: xdr.ScVal | undefined): string {
  if (value?.switch().name !== 'scvAddress') throw unexpected('an address');
  return addressOf(value);
}

export function amountArg(value: xdr.ScVal | undefined): bigint {
  if (value?.switch().name !== 'scvI128') throw unexpected('an i128');
  return i128Of(value.i128());
}

export function u32Arg(value: xdr.ScVal | undefined): number {
  if (value?.switch().name !== 'scvU32') throw unexpected('a u32');
  return value.u32();
}

export function u64Arg(value: xdr.ScVal | undefined): bigint {
  if (value?.switch().name !== 'scvU64') throw unexpected('a u64');
  return bigintOf(value.u64());
}

export const bytesVal = (value: Uint8Array): xdr.ScVal => xdr.ScVal.scvBytes(Buffer.from(value));

/** The 32 bytes of an account or a contract. */
export const payloadOf = (text: string): Buffer =>
  StrKey.isValidContract(text) ? StrKey.decodeContract(text) : StrKey.decodeEd25519PublicKey(text);

/** A number as big-endian bytes. */
export const numberBytes = (value: bigint | number, length: number): Buffer =>
  Buffer.from(value.toString(16).padStart(2 * length, '0'), 'hex');

/** Marks planted instances: no WebAssembly has this hash. */
export const markerOf = (name: string): Buffer => sha256(`the sandbox runs the contracts of ${name}`);

export const isMarked = (instance: xdr.ScContractInstance, marker: Buffer): boolean => {
  const executable = instance.executable();
  return executable.switch().name === 'contractExecutableWasm' && bytesOf(executable.wasmHash()).equals(marker);
};

/** Runs the called function. @throws HostError if the contract has none of this name and number of parameters */
export function runFunction(contracts: ReadonlyMap<string, Functions>, invocation: Invocation): xdr.ScVal {
  const { contract, name, args } = invocation.frame();
  const called = contracts.get(contract)?.[name];
  if (!called) throw new HostError('WasmVm', 'MissingValue', `the contract has no function ${name}`);
  if (args.length !== called.parameters)
    throw new HostError('WasmVm', 'UnexpectedSize', `${name} takes ${called.parameters} arguments, not ${args.length}`);
  return called.run(invocation, args);
}
