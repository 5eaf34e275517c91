/** The real product as a newcomer starts it: `sandbox/start.ts` in its own process, on its own data directory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import pg from 'pg';
import { type Address, createPublicClient, createWalletClient, erc20Abi, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type ChainId, chainOf, findToken } from '../../domain/chains.ts';
import { parseAmount } from '../../domain/money.ts';
import { terminalStatuses } from '../../domain/payment/status.ts';
import { openChildren } from '../../sandbox/children.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { readSandboxFile, type SandboxFile } from '../../sandbox/sandboxFile.ts';

const program = fileURLToPath(new URL('../../sandbox/start.ts', import.meta.url));
const ready_ms = 60_000;
const poll_ms = 50;

export type Json = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely and checked against their schemas elsewhere
export type Answer = { readonly status: number; readonly headers: Headers; readonly body: any };

export interface Webhook {
  readonly receivedAt: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly valid: boolean;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Sandbox {
  readonly dataDir: string;
  readonly file: () => SandboxFile;
  /** Starts the service (and whatever of its world does not run). Resolves when it is ready, or when it has ended at a crash point. */
  start(env?: Record<string, string>): Promise<'ready' | 'ended'>;
  /** Resolves when the service has ended, however. */
  ended(): Promise<Exit>;
  kill(): Promise<Exit>;
  /** As Ctrl-C does. */
  stop(): Promise<Exit>;
  /** What the service has printed since its start. */
  printed(): string;
  /** The pid of a recorded process: service, postgres, receiver, chain-8453 …; undefined when it does not run. */
  pidOf(name: string): number | undefined;
  call(
    method: string,
    path: string,
    options?: { body?: unknown; key?: string; headers?: Record<string, string> },
  ): Promise<Answer>;
  create(body: Json, key?: string): Promise<Answer>;
  transfer(chainId: ChainId, symbol: 'USDC' | 'USDT', to: string, amount: string): Promise<Hex>;
  pay(payment: Answer['body'], amount?: string): Promise<Hex>;
  balance(chainId: ChainId, symbol: 'USDC' | 'USDT', of: string): Promise<bigint>;
  /** Statuses seen until a terminal one, or until `until` holds. */
  follow(paymentId: string, until?: (payment: Answer['body']) => boolean): Promise<Answer['body']>;
  /** Asks again and again until it is so. */
  until(holds: () => boolean | Promise<boolean>): Promise<void>;
  webhooks(paymentId?: string): Webhook[];
  /** Asks the service's database, as an analyst does. */
  query<R>(text: string): Promise<readonly R[]>;
  rpc(chainId: ChainId, method: string, params: unknown[]): Promise<unknown>;
  /** Ends the service and its whole world and removes the data. */
  destroy(): Promise<void>;
}

export function createSandbox(): Sandbox {
  const dataDir = mkdtempSync(join(tmpdir(), 'payment-intents-'));
  let child: ChildProcess | undefined;
  let output = '';

  const file = (): SandboxFile => {
    const found = readSandboxFile(dataDir);
    if (!found) throw new Error(`the sandbox has not become ready:\n${output}`);
    return found;
  };
  const rpcUrl = (chainId: ChainId) => file().chains[String(chainId)]?.rpcUrl ?? '';

  const self: Sandbox = {
    dataDir,
    file,

    async start(env = {}) {
      output = '';
      const settings = { DATA_DIR: dataDir, PORT: '0', SANDBOX_BLOCK_TIME_S: '0.2', LOG_LEVEL: 'warn', ...env };
      const started = spawn(process.execPath, [program], {
        env: { ...process.env, ...settings },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child = started;
      for (const stream of [started.stdout, started.stderr]) {
        stream?.setEncoding('utf8').on('data', (text: string) => {
          output = (output + text).slice(-20_000);
        });
      }
      for (let waited_ms = 0; waited_ms < ready_ms; waited_ms += poll_ms) {
        if (started.exitCode !== null || started.signalCode !== null) return 'ended';
        if (readSandboxFile(dataDir)?.pids.service === started.pid) return 'ready';
        await sleep(poll_ms);
      }
      throw new Error(`the sandbox did not become ready in ${ready_ms} ms:\n${output}`);
    },

    async ended() {
      if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      return { code: child?.exitCode ?? null, signal: child?.signalCode ?? null };
    },

    async kill() {
      child?.kill('SIGKILL');
      return self.ended();
    },

    async stop() {
      child?.kill('SIGINT');
      return self.ended();
    },

    printed: () => output,
    pidOf: (name) => openChildren(join(dataDir, 'processes.json')).alive(name)?.pid,

    async call(method, path, { body, key, headers } = {}) {
      const response = await fetch(`${file().baseUrl}${path}`, {
        method,
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(key !== undefined && { 'x-api-key': key }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text ? parsed(text) : undefined };
    },

    create: (body, key) => self.call('POST', '/payment-api/payments', { body, ...(key !== undefined && { key }) }),

    async transfer(chainId, symbol, to, amount) {
      const token = findToken(chainOf(chainId), symbol);
      if (!token) throw new Error(`chain ${chainId} has no ${symbol}`);
      const units = parseAmount(amount, token.decimals);
      if (typeof units === 'string') throw new Error(`${amount} is no amount: ${units}`);
      const transport = http(rpcUrl(chainId));
      const account = privateKeyToAccount(keepKeys(dataDir).customer);
      const hash = await createWalletClient({ account, transport }).writeContract({
        chain: null,
        address: token.address as Address,
        abi: erc20Abi,
        functionName: 'transfer',
        args: [to as Address, units],
        gas: 120_000n,
      });
      const receipt = await createPublicClient({ transport, pollingInterval: poll_ms }).waitForTransactionReceipt({
        hash,
      });
      if (receipt.status !== 'success') throw new Error(`transfer ${hash} was reverted`);
      return hash;
    },

    pay: (payment, amount) =>
      self.transfer(
        Number(payment.source.chainId) as ChainId,
        payment.source.tokenSymbol,
        payment.source.receiverAddress,
        amount ?? payment.source.amount,
      ),

    async balance(chainId, symbol, of) {
      const address = findToken(chainOf(chainId), symbol)?.address as Address;
      const client = createPublicClient({ transport: http(rpcUrl(chainId)), cacheTime: 0 });
      return client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [of as Address] });
    },

    async follow(paymentId, until = (payment) => terminalStatuses.includes(payment.status)) {
      for (let waited_ms = 0; waited_ms < ready_ms; waited_ms += poll_ms) {
        const { status, body } = await self.call('GET', `/payment-api/payments/${paymentId}`);
        if (status === 200 && until(body)) return body;
        await sleep(poll_ms);
      }
      const last = await self.call('GET', `/payment-api/payments/${paymentId}`);
      throw new Error(`payment ${paymentId} is still ${JSON.stringify(last.body)}\n${output}`);
    },

    async until(holds) {
      for (let waited_ms = 0; waited_ms < ready_ms; waited_ms += poll_ms) {
        if (await holds()) return;
        await sleep(poll_ms);
      }
      throw new Error(`it did not come so in ${ready_ms} ms: ${holds}\n${output}`);
    },

    webhooks(paymentId) {
      const lines = readText(join(dataDir, 'webhook.log')).split('\n').filter(Boolean);
      const all = lines.map((line) => JSON.parse(line) as Webhook);
      return paymentId === undefined ? all : all.filter(({ body }) => parsed(body).data?.id === paymentId);
    },

    async query(text) {
      const { DATABASE_URL } = parseEnv(readFileSync(join(dataDir, 'service.env'), 'utf8'));
      const client = new pg.Client({ connectionString: DATABASE_URL });
      await client.connect();
      try {
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    },

    async rpc(chainId, method, params) {
      const client = createPublicClient({ transport: http(rpcUrl(chainId)) });
      return client.request({ method, params } as never);
    },

    async destroy() {
      child?.kill('SIGKILL');
      await self.ended();
      await openChildren(join(dataDir, 'processes.json')).endAll();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return self;
}

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
