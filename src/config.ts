/** Configuration comes from the environment only; .env.example explains every variable. A wrong value names itself and stops the start. */
import type { Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { type Chain, type ChainId, chains } from '../domain/chains.ts';
import { parseAmount } from '../domain/money.ts';

export const roles = ['api', 'projections', 'subscribers'] as const;
export type Role = (typeof roles)[number];

/** How deep is final: a number of blocks, a tag, or a tag and at least so many blocks. */
export interface DepthSetting {
  readonly blocks: number;
  readonly tag: 'safe' | 'finalized' | null;
}

export interface ChainConfig {
  readonly chainId: ChainId;
  readonly rpcUrls: readonly string[];
  /** Undefined: the chain's default. */
  readonly confirmations?: DepthSetting;
  readonly confirmationsLarge?: DepthSetting;
  readonly payoutConfirmations?: DepthSetting;
  readonly largeFrom_usd?: bigint;
  readonly poll_ms?: number;
}

export interface Config {
  readonly mode: 'production' | 'sandbox';
  readonly roles: readonly Role[];
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly databaseUrl: string;
  /** Null: the service runs its own embedded node under dataDir. */
  readonly eventStoreUrl: string | null;
  readonly masterKey: string;
  readonly treasury: { readonly address: string | null; readonly privateKey: string | null };
  readonly signer: { readonly perTransfer_usd: bigint; readonly perHour_usd: bigint };
  readonly chains: readonly ChainConfig[];
  readonly fee: { readonly fixed_microUsd: bigint; readonly basisPoints: number };
  readonly webhook: { readonly caFile: string | null; readonly allowedCidrs: readonly string[] };
  readonly logLevel: string;
  readonly crashAt: string | null;
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(problems: readonly string[]) {
    super(
      `the configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}\nSee .env.example for every variable.`,
    );
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/** The ten accounts of local development chains: everybody has their keys. */
const developmentAccounts: ReadonlySet<string> = new Set([
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
  '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
  '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
  '0x976ea74026e726554db657fa54763abd0c3a0aa9',
  '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
  '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
]);

/** @throws ConfigError that names every problem at once */
export function readConfig(env: Env): Config {
  const problems: string[] = [];
  const read = reader(env, problems);
  const chosen = read.list('ROLES');
  const config: Config = {
    mode: read.oneOf('MODE', ['production', 'sandbox'], 'production'),
    roles:
      chosen.length > 0
        ? chosen.filter((role): role is Role =>
            read.check((roles as readonly string[]).includes(role), `ROLES: ${role} is not one of ${roles.join(', ')}`),
          )
        : roles,
    host: read.text('HOST', '127.0.0.1'),
    port: read.integer('PORT', 3000, 0, 65_535),
    dataDir: read.text('DATA_DIR', './data'),
    databaseUrl:
      read.url('DATABASE_URL', /^postgres(ql)?:$/) ??
      read.missing('DATABASE_URL', 'postgres://user:password@host:5432/payments'),
    eventStoreUrl: read.url('EVENTSTORE_URL', /^esdb(\+discover)?:$/),
    masterKey:
      read.hex('MASTER_KEY', /^[0-9a-f]{64}$/, '64 hex digits: `openssl rand -hex 32`') ??
      read.missing('MASTER_KEY', '64 hex digits'),
    treasury: {
      address: read.matching('TREASURY_ADDRESS', /^0x[0-9a-fA-F]{40}$/, 'an EVM address'),
      privateKey: read.hex('TREASURY_PRIVATE_KEY', /^0x[0-9a-f]{64}$/, '0x and 64 hex digits'),
    },
    signer: {
      perTransfer_usd: read.whole('SIGNER_MAX_TRANSFER_USD', 10_000n),
      perHour_usd: read.whole('SIGNER_MAX_HOUR_USD', 100_000n),
    },
    chains: chains.flatMap((chain) => chainConfig(read, chain)),
    fee: {
      fixed_microUsd: read.microUsd('FEE_FIXED_USD', '0.01'),
      basisPoints: read.integer('FEE_BASIS_POINTS', 10, 0, 10_000),
    },
    webhook: { caFile: read.text('WEBHOOK_CA_FILE', '') || null, allowedCidrs: read.list('WEBHOOK_ALLOWED_CIDRS') },
    logLevel: read.oneOf('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
    crashAt: read.text('CRASH_AT', '') || null,
  };
  if (config.chains.length === 0)
    problems.push('RPC_URLS_<chainId>: name at least one chain, for example RPC_URLS_8453=https://…');
  problems.push(...treasuryProblems(config));
  if (config.mode === 'production') problems.push(...productionProblems(config));
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

function treasuryProblems({ treasury: { address, privateKey }, mode }: Config): string[] {
  if (!address && !privateKey) return ['TREASURY_ADDRESS or TREASURY_PRIVATE_KEY is required'];
  const payer = privateKey && accountOf(privateKey);
  if (payer === undefined) return ['TREASURY_PRIVATE_KEY is no key of the curve secp256k1'];
  if (address && payer && address.toLowerCase() !== payer) {
    return [
      'TREASURY_ADDRESS is not the account of TREASURY_PRIVATE_KEY: deposits would go to one and payouts leave the other',
    ];
  }
  const account = payer ?? address?.toLowerCase();
  if (mode === 'production' && account && developmentAccounts.has(account)) {
    return ['the treasury is a well-known development account: anybody can spend from it'];
  }
  return [];
}

/** In lower case; undefined when the curve has no such key. */
function accountOf(privateKey: string): string | undefined {
  try {
    return privateKeyToAddress(privateKey as Hex).toLowerCase();
  } catch {
    return undefined;
  }
}

function productionProblems(config: Config): string[] {
  const problems: string[] = [];
  if (config.crashAt) problems.push('CRASH_AT is for tests: unset it or set MODE=sandbox');
  if (/^(.)\1*$/.test(config.masterKey))
    problems.push('MASTER_KEY is a placeholder: make one with `openssl rand -hex 32`');
  return problems;
}

function chainConfig(read: Reader, chain: Chain): ChainConfig[] {
  const { id } = chain;
  const rpcUrls = read.list(`RPC_URLS_${id}`);
  if (rpcUrls.length === 0) return [];
  for (const [index, url] of rpcUrls.entries()) {
    // It may hold the key to a paid node: it is never printed.
    read.check(/^https?:\/\//.test(url) && URL.canParse(url), `RPC_URLS_${id}: entry ${index + 1} is no http(s) URL`);
  }
  const depth = (name: string) => read.depth(`${name}_${id}`);
  const [confirmations, confirmationsLarge, payoutConfirmations] = [
    'CONFIRMATIONS',
    'CONFIRMATIONS_LARGE',
    'PAYOUT_CONFIRMATIONS',
  ].map(depth);
  const largeFrom_usd = read.optionalWhole(`LARGE_FROM_USD_${id}`);
  const poll_ms = read.optionalInteger(`POLL_MS_${id}`, 20, 600_000);
  return [
    {
      chainId: id,
      rpcUrls,
      ...(confirmations && { confirmations }),
      ...(confirmationsLarge && { confirmationsLarge }),
      ...(payoutConfirmations && { payoutConfirmations }),
      ...(largeFrom_usd !== undefined && { largeFrom_usd }),
      ...(poll_ms !== undefined && { poll_ms }),
    },
  ];
}

type Reader = ReturnType<typeof reader>;

function reader(env: Env, problems: string[]) {
  const raw = (name: string): string | undefined => env[name]?.trim() || undefined;
  const check = (good: boolean, problem: string): boolean => {
    if (!good) problems.push(problem);
    return good;
  };
  const self = {
    check,
    missing(name: string, example: string): string {
      if (!raw(name)) problems.push(`${name} is required, for example ${example}`);
      return '';
    },
    text: (name: string, fallback: string): string => raw(name) ?? fallback,
    list: (name: string): readonly string[] =>
      (raw(name) ?? '')
        .split(',')
        .map((item) => item.trim())
        .filter(Boolean),
    oneOf<const T extends string>(name: string, values: readonly T[], fallback: T): T {
      const value = raw(name) ?? fallback;
      check((values as readonly string[]).includes(value), `${name}: ${value} is not one of ${values.join(', ')}`);
      return value as T;
    },
    /** Answers lower case, whichever the value is in. */
    hex: (name: string, pattern: RegExp, what: string): string | null =>
      self.matching(name, new RegExp(pattern, 'i'), what)?.toLowerCase() ?? null,
    matching(name: string, pattern: RegExp, what: string): string | null {
      const value = raw(name);
      if (value === undefined) return null;
      // The value may be a secret: it is never printed.
      return check(pattern.test(value), `${name} is not ${what}`) ? value : null;
    },
    url(name: string, protocol: RegExp): string | null {
      const value = raw(name);
      if (value === undefined) return null;
      const parsed = URL.canParse(value) ? new URL(value) : null;
      check(
        parsed !== null && protocol.test(parsed.protocol),
        `${name} is no URL of the expected kind (${protocol.source})`,
      );
      return value;
    },
    integer: (name: string, fallback: number, min: number, max: number): number =>
      self.optionalInteger(name, min, max) ?? fallback,
    optionalInteger(name: string, min: number, max: number): number | undefined {
      const value = raw(name);
      if (value === undefined) return undefined;
      const number = Number(value);
      check(
        Number.isInteger(number) && number >= min && number <= max,
        `${name}: ${value} is no whole number from ${min} to ${max}`,
      );
      return number;
    },
    whole: (name: string, fallback: bigint): bigint => self.optionalWhole(name) ?? fallback,
    optionalWhole(name: string): bigint | undefined {
      const value = raw(name);
      if (value === undefined) return undefined;
      return check(/^\d{1,15}$/.test(value), `${name}: ${value} is no whole number`) ? BigInt(value) : undefined;
    },
    microUsd(name: string, fallback: string): bigint {
      const amount = parseAmount(raw(name) ?? fallback, 6);
      check(typeof amount === 'bigint', `${name}: ${raw(name)} is no amount like 0.01 with at most 6 decimals`);
      return typeof amount === 'bigint' ? amount : 0n;
    },
    depth(name: string): DepthSetting | undefined {
      const value = raw(name);
      if (value === undefined) return undefined;
      const match = /^(?:(\d{1,5})|(safe|finalized)(?:\+(\d{1,5}))?)$/.exec(value);
      if (!check(match !== null, `${name}: ${value} is neither blocks (12), a tag (finalized) nor both (finalized+15)`))
        return undefined;
      return { blocks: Number(match?.[1] ?? match?.[3] ?? 0), tag: (match?.[2] as DepthSetting['tag']) ?? null };
    },
  };
  return self;
}
