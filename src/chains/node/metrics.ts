/** Calls to nodes and their learned rates, for /metrics. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { createLines, type NodeLines } from './lines.ts';

/** @returns the process's state of its nodes, with metrics */
export function openLines(registry: Registry): NodeLines {
  const registers = [registry];
  const calls = new Counter({
    name: 'pi_node_calls_total',
    help: 'Calls of nodes, by the node’s number in the configuration, the kind of call and its end',
    labelNames: ['chain', 'node', 'kind', 'result'],
    registers,
  });
  const lines = createLines({
    seen: ({ chainId, node, kind, end }) => calls.inc({ chain: chainId, node, kind, result: end }),
  });
  new Gauge({
    name: 'pi_node_rate',
    help: 'Usual calls in a second that a node takes, as its refusals have shown; none for a node that refused none',
    labelNames: ['chain', 'node'],
    registers,
    collect() {
      this.reset();
      for (const { chainId, node, perSecond } of lines.rates()) this.set({ chain: chainId, node }, perSecond);
    },
  });
  return lines;
}
