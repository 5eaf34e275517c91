/** Replaces src/lib/connections.ts: nothing beside a simulated process searches its stores. */
import type * as real from '../../../src/lib/connections.ts';

export const writeConnections: typeof real.writeConnections = async () => {};
export const readConnections: typeof real.readConnections = async () => undefined;
