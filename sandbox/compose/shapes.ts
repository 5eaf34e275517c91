/** The two compose files, as far as what is tried differs. */

export type ShapeName = 'one' | 'scale';

export interface Shape {
  readonly name: ShapeName;
  readonly file: string;
  /** What is started: all but mail and what looks on. */
  readonly services: readonly string[];
  /** Services that run this product, and so need the way to the chains. */
  readonly ours: readonly string[];
  /** Where the operator's tools are run. */
  readonly tools: string;
  /** What callers reach, with its port inside. */
  readonly door: { readonly service: string; readonly port: number };
  /** Of the cluster; empty where one node is all. */
  readonly eventStores: readonly string[];
  /** Who has a signer of its own gives the others no key. */
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
