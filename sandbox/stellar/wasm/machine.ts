/** Runs a contract's wasm on Node's WebAssembly. Any contract sees only the host functions of Soroban that it imports. */
import { xdr } from '@stellar/stellar-sdk';
import { HostError } from '../host/errors.ts';
import type { Runner } from '../host/invocation.ts';
import { codeKey } from '../ledger/entries.ts';
import { protocolVersion } from '../ledger/network.ts';
import { bytesOf, sha256 } from '../xdr.ts';
import { mapFunctions, vecFunctions } from './collectionFunctions.ts';
import { createGuest, type Guest, type HostFunctions } from './guest.ts';
import { addressFunctions, callFunctions, contextFunctions, storageFunctions } from './ledgerFunctions.ts';
import { bytesFunctions, cryptoFunctions, numberFunctions } from './plainFunctions.ts';
import { unsigned } from './values.ts';

type Imports = Record<string, Record<string, (...args: bigint[]) => bigint>>;

interface Compiled {
  readonly module: WebAssembly.Module;
  readonly functions: ReadonlySet<string>;
}

const compiledMax = 200;
const compiled = new Map<string, Compiled>();

/** @throws HostError if it is not a Soroban contract */
export function compileWasm(wasm: Buffer): Compiled {
  const name = sha256(wasm).toString('hex');
  const known = compiled.get(name);
  if (known) return known;
  const module = parse(wasm);
  checkEnvironment(module);
  const functions = WebAssembly.Module.exports(module).filter(({ kind }) => kind === 'function');
  const made = { module, functions: new Set(functions.map(({ name }) => name)) };
  if (compiled.size >= compiledMax) compiled.clear();
  compiled.set(name, made);
  return made;
}

function parse(wasm: Buffer): WebAssembly.Module {
  try {
    return new WebAssembly.Module(new Uint8Array(wasm));
  } catch (error) {
    throw new HostError('WasmVm', 'InvalidAction', `not WebAssembly: ${(error as Error).message}`);
  }
}

function checkEnvironment(module: WebAssembly.Module): void {
  const [section] = WebAssembly.Module.customSections(module, 'contractenvmetav0');
  if (!section) throw new HostError('WasmVm', 'InvalidInput', 'contract missing environment interface version section');
  const protocol = xdr.ScEnvMetaEntry.fromXDR(Buffer.from(section)).interfaceVersion().protocol();
  if (protocol > protocolVersion) {
    throw new HostError(
      'WasmVm',
      'InvalidInput',
      `contract is for protocol ${protocol}, the network is at ${protocolVersion}`,
    );
  }
}

/** Runs the present call's function. */
export const runWasm: Runner = (invocation, instance) => {
  const code = invocation
    .view()
    .get(codeKey(bytesOf(instance.executable().wasmHash())))
    ?.contractCode()
    .code();
  if (!code) throw new HostError('Storage', 'MissingValue', 'the contract has no code');
  const { name, args } = invocation.frame();
  const { module, functions } = compileWasm(code);
  if (!functions.has(name)) throw new HostError('WasmVm', 'MissingValue', `the contract has no function ${name}`);

  const guest: Guest = createGuest(invocation, () => running.exports['memory'] as WebAssembly.Memory);
  const running = new WebAssembly.Instance(module, imports(module, guest));
  const entry = running.exports[name] as (...args: bigint[]) => unknown;
  if (entry.length !== args.length) {
    throw new HostError('WasmVm', 'UnexpectedSize', `${name} takes ${entry.length} arguments, not ${args.length}`);
  }
  return resultOf(
    guest,
    trapped(() => entry(...args.map((arg) => guest.toVal(arg)))),
  );
};

function resultOf(guest: Guest, result: unknown): xdr.ScVal {
  if (typeof result !== 'bigint') throw new HostError('WasmVm', 'UnexpectedType', 'the function returns no value');
  const value = guest.fromVal(unsigned(result));
  if (value.switch().name !== 'scvError') return value;
  const error = value.error();
  if (error.switch().name !== 'sceContract') throw new HostError('Context', 'InvalidAction', 'the contract failed');
  throw new HostError('Contract', error.contractCode(), `the contract returned error #${error.contractCode()}`);
}

function trapped<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) {
      throw new HostError('WasmVm', 'InvalidAction', `the contract trapped: ${error.message}`);
    }
    throw error;
  }
}

/** Imports of the module. A function that is not modelled fails with its name when it is called. */
function imports(module: WebAssembly.Module, guest: Guest): Imports {
  const host: Readonly<Record<string, HostFunctions>> = {
    a: addressFunctions(guest),
    b: bytesFunctions(guest),
    c: cryptoFunctions(guest),
    d: callFunctions(guest),
    i: numberFunctions(guest),
    l: storageFunctions(guest),
    m: mapFunctions(guest),
    v: vecFunctions(guest),
    x: contextFunctions(guest),
  };
  const wanted: Imports = {};
  for (const { module: group, name } of WebAssembly.Module.imports(module)) {
    const provided = host[group]?.[name] ?? notModelled(`${group}.${name}`);
    wanted[group] = { ...wanted[group], [name]: (...args) => provided(...args.map(unsigned)) };
  }
  return wanted;
}

const notModelled = (name: string) => (): never => {
  throw new HostError('WasmVm', 'InvalidAction', `host function ${name} is not modelled here`);
};
