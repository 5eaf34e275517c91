/** Differences between the two compose files. */

export type ShapeName = 'one' | 'scale';

export interface Shape {
  readonly name: ShapeName;
  readonly file: string;
  /** Started services: all except mail and monitoring. */
  readonly services: readonly string[];
  /** Services that run this product, and so need access to the chains. */
  readonly ours: readonly string[];
  /** Container for the operator's tools. */
  readonly tools: string;
  /** Service for callers, with its port inside. */
  readonly door: { readonly service: string; readonly port: number };
  /** Nodes of the cluster; empty for a single node. */
  readonly eventStores: readonly string[];
  /** With a separate signer the other instances have no key. */
  readonly hasSigner: boolean;
}

export const shapes: Readonly<Record<ShapeName, Shape>> = {
  one: {
    name: 'one',
    file: 'docker-compose.yml',
    services: ['api', 'service'],
    ours: ['api', 'service'],
    tools: 'service',
    door: { service: 'api', port: 3000 },
    eventStores: [],
    hasSigner: false,
  },
  scale: {
    name: 'scale',
    file: 'docker-compose.scale.yml',
    services: ['balancer', 'api', 'projections', 'subscribers', 'signer'],
    ours: ['api', 'projections', 'subscribers', 'signer'],
    tools: 'subscribers',
    door: { service: 'balancer', port: 8080 },
    eventStores: ['eventstore-a', 'eventstore-b', 'eventstore-c'],
    hasSigner: true,
  },
};
