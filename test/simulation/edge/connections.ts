/** In place of src/lib/connections.ts: nobody beside a simulated process looks for its stores. */
import type * as real from '../../../src/lib/connections.ts';

export const writeConnections: typeof real.writeConnections = async () => {};
export const readConnections: typeof real.readConnections = async () => undefined;
