/** How calls to one node are bundled. */
import type { EvmNode } from '../rpc.ts';

/** Calls to one node at a time. */
export const callsAtOnce = 8;

/** Fewer blocks than this are read by their hashes for as many calls. */
export const togetherFrom_blocks = 3n;

/** What proves a range in one request. */
const callsTogether = 3;

/** Whether a node takes several calls in one request, as far as is known. */
export const takesTogether = ({ limits }: EvmNode): boolean => (limits.most('calls') ?? callsTogether) >= callsTogether;
