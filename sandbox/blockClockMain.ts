/**
 * The clock of the local EVM chains in a separate process, so that they continue when the service was killed. `node
 * sandbox/blockClockMain.ts --chain 200,http://127.0.0.1:8545`: milliseconds between blocks, and the chain
 */
import { parseArgs } from 'node:util';
import { createLines } from '../src/chains/node/limiter.ts';
import { connect } from '../src/chains/node/nodes.ts';
import { type ClockedChain, createBlockClock } from './blockClock.ts';
import { readyProgram } from './readyProgram.ts';

const awake_ms = 5 * 60_000;
const answer_ms = 5_000;

const { values: options } = parseArgs({
  options: {
    chain: { type: 'string', multiple: true, default: [] },
    detached: { type: 'boolean', default: false },
  },
});
const lines = createLines();

function chainAt(rpcUrl: string): ClockedChain {
  const options = { chainId: 0, callTimeout_ms: answer_ms, verify: async () => {} };
  const node = connect({ url: rpcUrl, number: 1 }, lines, options).for({ priority: 'head' });
  return {
    async inUse() {
      const [pool, head] = await Promise.all([
        node.request('txpool_status', []),
        node.request('eth_getBlockByNumber', ['latest', false]),
      ]);
      const { pending } = pool as { pending: string };
      const { transactions } = head as { transactions: readonly string[] };
      return Number(pending) > 0 || transactions.length > 0;
    },
    async mine() {
      await node.request('evm_mine', []);
    },
  };
}

for (const chain of options.chain) {
  const [block_ms = 0, rpcUrl = ''] = [Number.parseInt(chain, 10), chain.split(',')[1]];
  if (!(block_ms > 0)) throw new Error(`--chain ${chain}: say milliseconds above 0, a comma and the URL`);
  const tick = createBlockClock(chainAt(rpcUrl), { awake_ms, now: () => performance.now() });
  let ticking = false;
  setInterval(async () => {
    if (ticking) return;
    ticking = true;
    // A chain without an answer is called again at its next tick.
    await tick().catch(() => {});
    ticking = false;
  }, block_ms);
}
readyProgram({ facts: {}, detached: options.detached, stop: async () => {} });
