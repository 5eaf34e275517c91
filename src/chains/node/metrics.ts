/** Calls to nodes and their learned rates, for /metrics. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { createLines, type NodeLines } from './limiter.ts';

/** @returns the process's state of its nodes, with metrics */
export function openLines(registry: Registry): NodeLines {
  const registers = [registry];
  const calls = new Counter({
    name: 'pi_node_calls_total',
    help: 'Calls to nodes, by the node’s number in the configuration, kind of call and result',
    labelNames: ['chain', 'node', 'kind', 'result'],
    registers,
  });
  const lines = createLines({
    seen: ({ chainId, node, kind, end }) => calls.inc({ chain: chainId, node, kind, result: end }),
  });
  new Gauge({
    name: 'pi_node_rate',
    help: 'Calls per second that a node accepts, learned from its refusals; absent for a node that never refused',
    labelNames: ['chain', 'node'],
    registers,
    collect() {
      this.reset();
      for (const { chainId, node, perSecond } of lines.rates()) this.set({ chain: chainId, node }, perSecond);
    },
  });
  return lines;
}
