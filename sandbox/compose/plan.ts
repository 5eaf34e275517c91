/** Faults per compose file. */
import { activeOf, away, cutOff, type Fault, frozen, killed, leaderOf } from './faults.ts';
import type { ShapeName } from './shapes.ts';

export const plans: Readonly<Record<ShapeName, readonly Fault[]>> = {
  one: [
    killed('api'),
    killed('service'),
    frozen('service'),
    cutOff('service'),
    killed('eventstore'),
    killed('postgres'),
  ],
  scale: [
    killed('api'),
    killed('balancer'),
    frozen('subscribers', activeOf('subscribers')),
    cutOff('projections', activeOf('projections')),
    away('leader of the event store', leaderOf),
    killed('postgres'),
    killed('signer'),
  ],
};
