/** A node's role in a cluster, as its clients observe it. Nothing is replicated. */
import { ServerInterceptingCall, type ServerInterceptor, type ServiceError, status } from '@grpc/grpc-js';
import { serviceError } from '../../../../../src/store/node/messages.ts';
import type { ClusterMember, ClusterPlace } from '../../../../../src/store/node/node.ts';

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

export interface Seat extends ClusterPlace {
  readonly standing: NodeRole;
  take(standing: NodeRole): void;
}

/** A member as all nodes gossip it. */
export const memberAt = ({ address, port }: Endpoint, standing: NodeRole, isAlive: boolean): ClusterMember => ({
  address,
  port,
  state:
    standing === 'leader' || standing === 'frozen' ? 'leader' : typeof standing === 'object' ? 'follower' : 'unknown',
  isAlive,
});

export function createSeat(members: ClusterPlace['members']): Seat {
  let standing: NodeRole = 'leader';
  let thaw = Promise.withResolvers<void>();
  thaw.resolve();
  const refusal: ClusterPlace['refusal'] = (metadata) => {
    if (standing === 'electing') return notReady();
    if (standing === 'leader' || standing === 'frozen') return null;
    if (metadata.get('requires-leader')[0] !== 'true') return null;
    return standing === 'leaderless' ? noLeader() : notLeader(standing.follows);
  };
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
    refusal,
    interceptor: seated(refusal, () => thaw.promise),
  };
}

/** For a node that knows the leader. The status is the real server's; clients use the trailers. */
const notLeader = (leader: Endpoint): ServiceError =>
  serviceError(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': leader.address,
    'leader-endpoint-port': leader.port.toString(),
  });

const noLeader = (): ServiceError => serviceError(status.UNKNOWN, 'No leader info available in response');

const notReady = (): ServiceError => serviceError(status.UNAVAILABLE, 'Server Is Not Ready');

/** Gossip is answered in any role; BatchAppend reports refusals in its own replies. */
const asksElsewhere = /\/(event_store\.client\.gossip\.|.*\/BatchAppend$)/;

/** Calls of a frozen node wait, with their requests and pending answers. */
const seated =
  (refusalOf: ClusterPlace['refusal'], thawed: () => Promise<void>): ServerInterceptor =>
  ({ path }, call) =>
    new ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMetadata: (metadata, taken) =>
            void thawed().then(() => {
              const refusal = asksElsewhere.test(path) ? null : refusalOf(metadata);
              if (refusal) call.sendStatus(refusal);
              else taken(metadata);
            }),
          onReceiveMessage: (message, taken) => void thawed().then(() => taken(message)),
          onReceiveHalfClose: (taken) => void thawed().then(taken),
        });
      },
      sendMessage: (message, taken) => void thawed().then(() => taken(message)),
      sendStatus: (status, taken) => void thawed().then(() => taken(status)),
    });
