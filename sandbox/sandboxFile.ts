import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../src/lib/writeWhole.ts';
import type { RealNodeName } from './realNodes/programs.ts';
import type { WeatherFacts } from './weather/world.ts';

interface DemoApp {
  readonly appId: string;
  readonly ordersKey: string;
  readonly adminKey: string;
  readonly webhookSecret: string;
}

/** `DATA_DIR/sandbox.json`: facts about a running sandbox for scripts and tests, so that they need not parse prose. */
export interface SandboxFile {
  readonly baseUrl: string;
  /** Address of health, readiness and metrics. */
  readonly operationsUrl: string;
  readonly merchant: DemoApp & {
    readonly settlement: { readonly chainId: string; readonly tokenSymbol: string; readonly receiverAddress: string };
  };
  readonly wallet: DemoApp;
  /** The demo shop: its app, its pages, its webhook URL. */
  readonly shop: DemoApp & { readonly url: string; readonly webhookUrl: string };
  /** Owner of both apps, whose sign-in codes arrive in the mailbox. */
  readonly demoEmail: string;
  readonly webhook: { readonly url: string; readonly log: string };
  /** Address of the service's mail; `folder` holds it as .eml files. */
  readonly mailbox: { readonly url: string; readonly folder: string };
  readonly customer: Readonly<Record<string, { readonly address: string }>>;
  readonly chains: Readonly<Record<string, { readonly rpcUrl: string }>>;
  /** Addresses on the local Stellar; `merchantWallet` can receive USDC there. */
  readonly stellar: { readonly contract: string; readonly treasury: string; readonly merchantWallet: string } | null;
  /** Addresses on the local Solana; `merchantWallet` has no token account yet. */
  readonly solana: { readonly treasury: string; readonly merchantWallet: string } | null;
  /** Proxy between service and chains; null for none. */
  readonly weather: WeatherFacts | null;
  /** Variables that name the start programs of the real nodes that run; empty when all chains are the sandbox's own. */
  readonly realNodes: readonly RealNodeName[];
  readonly pids: { readonly service: number };
}

const path = (dataDir: string) => join(dataDir, 'sandbox.json');
const pathAside = (dataDir: string) => join(dataDir, 'sandbox.last.json');

export const readSandboxFile = (dataDir: string): SandboxFile | undefined => readFile(path(dataDir));

/**
 * Renames the file of a sandbox that has ended, so nobody mistakes it for a running one.
 * @returns its content: the only record of keys and secrets, which are returned once
 */
export function setSandboxFileAside(dataDir: string): SandboxFile | undefined {
  if (existsSync(path(dataDir))) renameSync(path(dataDir), pathAside(dataDir));
  return readFile(pathAside(dataDir));
}

function readFile(file: string): SandboxFile | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as SandboxFile;
  } catch {
    return undefined;
  }
}

/** Written atomically, so a waiting reader can read it at once. */
export function writeSandboxFile(dataDir: string, file: SandboxFile): void {
  writeWhole(path(dataDir), `${JSON.stringify(file, null, 2)}\n`);
}
