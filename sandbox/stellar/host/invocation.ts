/** One host function call of a transaction: contracts calling contracts, their storage, events and authorizations. */
import { Address, xdr } from '@stellar/stellar-sdk';
import { callEvent, contractEvent, errorEvent, returnEvent } from '../events.ts';
import { instanceKey } from '../ledger/entries.ts';
import type { LedgerHead, Network } from '../ledger/network.ts';
import type { View } from '../ledger/view.ts';
import type { Authorizer } from './authorization.ts';
import { HostError, scError } from './errors.ts';

export interface Frame {
  readonly contract: string;
  readonly name: string;
  readonly args: xdr.ScVal[];
}

/** Runs contracts of one kind: wasm or the built-in asset contract. */
export type Runner = (invocation: Invocation, instance: xdr.ScContractInstance) => xdr.ScVal;

export interface InvocationDeps {
  readonly network: Network;
  /** The ledger that it runs in. */
  readonly ledger: LedgerHead;
  readonly view: View;
  readonly authorizer: Authorizer;
  readonly runWasm: Runner;
  readonly runAsset: Runner;
  /** Receives calls, returns, events and errors in order, including those of failed calls. */
  readonly diagnostics: xdr.ContractEvent[];
}

export interface Invocation {
  readonly network: Network;
  readonly ledger: LedgerHead;
  /** The present call. */
  frame(): Frame;
  /** The present call's layer of the ledger. */
  view(): View;
  /** Events so far of calls that did not fail. */
  events(): readonly xdr.ContractEvent[];
  /** @throws HostError when the contract fails; its writes and events are then undone */
  call(contract: string, name: string, args: xdr.ScVal[]): xdr.ScVal;
  /** Runs functions that only the host may call, such as constructors. */
  callReserved(contract: string, name: string, args: xdr.ScVal[]): xdr.ScVal;
  /** Requires that `address` authorized the present call, with other arguments if given. */
  requireAuth(address: string, args?: xdr.ScVal[]): void;
  /** Requires an authorization of an action other than a contract call. */
  requireAuthOf(address: string, what: xdr.SorobanAuthorizedFunction): void;
  publish(topics: xdr.ScVal[], data: xdr.ScVal): void;
  publishEvent(event: xdr.ContractEvent): void;
}

const depthMax = 100;

export function createInvocation(deps: InvocationDeps): Invocation {
  const { network, ledger, authorizer } = deps;
  const frames: Frame[] = [];
  const events: xdr.ContractEvent[] = [];
  let view = deps.view;

  const frame = () => {
    const current = frames.at(-1);
    if (!current) throw new HostError('Context', 'MissingValue', 'no contract running');
    return current;
  };

  const run = (): xdr.ScVal => {
    const { contract } = frame();
    const entry = view.get(instanceKey(contract));
    if (!entry) throw new HostError('Storage', 'MissingValue', `no contract ${contract} on this network`);
    const instance = entry.contractData().val().instance();
    const isAsset = instance.executable().switch().name === 'contractExecutableStellarAsset';
    return (isAsset ? deps.runAsset : deps.runWasm)(self, instance);
  };

  /** A failure passes through all frames: the innermost one notes it. */
  let noted: unknown;
  const noteError = (error: unknown) => {
    if (!(error instanceof HostError) || error === noted) return;
    noted = error;
    const { type, code, message } = error;
    deps.diagnostics.push(errorEvent(frame().contract, scError(type, code), [xdr.ScVal.scvString(message)]));
  };
  const publishEvent = (event: xdr.ContractEvent) => {
    events.push(event);
    deps.diagnostics.push(event);
  };

  const self: Invocation = {
    network,
    ledger,
    frame,
    view: () => view,
    events: () => events,
    call(contract, name, args) {
      if (name.startsWith('__')) {
        throw new HostError('Context', 'InvalidAction', `${name} is reserved: only the host calls it`);
      }
      return self.callReserved(contract, name, args);
    },
    callReserved(contract, name, args) {
      if (frames.length >= depthMax) throw new HostError('Budget', 'ExceededLimit', 'calls are nested too deeply');
      if (frames.some((outer) => outer.contract === contract)) {
        throw new HostError('Context', 'InvalidAction', `Contract re-entry is not allowed: ${contract}`);
      }
      const below = view;
      const published = events.length;
      view = below.child();
      deps.diagnostics.push(callEvent(frames.at(-1)?.contract ?? null, contract, name, args));
      frames.push({ contract, name, args });
      authorizer.enter();
      try {
        const result = run();
        view.commit();
        deps.diagnostics.push(returnEvent(contract, name, result));
        return result;
      } catch (error) {
        events.length = published;
        noteError(error);
        throw error;
      } finally {
        authorizer.leave();
        frames.pop();
        view = below;
      }
    },
    requireAuth(address, args = frame().args) {
      const { contract, name } = frame();
      self.requireAuthOf(address, contractCall(contract, name, args));
    },
    requireAuthOf: (address, what) => authorizer.require(address, what, frames.at(-2)?.contract),
    publish: (topics, data) => publishEvent(contractEvent(frame().contract, topics, data)),
    publishEvent,
  };
  return self;
}

const contractCall = (contract: string, name: string, args: xdr.ScVal[]): xdr.SorobanAuthorizedFunction =>
  xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(
    new xdr.InvokeContractArgs({ contractAddress: new Address(contract).toScAddress(), functionName: name, args }),
  );
