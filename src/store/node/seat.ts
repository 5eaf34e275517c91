/** A node's role in a cluster, as its clients observe it. For specs: nothing is replicated, and no node of a service has one. */

import { type Metadata, ServerInterceptingCall, type ServerInterceptor, type ServiceError } from '@grpc/grpc-js';
import { noLeader, notLeader, notReady } from './messages.ts';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/**
 * `leader` answers. A follower answers calls that need no leader from its own log, which may be old; a deposed leader
 * is a follower. `leaderless` knows of no leader; `electing` accepts nothing, as without a majority. `frozen` reads and
 * sends nothing, but its connections stay.
 */
export type NodeRole = 'leader' | 'leaderless' | 'electing' | 'frozen' | { readonly follows: Endpoint };

export interface ClusterMember extends Endpoint {
  readonly standing: NodeRole;
  readonly isAlive: boolean;
}

export interface Seat {
  readonly standing: NodeRole;
  take(standing: NodeRole): void;
  /** All members, as this node would gossip them. */
  members(): readonly ClusterMember[];
  /** Reason for refusing a call, in EventStoreDB's form. */
  refusal(metadata: Metadata): ServiceError | null;
  /** Resolves while the node is not frozen. */
  thawed(): Promise<void>;
}

export function createSeat(members: () => readonly ClusterMember[]): Seat {
  let standing: NodeRole = 'leader';
  let thaw = Promise.withResolvers<void>();
  thaw.resolve();
  return {
    get standing() {
      return standing;
    },
    take(next) {
      if (next === 'frozen' && standing !== 'frozen') thaw = Promise.withResolvers();
      standing = next;
      if (next !== 'frozen') thaw.resolve();
    },
    members,
    refusal(metadata) {
      if (standing === 'electing') return notReady();
      if (standing === 'leader' || standing === 'frozen') return null;
      if (metadata.get('requires-leader')[0] !== 'true') return null;
      return standing === 'leaderless' ? noLeader() : notLeader(standing.follows);
    },
    thawed: () => thaw.promise,
  };
}

/** Gossip is answered in any role; BatchAppend reports refusals in its own replies. */
const asksElsewhere = /\/(event_store\.client\.gossip\.|.*\/BatchAppend$)/;

/** Calls of a frozen node wait, with their requests and pending answers. */
export const seated =
  (seat: Seat): ServerInterceptor =>
  ({ path }, call) =>
    new ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMetadata: (metadata, taken) =>
            void seat.thawed().then(() => {
              const refusal = asksElsewhere.test(path) ? null : seat.refusal(metadata);
              if (refusal) call.sendStatus(refusal);
              else taken(metadata);
            }),
          onReceiveMessage: (message, taken) => void seat.thawed().then(() => taken(message)),
          onReceiveHalfClose: (taken) => void seat.thawed().then(taken),
        });
      },
      sendMessage: (message, taken) => void seat.thawed().then(() => taken(message)),
      sendStatus: (status, taken) => void seat.thawed().then(() => taken(status)),
    });
