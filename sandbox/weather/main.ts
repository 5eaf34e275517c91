/**
 * The weather in front of the sandbox's chains, in a separate process, so that it continues when the service was
 * killed. `node sandbox/weather/main.ts --preset rough --seed monday --chain 8453,http://127.0.0.1:8545,0,0`
 */
import { parseArgs } from 'node:util';
import { chainOf, findChain } from '../../domain/chains.ts';
import { readyProgram } from '../readyProgram.ts';
import { presetNamed } from './presets.ts';
import { startWeatherNode, type WeatherNode } from './proxy.ts';
import { wsUrlOf } from './wsUrl.ts';

const { values: options } = parseArgs({
  options: {
    preset: { type: 'string', default: 'rough' },
    seed: { type: 'string', default: '1' },
    chain: { type: 'string', multiple: true, default: [] },
    detached: { type: 'boolean', default: false },
  },
});
const preset = presetNamed(options.preset);

/** @param text the chain's id, its URL and the ports to use, 0 for any */
async function startNodes(text: string): Promise<readonly [string, readonly WeatherNode[]]> {
  const [id = '', rpcUrl = '', ...ports] = text.split(',');
  const chain = findChain(id);
  if (!chain) throw new Error(`--chain ${text}: ${id} is no chain`);
  const { family } = chainOf(chain.id);
  const wsUrl = wsUrlOf(family, rpcUrl);
  const nodes = await Promise.all(
    preset.nodes[family].map((weather, at) => {
      const seed = `${options.seed} ${id} ${at}`;
      const start = (port: number) => startWeatherNode({ rpcUrl, wsUrl, family, weather, seed, port });
      return start(Number(ports[at] ?? 0)).catch(() => start(0));
    }),
  );
  return [id, nodes];
}

const started = await Promise.all(options.chain.map(startNodes));
setInterval(() => {
  for (const [, nodes] of started) for (const node of nodes) node.cutSockets();
}, preset.socketsLast_s * 1_000).unref();
const urls = started.map(([id, nodes]) => [id, nodes.map(({ url }) => url).join()]);
readyProgram({
  facts: Object.fromEntries(urls),
  detached: options.detached,
  async stop() {
    await Promise.all(started.flatMap(([, nodes]) => nodes.map((node) => node.stop())));
  },
});
