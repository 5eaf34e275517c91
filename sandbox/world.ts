/** The local world that the service is put into: chains, Postgres, a webhook receiver. Each its own process, found again after a crash. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Address, createPublicClient, erc20Abi } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { type ChainId, chainOf, chains, type TokenSymbol } from '../domain/chains.ts';
import { answers, startAnvil } from './anvil.ts';
import { type Children, onSamePort, portOf } from './children.ts';
import { freePort } from './freePort.ts';
import type { SandboxKeys } from './keys.ts';
import { localRpc } from './localRpc.ts';
import { startMailbox } from './mailbox.ts';
import { type OwnNodes, prepareOwnNode } from './ownNodes.ts';
import { anyIsLeft, type IsEnough, mostIsLeft } from './playMoney.ts';
import { startPostgres } from './postgres.ts';
import { deployForwarderOnGeth, endowOnGeth, type GethFunds, startGeth } from './realNodes/geth.ts';
import { portsOfNode, type RealNodePrograms } from './realNodes/programs.ts';
import { startReceiver } from './receiver.ts';
import { type Shop, startShop } from './shop/start.ts';
import type { SolanaChain } from './solanaChain.ts';
import { startProgram } from './startProgram.ts';
import { keepStellarChain, type StellarChain } from './stellarChain.ts';
import { type Funds, fund, plantForwarder, plantTokens } from './tokens.ts';

export interface World {
  readonly databaseUrl: string;
  /** RPC URLs of the EVM chains. */
  readonly rpcUrls: ReadonlyMap<ChainId, string>;
  readonly stellar: StellarChain | null;
  readonly solana: SolanaChain | null;
  readonly receiver: {
    readonly url: string;
    readonly caFile: string;
    readonly log: string;
    readonly secretsFile: string;
  };
  /** Destination of all mail: one address for sending, one for reading. */
  readonly mailbox: { readonly smtpUrl: string; readonly url: string };
}

export interface WorldOptions {
  readonly dataDir: string;
  readonly children: Children;
  readonly keys: SandboxKeys;
  readonly blockTime_s: number;
  /** Uses the real block times of fast EVM chains. */
  readonly realPace?: boolean;
  readonly chainIds?: readonly ChainId[];
  /** States that the EVM chains' nodes remember. Default: few, for a laptop's memory. */
  readonly statesMax?: number;
  /** Chain families whose start program is given run on real nodes, the others on the sandbox's own. Default: none is given. */
  readonly realNodes?: RealNodePrograms;
  /** Chains that run on the developer's nodes. Default: none. */
  readonly ownNodes?: OwnNodes;
  readonly step: (name: string) => void;
}

/** The clock makes the EVM chains' blocks while they are used; without it they make one this rarely. */
const seldom_s = 10;
/** More than a reorganisation here removes. */
const statesMaxDefault = 16;
export const wholeTokens = 1_000_000n;
const gas = 1_000n * 10n ** 18n;

export async function startWorld(options: WorldOptions): Promise<World> {
  const { dataDir, step } = options;
  for (const folder of ['chains', 'logs', 'webhook']) mkdirSync(join(dataDir, folder), { recursive: true });
  const wanted = (id: ChainId) => options.chainIds?.includes(id) ?? true;
  const evm = chains.filter(({ id, family }) => family === 'evm' && wanted(id));
  const parts = [
    postgres(options),
    webhookReceiver(options),
    keepMailbox(options),
    wanted(1500) ? stellar(options) : null,
    wanted(501) ? solana(options) : null,
    ...evm.map(async ({ id, name }) => {
      const url = await chain(options, id);
      await plant(options, id, url);
      step(name);
      return [id, url] as const;
    }),
  ] as const;
  // Waits for all before reporting a failure: started programs are recorded, and can be ended.
  await Promise.allSettled(parts);
  const [databaseUrl, receiver, mailbox, stellarChain, solanaChain, ...rpc] = await Promise.all(parts);
  // Real nodes make their blocks themselves.
  const clocked = rpc.filter(([id]) => !options.realNodes?.GETH && !options.ownNodes?.has(id));
  if (clocked.length > 0) await blockClock(options, clocked);
  return { databaseUrl, receiver, mailbox, stellar: stellarChain, solana: solanaChain, rpcUrls: new Map(rpc) };
}

async function postgres({ dataDir, children, step }: WorldOptions): Promise<string> {
  const server = await startPostgres({
    dataDir: join(dataDir, 'postgres'),
    logFile: join(dataDir, 'logs', 'postgres.log'),
  });
  children.record('postgres', server.pid, {});
  step('Postgres');
  return server.url;
}

async function webhookReceiver({ dataDir, children, step }: WorldOptions): Promise<World['receiver']> {
  const log = join(dataDir, 'webhook.log');
  const secretsFile = join(dataDir, 'webhook', 'secrets.json');
  const facts = await children.keep(
    'receiver',
    async () => {
      const launch = (port: number) =>
        startReceiver({
          port,
          logFile: log,
          secretsFile,
          dataDir,
          certificates: join(dataDir, 'webhook'),
          detached: true,
          errorFile: join(dataDir, 'logs', 'receiver.log'),
        });
      const started = await onSamePort(children.last('receiver')?.['url'], launch);
      return { pid: started.pid, facts: { url: started.url, caFile: started.caFile } };
    },
    async () => true,
  );
  step('Webhook receiver');
  return { ...facts, log, secretsFile };
}

function keepMailbox({ dataDir, children }: WorldOptions): Promise<World['mailbox']> {
  return children.keep(
    'mailbox',
    async () => {
      const launch = (port: number) =>
        startMailbox({
          port,
          folder: join(dataDir, 'mail'),
          detached: true,
          errorFile: join(dataDir, 'logs', 'mailbox.log'),
        });
      const { pid, smtpUrl, url } = await onSamePort(children.last('mailbox')?.['url'], launch);
      return { pid, facts: { smtpUrl, url } };
    },
    async () => true,
  );
}

/** The demo shop, for a world that people use. */
export async function keepShop({ dataDir, children, step }: WorldOptions): Promise<Pick<Shop, 'url' | 'webhookUrl'>> {
  const facts = await children.keep(
    'shop',
    async () => {
      const last = children.last('shop');
      const launch = async (port: number) =>
        startShop({
          port,
          webhookPort: port === portOf(last?.['url']) ? portOf(last?.['webhookUrl']) : await freePort(),
          folder: join(dataDir, 'shop'),
          certificates: join(dataDir, 'webhook'),
          detached: true,
          errorFile: join(dataDir, 'logs', 'shop.log'),
        });
      const { pid, url, webhookUrl } = await onSamePort(last?.['url'], launch);
      return { pid, facts: { url, webhookUrl } };
    },
    async () => true,
  );
  step('Demo shop');
  return facts;
}

async function stellar(options: WorldOptions): Promise<StellarChain> {
  const chain = await keepStellarChain(options);
  options.step('Stellar');
  return chain;
}

async function solana(options: WorldOptions): Promise<SolanaChain> {
  // Loading its libraries takes a tenth of the processor time of a start.
  const { keepSolanaChain } = await import('./solanaChain.ts');
  const chain = await keepSolanaChain(options);
  options.step('Solana');
  return chain;
}

async function chain(options: WorldOptions, chainId: ChainId): Promise<string> {
  const { children } = options;
  const own = options.ownNodes?.get(chainId);
  if (own !== undefined) return own;
  const name = `chain-${chainId}`;
  const { rpcUrl } = await children.keep(
    name,
    async () => {
      const launch = (port: number) => launchChain(options, chainId, port);
      const started = await onSamePort(
        children.last(name)?.['rpcUrl'],
        launch,
        options.realNodes?.GETH ? portsOfNode.GETH : 1,
      );
      return { pid: started.pid, facts: { rpcUrl: started.rpcUrl } };
    },
    (facts) => answers(facts.rpcUrl, chainId),
  );
  return rpcUrl;
}

function launchChain(options: WorldOptions, chainId: ChainId, port: number): Promise<{ pid: number; rpcUrl: string }> {
  const { dataDir, blockTime_s, statesMax = statesMaxDefault, realNodes = {} } = options;
  const logFile = join(dataDir, 'logs', `chain-${chainId}.log`);
  const { GETH: program } = realNodes;
  if (program !== undefined) {
    const folder = join(dataDir, 'chains', String(chainId));
    return startGeth({ program, chainId, folder, logFile, port, blockTime_s, detached: true });
  }
  const stateFile = join(dataDir, 'chains', `${chainId}.json`);
  return startAnvil({
    chainId,
    mining: { blockTime_s: seldom_s },
    statesMax,
    stateFile,
    logFile,
    detached: true,
    port,
  });
}

async function blockClock(
  { dataDir, children, blockTime_s, realPace = false }: WorldOptions,
  chainUrls: readonly (readonly [ChainId, string])[],
): Promise<void> {
  const slowest_ms = blockTime_s * 1_000;
  const pace_ms = (id: ChainId) => (realPace ? Math.min(chainOf(id).block_ms, slowest_ms) : slowest_ms);
  const args = chainUrls.flatMap(([id, url]) => ['--chain', `${pace_ms(id)},${url}`]);
  await children.keep(
    'block-clock',
    async () => {
      const { pid } = await startProgram({
        what: "the EVM chains' clock",
        program: join(import.meta.dirname, 'blockClockMain.ts'),
        args,
        logFile: join(dataDir, 'logs', 'block-clock.log'),
        detached: true,
      });
      return { pid, facts: { args: args.join(' ') } };
    },
    async (facts) => facts.args === args.join(' '),
  );
}

/** Production's contracts, and money to spend. */
async function plant({ keys, realNodes, ownNodes }: WorldOptions, chainId: ChainId, rpcUrl: string): Promise<void> {
  const treasury = privateKeyToAddress(keys.treasury);
  const customer = privateKeyToAddress(keys.customer);
  const relay = privateKeyToAddress(keys.relay);
  const accounts = [treasury, customer];
  const endow = async (isEnough: IsEnough) => {
    const funds: (readonly [Address, GethFunds])[] = [];
    for (const account of [...accounts, relay]) {
      const { gas: coin = 0n, tokens = {} } = await missing(rpcUrl, chainId, account, isEnough);
      // The relay key pays gas and holds no token.
      funds.push([account, { coin, ...(account !== relay && { tokens }) }]);
    }
    await endowOnGeth(rpcUrl, chainId, funds);
    // The customer deploys, not the treasury: only the service may use the treasury's nonces.
    await deployForwarderOnGeth(rpcUrl, treasury, keys.customer);
  };
  if (ownNodes?.has(chainId)) {
    if (!(await answers(rpcUrl, chainId)))
      throw new Error(`RPC_URLS_${chainId}: no node of chain ${chainId} answers there`);
    return prepareOwnNode(chainId, { treasury, customer }, () => endow(anyIsLeft));
  }
  if (realNodes?.GETH) return endow(mostIsLeft);
  await plantTokens(rpcUrl, chainId);
  await plantForwarder(rpcUrl, treasury);
  for (const account of accounts) {
    await fund(rpcUrl, chainId, account, await missing(rpcUrl, chainId, account, mostIsLeft));
  }
  // It pays gas and holds no token.
  const { gas: coin = 0n } = await missing(rpcUrl, chainId, relay, mostIsLeft);
  await fund(rpcUrl, chainId, relay, { gas: coin });
}

/** Money for play that an account lacks: as much as at the first start, of each token of which it has not enough. */
async function missing(rpcUrl: string, chainId: ChainId, account: Address, isEnough: IsEnough): Promise<Funds> {
  const client = createPublicClient({ transport: localRpc(rpcUrl), cacheTime: 0 });
  const { tokens } = chainOf(chainId);
  const wanted: Partial<Record<TokenSymbol, bigint>> = {};
  for (const token of tokens) {
    const full = wholeTokens * 10n ** BigInt(token.decimals);
    const address = token.address as Address;
    const has = await client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [account] });
    if (!isEnough(has, full)) wanted[token.symbol] = full;
  }
  const hasGas = await client.getBalance({ address: account });
  return { tokens: wanted, ...(!isEnough(hasGas, gas) && { gas }) };
}
