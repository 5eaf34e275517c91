/** What a client asks before anything else: which calls the server knows, and where it is. */
import { randomUUID } from 'node:crypto';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { handleUnaryCall } from '@grpc/grpc-js';
import { structuredUuid } from './messages.ts';
import type { Member } from './seat.ts';

/** The server version whose behaviour this node shows. */
const version = '24.6.0';

const methods: readonly (readonly [service: string, method: string, ...features: string[]])[] = [
  ['event_store.client.streams.streams', 'read', 'position', 'events'],
  ['event_store.client.streams.streams', 'append'],
  ['event_store.client.streams.streams', 'batchappend', 'deadline_duration'],
  ['event_store.client.streams.streams', 'delete'],
  ['event_store.client.streams.streams', 'tombstone'],
  ['event_store.client.gossip.gossip', 'read'],
  ['event_store.client.server_features.serverfeatures', 'getsupportedmethods'],
];

export const featuresService: handleUnaryCall<unknown, features.SupportedMethods> = (_call, callback) => {
  const supported = methods.map(([service, method, ...names]) =>
    new features.SupportedMethod().setServiceName(service).setMethodName(method).setFeaturesList(names),
  );
  callback(null, new features.SupportedMethods().setEventStoreServerVersion(version).setMethodsList(supported));
};

const { VNodeState } = gossip.MemberInfo;

function stateOf({ standing }: Member) {
  if (standing === 'leader' || standing === 'frozen') return VNodeState.LEADER;
  return typeof standing === 'object' ? VNodeState.FOLLOWER : VNodeState.UNKNOWN;
}

/** Alone, a node is a cluster of one, its own leader. */
export function gossipService(members: () => readonly Member[]): handleUnaryCall<unknown, gossip.ClusterInfo> {
  const instanceId = structuredUuid(randomUUID());
  return (_call, callback) => {
    const told = members().map((member) =>
      new gossip.MemberInfo()
        .setInstanceId(instanceId)
        .setTimeStamp(`${Date.now()}0000`)
        .setState(stateOf(member))
        .setIsAlive(member.isAlive)
        .setHttpEndPoint(new gossip.EndPoint().setAddress(member.address).setPort(member.port)),
    );
    callback(null, new gossip.ClusterInfo().setMembersList(told));
  };
}
