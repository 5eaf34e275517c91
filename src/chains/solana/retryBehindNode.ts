/** Retries of calls that one of the nodes behind an address cannot answer yet: such nodes may be some slots apart. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answered, type ChainNode, RpcFailed } from '../node/jsonRpc.ts';
import type { ChainRpc } from '../node/nodes.ts';
import { codes } from './reads.ts';

/** Another node may answer at once; after three slots all of them should have caught up. */
const pauses_ms = [0, 100, 200, 400, 500];

/** Retries each call, for about 1.2 s, while the answering node is behind its `minContextSlot`. */
export function retryBehindNode(rpc: ChainRpc): ChainRpc {
  return {
    ...rpc,
    nodes: rpc.nodes.map((connect) => (signal) => patient(connect(signal))),
    as: (priority) => retryBehindNode(rpc.as(priority)),
    firstAnswer: (ask, signal) => rpc.firstAnswer((node) => ask(patient(node)), signal),
    answer: (ask, signal) => rpc.answer((node) => ask(patient(node)), signal),
    all: (ask, signal) => rpc.all((node) => ask(patient(node)), signal),
    allSoon: (ask, signal) => rpc.allSoon((node) => ask(patient(node)), signal),
    allSettled: (ask, signal) => rpc.allSettled((node) => ask(patient(node)), signal),
  };
}

const isBehind = (error: unknown): boolean =>
  error instanceof RpcFailed && error.code === codes.minContextSlotNotReached;

function patient(node: ChainNode): ChainNode {
  return {
    ...node,
    async request(method, params) {
      for (const pause_ms of pauses_ms) {
        try {
          return await node.request(method, params);
        } catch (error) {
          if (!isBehind(error)) throw error;
        }
        await sleep(pause_ms);
      }
      return node.request(method, params);
    },
    async batch(calls, how) {
      if (how?.together) return node.batch(calls, how);
      const isLate = (answer: Answered) => 'failure' in answer && isBehind(answer.failure);
      return again(calls, (asked) => node.batch(asked), isLate);
    },
  };
}

/**
 * Retries missing results for about a second.
 * @param ask returns null for a missing result, in the order of its input
 */
export const untilThere = <A, T>(
  wanted: readonly A[],
  ask: (asked: readonly A[]) => Promise<readonly (T | null)[]>,
): Promise<readonly (T | null)[]> => again(wanted, ask, (answer) => answer === null);

/** @returns the last answer to each, in the order of `wanted` */
async function again<A, T>(
  wanted: readonly A[],
  ask: (asked: readonly A[]) => Promise<readonly T[]>,
  isLate: (answer: T) => boolean,
): Promise<readonly T[]> {
  const answers = [...(wanted.length > 0 ? await ask(wanted) : [])];
  for (const pause_ms of pauses_ms) {
    const late = answers.flatMap((answer, place) => (isLate(answer) ? [place] : []));
    if (late.length === 0) break;
    await sleep(pause_ms);
    const asked = wanted.filter((_, place) => late.includes(place));
    for (const [at, answer] of (await ask(asked)).entries()) answers[late[at] ?? -1] = answer;
  }
  return answers;
}
