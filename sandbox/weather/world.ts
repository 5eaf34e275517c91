/** The sandbox's chains in rough weather: every URL leads to a node with quirks. */
import { join } from 'node:path';
import type { Children } from '../children.ts';
import { startProgram } from '../startProgram.ts';
import type { World } from '../world.ts';
import type { PresetName } from './presets.ts';

export interface WeatherOptions {
  readonly dataDir: string;
  readonly children: Children;
  readonly name: PresetName;
  readonly seed: string;
}

/** By chain id. */
type Urls = Readonly<Record<string, string>>;

export interface WeatherFacts {
  readonly name: PresetName;
  readonly seed: string;
  /** The URLs of each chain's nodes, separated by commas, as the service has them. */
  readonly nodes: Urls;
}

export interface KeptWeather {
  /** The world as the service sees it. */
  readonly seen: World;
  /** Null when the weather is calm. */
  readonly weather: WeatherFacts | null;
  /** Additional settings of the service: WebSockets of the EVM chains and Solana. */
  readonly sockets: Readonly<Record<string, string>>;
}

export async function keepWeather(world: World, options: WeatherOptions): Promise<KeptWeather> {
  const { children, name, seed } = options;
  if (name === 'calm') {
    await children.end('weather');
    return { seen: world, weather: null, sockets: {} };
  }
  const nodes = await keepNodes(chainUrls(world), options);
  const pushing = [...world.rpcUrls.keys(), ...(world.solana ? [501] : [])];
  const sockets = pushing.map((id) => [`WS_URLS_${id}`, nodes[id]?.replaceAll('http:', 'ws:') ?? '']);
  return { seen: seenThrough(world, nodes), weather: { name, seed, nodes }, sockets: Object.fromEntries(sockets) };
}

async function keepNodes(rpcUrls: Urls, { dataDir, children, name, seed }: WeatherOptions): Promise<Urls> {
  const asked = `${name} ${seed} ${Object.entries(rpcUrls).join()}`;
  const { asked: _, ...urls } = await children.keep<Urls>(
    'weather',
    async () => {
      const { facts, pid } = await startProgram<Urls>({
        what: 'the weather',
        program: join(import.meta.dirname, 'main.ts'),
        args: ['--preset', name, '--seed', seed, ...chainArgs(rpcUrls, children.last('weather') ?? {})],
        logFile: join(dataDir, 'logs', 'weather.log'),
        detached: true,
      });
      return { pid, facts: { ...facts, asked } };
    },
    async (facts) => facts['asked'] === asked,
  );
  return urls;
}

/** With the ports that each chain's nodes had last, where they are still free: URLs stay the same from start to start. */
function chainArgs(rpcUrls: Urls, last: Readonly<Record<string, unknown>>): readonly string[] {
  const portsOf = (urls: string) => urls.split(',').flatMap((url) => (URL.canParse(url) ? [new URL(url).port] : []));
  return Object.entries(rpcUrls).flatMap(([id, rpcUrl]) => [
    '--chain',
    [id, rpcUrl, ...portsOf(String(last[id] ?? ''))].join(),
  ]);
}

function seenThrough(world: World, urls: Urls): World {
  const { stellar, solana } = world;
  return {
    ...world,
    rpcUrls: new Map([...world.rpcUrls].map(([id, rpcUrl]) => [id, urls[id] ?? rpcUrl])),
    stellar: stellar && { ...stellar, rpcUrl: urls['1500'] ?? stellar.rpcUrl },
    solana: solana && { ...solana, rpcUrl: urls['501'] ?? solana.rpcUrl },
  };
}

const chainUrls = ({ rpcUrls, stellar, solana }: World): Urls => ({
  ...Object.fromEntries([...rpcUrls].map(([id, rpcUrl]) => [String(id), rpcUrl])),
  ...(stellar && { 1500: stellar.rpcUrl }),
  ...(solana && { 501: solana.rpcUrl }),
});
