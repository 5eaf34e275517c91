/**
 * Authorizations: an address that a contract requires must have authorized a tree of calls that includes the current one. Simulation
 * records the needed trees; a transaction has them, signed.
 */
import type { xdr } from '@stellar/stellar-sdk';
import { base64 } from '../xdr.ts';
import { HostError } from './errors.ts';

/** Checks of an invocation at each step. */
export interface Authorizer {
  enter(): void;
  leave(): void;
  /** @throws HostError if `address` did not authorize the call of the contract `caller` */
  require(address: string, call: xdr.SorobanAuthorizedFunction, caller: string | undefined): void;
}

/** One address's tree, with the node that each frame reached; undefined for a frame without a requirement. */
interface Tracker {
  readonly address: string;
  readonly root: CallNode;
  readonly frames: (CallNode | undefined)[];
}

interface CallNode {
  readonly call: xdr.SorobanAuthorizedFunction;
  readonly below: CallNode[];
  used: boolean;
}

/** A tree that an address must authorize. */
export interface NeededAuthorization {
  readonly address: string;
  readonly invocation: CallTree;
}
export interface CallTree {
  readonly call: xdr.SorobanAuthorizedFunction;
  readonly below: readonly CallTree[];
}

/** An authorization in a transaction; `authenticate` is called once, when it is first needed. */
export interface GivenAuthorization {
  readonly address: string;
  readonly invocation: xdr.SorobanAuthorizedInvocation;
  /** @throws HostError if it is another address's, was used before or has expired */
  authenticate(): void;
}

/** Accepts only calls of the given authorizations, each once. */
export function enforcing(given: readonly GivenAuthorization[]): Authorizer {
  const trackers = given.map((authorization) => ({
    address: authorization.address,
    authenticate: authorization.authenticate,
    root: nodeOf(authorization.invocation),
    frames: [] as (CallNode | undefined)[],
  }));
  return {
    ...frameKeeping(() => trackers),
    require(address, call, caller) {
      if (caller === address) return;
      const own = trackers.filter((tracker) => tracker.address === address);
      if (own.some((tracker) => useNext(tracker, call))) return;
      for (const tracker of own) {
        if (tracker.root.used || !isSame(tracker.root.call, call)) continue;
        tracker.root.used = true;
        tracker.frames[tracker.frames.length - 1] = tracker.root;
        tracker.authenticate();
        return;
      }
      throw new HostError('Auth', 'InvalidAction', `Unauthorized function call for address ${address}`);
    },
  };
}

/** True if the call is the next one of a tree in use; then it is used up. */
function useNext(tracker: Tracker, call: xdr.SorobanAuthorizedFunction): boolean {
  const current = deepest(tracker);
  const next = current?.below.find((node) => !node.used && isSame(node.call, call));
  if (!next) return false;
  refuseTwice(tracker);
  next.used = true;
  tracker.frames[tracker.frames.length - 1] = next;
  return true;
}

export interface RecordingAuthorizer extends Authorizer {
  needed(): readonly NeededAuthorization[];
}

/**
 * Accepts everything and records it.
 * @param anywhere true if a tree may start below the first call; a signer must know what that means
 */
export function recording({ anywhere }: { readonly anywhere: boolean }): RecordingAuthorizer {
  const trackers: Tracker[] = [];
  let depth = 0;
  const { enter, leave } = frameKeeping(() => trackers);
  return {
    enter() {
      depth++;
      enter();
    },
    leave() {
      depth--;
      leave();
    },
    require(address, call, caller) {
      if (caller === address) return;
      const node: CallNode = { call, below: [], used: true };
      for (const tracker of trackers.filter((tracker) => tracker.address === address)) {
        const current = deepest(tracker);
        if (!current) continue;
        refuseTwice(tracker);
        current.below.push(node);
        tracker.frames[tracker.frames.length - 1] = node;
        return;
      }
      if (depth > 1 && !anywhere) {
        throw new HostError(
          'Auth',
          'InvalidAction',
          `[recording authorization only] ${address} would authorize a call that is not the first: simulate with authMode record_allow_nonroot`,
        );
      }
      trackers.push({ address, root: node, frames: [...Array<undefined>(depth - 1), node] });
    },
    needed: () => trackers.map(({ address, root }) => ({ address, invocation: root })),
  };
}

function frameKeeping(trackers: () => readonly Tracker[]): Pick<Authorizer, 'enter' | 'leave'> {
  return {
    enter: () => trackers().forEach(({ frames }) => void frames.push(undefined)),
    leave: () => trackers().forEach(({ frames }) => void frames.pop()),
  };
}

const deepest = ({ frames }: Tracker): CallNode | undefined => frames.findLast((node) => node !== undefined);

function refuseTwice({ address, frames }: Tracker): void {
  if (frames.at(-1)) throw new HostError('Auth', 'ExistingValue', `frame is already authorized for ${address}`);
}

const isSame = (a: xdr.SorobanAuthorizedFunction, b: xdr.SorobanAuthorizedFunction) => base64(a) === base64(b);

const nodeOf = (invocation: xdr.SorobanAuthorizedInvocation): CallNode => ({
  call: invocation.function(),
  below: invocation.subInvocations().map(nodeOf),
  used: false,
});
