/**
 * Configuration comes only from the environment; .env.example explains every variable. A wrong value is reported by name and stops the
 * start.
 */
import { type Chain, chainOf, chains, onTestNetworks } from '../domain/chains.ts';
import type { RelayLimits } from '../domain/relay/gas.ts';
import { type RegistrationPolicy, registrationPolicies } from './accounts/deps.ts';
import { isSender, type MailSettings } from './accounts/smtp.ts';
import { defaultOpenLimits, defaultRates, type OpenLimits, type RateLimits, type RateName } from './api/rateLimits.ts';
import { type ConnectionLimits, defaultConnectionLimits } from './api/server.ts';
import { familyFor, readTreasuries, type Treasuries } from './chains/families.ts';
import type { SpendingLimits } from './chains/money/spending.ts';
import { type ChainSettings, readChainSettings } from './chains/settings.ts';
import { type FloatPolicies, readFloatPolicy } from './environment/floats.ts';
import { type HeadSettings, readHeads } from './environment/heads.ts';
import { withKeystore } from './environment/keystore.ts';
import { createReader, type Env, type Reader, withoutSecrets } from './environment/reader.ts';
import { isBlock } from './security/publicAddress.ts';
import { readSigner, type SignerSettings } from './signer/settings.ts';
import { embedded, isInClear, storeAddress } from './store/address.ts';

/** `signer` holds the treasury's keys for the other instances, and runs alone. `audit` runs the auditor's verifier once a night. */
export const roles = ['api', 'projections', 'subscribers', 'signer', 'audit'] as const;
export type Role = (typeof roles)[number];
const usualRoles: readonly Role[] = ['api', 'projections', 'subscribers'];

export const eventStoreClients = ['eventstoredb', 'kurrentdb'] as const;
export type EventStoreClient = (typeof eventStoreClients)[number];

export interface Config {
  readonly mode: 'production' | 'sandbox';
  readonly roles: readonly Role[];
  readonly host: string;
  readonly port: number;
  /** Public URL of the service, without a trailing slash; null: its listening address, which only a sandbox's callers reach. */
  readonly publicUrl: string | null;
  /** Address at which operators read health, readiness and metrics. */
  readonly operations: { readonly host: string; readonly port: number; readonly names: readonly string[] };
  /** Proxies whose X-Forwarded-For is trusted, as CIDR blocks. */
  readonly trustedProxies: readonly string[];
  readonly connections: ConnectionLimits;
  readonly rates: RateLimits;
  /** Number of shares of webhooks and expiry, which is the maximum of instances for them. Equal on every instance. */
  readonly workerShares: number;
  readonly open: OpenLimits;
  readonly dataDir: string;
  readonly databaseUrl: string;
  /** Streaming replica of the same Postgres for lists, statistics and exports; null: the primary answers them. */
  readonly databaseReadUrl: string | null;
  /** Password of the role `analyst`, which reads schema `analytics`; null: the role is unchanged. */
  readonly analystPassword: string | null;
  /** Null: the service runs its own embedded node under dataDir. */
  readonly eventStoreUrl: string | null;
  /** Package of the client: `@eventstore/db-client`, or the optional `@kurrent/kurrentdb-client`. */
  readonly eventStoreClient: EventStoreClient;
  readonly masterKey: string;
  readonly treasuries: Treasuries;
  /** Spending limits of the keys, on the instance that has them. */
  readonly signer: SpendingLimits;
  readonly signing: SignerSettings;
  readonly chains: readonly ChainSettings[];
  readonly fee: { readonly fixed_microUsd: bigint; readonly basisPoints: number };
  /** Heads of the log: their keys as hex, and the number of events or minutes after which the next one is signed. */
  readonly heads: HeadSettings;
  /** Attestation service of CCTP, without a path. Null disables rebalances by burn and mint. */
  readonly attestationsUrl: string | null;
  /** True if operators may move USDT by USDT0, which trusts LayerZero's verifiers. */
  readonly usdt0: boolean;
  /** Policy that moves money between the treasury's floats. */
  readonly floatPolicy: FloatPolicies;
  /** Daily start of the role `audit`: `HH:MM`, UTC. */
  readonly auditAt: string;
  /** Scheduled sweeps of deposits. `every_min`: null means never. */
  readonly sweeps: { readonly every_min: number | null; readonly least_microUsd: bigint };
  /** Limits of the gas that relays pay. */
  readonly relays: RelayLimits;
  /** Hours after which a payout that its receiver cannot receive is given up; 0 means never. */
  readonly payoutImpossible_hours: number;
  /** Cool-down of an owner's change of the settlement wallet. */
  readonly settlementCoolDown_hours: number;
  /** Withdrawals of operators from the treasury. */
  readonly withdrawals: {
    /** Cool-down of a new address in the address book. */
    readonly addressCoolDown_hours: number;
    /** Daily limit without a second operator's approval. */
    readonly approval_usd: bigint;
  };
  /** File or URL with daily rates of currencies for accounting; null: amounts are in dollars only. */
  readonly fiatRates: string | null;
  /** Policy for registering apps. */
  readonly registration: RegistrationPolicy;
  /** Null: no mail is sent, so nobody can sign in. */
  readonly mail: MailSettings | null;
  /** URL where mail can be read instead of being sent; for trials. */
  readonly mailboxUrl: string | null;
  /** E-mail address that the sign-in page suggests; for trials. */
  readonly demoEmail: string | null;
  readonly cashback: {
    /** Cashback of new payments. */
    readonly basisPoints: number;
    /** Path of payments by credit below the public URL: empty, or like `/cashback`. */
    readonly path: string;
  };
  readonly webhook: { readonly caFile: string | null; readonly allowedCidrs: readonly string[] };
  readonly logLevel: string;
  readonly crashAt: string | null;
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];
  /** Lines of the message: a problem may quote a variable, which must not begin a line. */
  readonly lines: readonly string[];
  constructor(problems: readonly string[]) {
    const lines = [
      'the configuration is not usable:',
      ...problems.map((problem) => `  - ${problem}`),
      'See .env.example for every variable.',
    ];
    super(lines.join('\n'));
    this.problems = problems;
    this.lines = lines;
  }
}

const workerSharesMax = 64;

/** Public URL of the service, without a trailing slash. Pages, cookies and links require the root of a host. */
function readPublicUrl(read: Reader, production: boolean): string | null {
  const text = read.url('PUBLIC_URL', /^https?:$/);
  if (text === null || !URL.canParse(text)) return text;
  const { protocol, username, password, pathname, search, hash, origin } = new URL(text);
  const check = (isFine: boolean, problem: string) => read.check(isFine, `PUBLIC_URL ${problem}`);
  check(username === '' && password === '', 'contains a user name or password: every payment link would show them');
  check(/^\/*$/.test(pathname), 'has a path: the service needs its own host, such as https://pay.example.com');
  check(search === '' && hash === '' && !/[?#]/.test(text), 'has a query or a fragment: use only scheme and host');
  check(!production || protocol === 'https:', 'must start with https:// in production');
  return origin;
}

/**
 * @param readerOf documentation passes a reader that notes every setting
 * @throws ConfigError that names every problem at once
 */
export function readConfig(env: Env, readerOf: typeof createReader = createReader): Config {
  const problems: string[] = [];
  const read = readerOf(withKeystore(env, problems), problems);
  const mode = read.oneOf('MODE', ['production', 'sandbox'], 'production');
  const production = mode === 'production';
  const served = chains.flatMap((chain) => {
    const { choosesDepth, hasPushes = false, hasBatches = false, coinDecimals } = familyFor(chain);
    return readChainSettings(read, chain, { choosesDepth, hasPushes, hasBatches, coinDecimals, production }) ?? [];
  });
  const chosen = read.list('ROLES');
  const isSigner = chosen.includes('signer');
  const eventStore = read.parsed('EVENTSTORE_URL', (url) =>
    url === embedded ? { url: null, inClear: false } : { url, inClear: isInClear(storeAddress(url)) },
  );
  const perTransfer_usd = read.whole('SIGNER_MAX_TRANSFER_USD', 10_000n);
  const attestationsUrl = read.url('CCTP_ATTESTATIONS_URL', /^https?:$/)?.replace(/\/+$/, '') ?? null;
  const usdt0 = read.oneOf('USDT0_REBALANCES', ['off', 'on'], 'off') === 'on';
  const defaultStore = read.parsed('EVENTSTORE_DEFAULT_URL', (url) => ({ url, address: storeAddress(url) }));
  const config: Config = {
    mode,
    roles:
      chosen.length > 0
        ? chosen.filter((role): role is Role =>
            read.check((roles as readonly string[]).includes(role), `ROLES: ${role} is not one of ${roles.join(', ')}`),
          )
        : usualRoles,
    host: read.text('HOST', '127.0.0.1'),
    workerShares: read.integer('WORKER_SHARES', 1, 1, workerSharesMax),
    port: read.integer('PORT', 3000, 0, 65_535),
    publicUrl: readPublicUrl(read, production),
    operations: {
      host: read.text('OPERATIONS_HOST', '127.0.0.1'),
      names: read.text('OPERATIONS_NAMES', '').toLowerCase().split(',').filter(Boolean),
      port: read.integer('OPERATIONS_PORT', 3001, 0, 65_535),
    },
    trustedProxies: read
      .list('TRUSTED_PROXIES')
      .filter((block) => read.check(isBlock(block), `TRUSTED_PROXIES: ${block} is not a CIDR block like 10.1.0.0/16`)),
    ...readLimits(read),
    dataDir: read.text('DATA_DIR', './data'),
    databaseUrl:
      read.url('DATABASE_URL', /^postgres(ql)?:$/) ??
      (isSigner ? '' : read.missing('DATABASE_URL', 'postgres://user:password@host:5432/payments')),
    databaseReadUrl: read.url('DATABASE_READ_URL', /^postgres(ql)?:$/),
    analystPassword: read.matching('ANALYST_PASSWORD', /^[\x21-\x7e]{16,128}$/, '16 to 128 letters, digits and signs'),
    eventStoreUrl: eventStore === null ? (defaultStore?.url ?? null) : eventStore.url,
    eventStoreClient: read.oneOf('EVENTSTORE_CLIENT', eventStoreClients, 'eventstoredb'),
    masterKey:
      read.hex('MASTER_KEY', /^[0-9a-f]{64}$/, '64 hex digits: `openssl rand -hex 32`') ??
      read.missing('MASTER_KEY', '64 hex digits'),
    treasuries: readTreasuries(read, familiesOf(served), production),
    signer: {
      perTransfer_usd,
      perHour_usd: read.whole('SIGNER_MAX_HOUR_USD', 100_000n),
      appShare_percent: read.integer('SIGNER_APP_SHARE_PERCENT', 50, 1, 100),
    },
    signing: readSigner(read, isSigner),
    chains: served,
    fee: {
      fixed_microUsd: read.microUsd('FEE_FIXED_USD', '0.01'),
      basisPoints: read.integer('FEE_BASIS_POINTS', 10, 0, 10_000),
    },
    heads: readHeads(read, new Set(served.map(({ chainId }) => chainId))),
    attestationsUrl,
    usdt0,
    floatPolicy: readFloatPolicy(read, {
      served: new Set(served.map(({ chainId }) => chainId)),
      hasAttestations: attestationsUrl !== null,
      usdt0,
      perTransfer_usd,
    }),
    auditAt: read.matching('AUDIT_AT', /^([01]\d|2[0-3]):[0-5]\d$/, 'a time of the day in UTC like 03:00') ?? '03:00',
    sweeps: {
      every_min: read.integer('SWEEP_EVERY_MINUTES', 0, 0, 44_640) || null,
      least_microUsd: read.microUsd('SWEEP_MIN_USD', '5'),
    },
    relays: {
      perRelay_microUsd: read.microUsd('RELAY_MAX_USD', '1'),
      perPayerHour_microUsd: read.microUsd('RELAY_PAYER_HOUR_USD', '2'),
      perAppHour_microUsd: read.microUsd('RELAY_APP_HOUR_USD', '20'),
      perHour_microUsd: read.microUsd('RELAY_HOUR_USD', '50'),
      aboveFee_microUsd: read.microUsd('RELAY_ABOVE_FEE_USD', '0.01'),
    },
    payoutImpossible_hours: read.integer('PAYOUT_IMPOSSIBLE_HOURS', 0, 0, 8_760),
    settlementCoolDown_hours: read.integer('SETTLEMENT_COOLDOWN_HOURS', 48, 0, 720),
    withdrawals: {
      addressCoolDown_hours: read.integer('TREASURY_ADDRESS_COOLDOWN_HOURS', 24, 0, 720),
      approval_usd: read.whole('TREASURY_APPROVAL_USD', 1_000n),
    },
    registration: read.oneOf('REGISTRATION', registrationPolicies, mode === 'sandbox' ? 'open' : 'closed'),
    mail: readMail(read),
    mailboxUrl: read.url('MAILBOX_URL', /^https?:$/),
    demoEmail: read.text('DEMO_EMAIL', '') || null,
    cashback: {
      basisPoints: read.integer('CASHBACK_BASIS_POINTS', 0, 0, 10_000),
      path:
        read.matching(
          'CASHBACK_PATH',
          /^(\/[A-Za-z0-9._~-]+)+$/,
          'a path like /cashback, without a slash at its end',
        ) ?? '',
    },
    fiatRates: read.matching('FIAT_RATES', /^(https:\/\/\S{1,2000}|\/\S{1,1000})$/, 'an https URL or an absolute path'),
    webhook: { caFile: read.text('WEBHOOK_CA_FILE', '') || null, allowedCidrs: read.list('WEBHOOK_ALLOWED_CIDRS') },
    logLevel: read.oneOf('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
    crashAt: read.text('CRASH_AT', '') || null,
  };
  if (config.chains.length === 0)
    problems.push('RPC_URLS_<chainId>: name at least one chain, for example RPC_URLS_8453=https://…');
  problems.push(...missingKeys(config), ...signerProblems(config));
  const isShared = read.oneOf('EVENTSTORE_NETWORK', ['shared', 'private'], 'shared') === 'shared';
  if (production && isShared && eventStore?.inClear)
    problems.push(
      'EVENTSTORE_URL has tls=false: use TLS for an event store on another machine, or set EVENTSTORE_NETWORK=private if only this service is in its network',
    );
  if (production && !isSigner && !read.given('EVENTSTORE_URL') && !read.given('EVENTSTORE_DEFAULT_URL'))
    problems.push(
      'EVENTSTORE_URL is required in production: name a store such as esdb://host:2113, or `embedded` for a trial or a small installation on one machine',
    );
  if (config.eventStoreClient === 'kurrentdb' && config.eventStoreUrl === null)
    problems.push(
      'EVENTSTORE_CLIENT=kurrentdb reaches no embedded event store: name a server in EVENTSTORE_URL, or remove EVENTSTORE_CLIENT',
    );
  if (production) problems.push(...productionProblems(config));
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** Mail needs both a server and a sender, or neither. */
function readMail(read: Reader): MailSettings | null {
  const url = read.url('SMTP_URL', /^smtps?:$/);
  const from = read.accepted('MAIL_FROM', isSender, 'a sender like Payments <no-reply@example.com>');
  if (url !== null && from !== null) return { url, from };
  read.check(
    url === null || read.given('MAIL_FROM'),
    'MAIL_FROM is required with SMTP_URL, for example Payments <no-reply@example.com>',
  );
  return null;
}

const countMax = 1_000_000_000;

/** Limits on connections and rates of callers. */
function readLimits(read: Reader): Pick<Config, 'connections' | 'rates' | 'open'> {
  const wait_ms = (name: string, fallback: number) => read.integer(name, fallback, 100, 300_000);
  const rate = (name: RateName, variable: string) => ({
    ...defaultRates[name],
    requestsMax: read.integer(variable, defaultRates[name].requestsMax, 0, countMax),
  });
  const { connectionsMax, connectionsPerAddressMax, headersTimeout_ms, requestTimeout_ms } = defaultConnectionLimits;
  return {
    connections: {
      connectionsMax: read.integer('CONNECTIONS_MAX', connectionsMax, 1, countMax),
      connectionsPerAddressMax: read.integer('CONNECTIONS_PER_ADDRESS_MAX', connectionsPerAddressMax, 1, countMax),
      headersTimeout_ms: wait_ms('HEADERS_TIMEOUT_MS', headersTimeout_ms),
      requestTimeout_ms: wait_ms('REQUEST_TIMEOUT_MS', requestTimeout_ms),
    },
    rates: {
      ...defaultRates,
      address: rate('address', 'RATE_PER_ADDRESS'),
      key: rate('key', 'RATE_PER_KEY'),
      app: rate('app', 'RATE_PER_APP'),
      keylessCreation: rate('keylessCreation', 'KEYLESS_RATE_PER_ADDRESS'),
      keylessOpen: rate('keylessOpen', 'KEYLESS_OPEN_PER_ADDRESS'),
      linkOpen: rate('linkOpen', 'LINK_OPEN_PER_APP'),
      signIn: rate('signIn', 'SIGN_IN_PER_ADDRESS'),
      signInEmail: rate('signInEmail', 'SIGN_IN_PER_EMAIL'),
      signInKnown: rate('signInKnown', 'SIGN_IN_PER_BROWSER'),
      registration: rate('registration', 'REGISTRATIONS_PER_ADDRESS'),
      notice: defaultRates.notice,
      invitation: defaultRates.invitation,
    },
    open: {
      openPerAppMax: read.integer('OPEN_PER_APP', defaultOpenLimits.openPerAppMax, 0, countMax),
      keylessOpenPerAppMax: read.integer('KEYLESS_OPEN_PER_APP', defaultOpenLimits.keylessOpenPerAppMax, 0, countMax),
    },
  };
}

/** Without any chain, assumes the usual need: a treasury for EVM chains. */
const familiesOf = (served: readonly ChainSettings[]): ReadonlySet<Chain['family']> =>
  new Set(served.length > 0 ? served.map(({ chainId }) => chainOf(chainId).family) : ['evm']);

/** One instance makes the payouts of all chains, because its limits count over all of them: it has every key or none. */
function missingKeys({ roles: chosen, treasuries }: Config): string[] {
  const held = Object.values(treasuries).filter((treasury) => treasury !== null);
  const some = chosen.includes('subscribers') && held.some(({ key }) => key !== null);
  if (!some || held.every(({ key }) => key !== null)) return [];
  return [
    'an instance with the role subscribers needs the treasury keys of all its chains, or none: add the missing keys or remove all',
  ];
}

/** Keys are in one place: at the signer, or on the instance that uses them. */
function signerProblems({ roles: chosen, signing, treasuries, eventStoreUrl, chains: served }: Config): string[] {
  const problems: string[] = [];
  const held = Object.values(treasuries).filter((treasury) => treasury !== null);
  if (signing.remote !== null && held.some(({ key }) => key !== null))
    problems.push('SIGNER_URL and treasury keys are both set: only the signer holds the keys, so remove them here');
  if (signing.remote !== null && served.some(({ payoutBatch }) => payoutBatch))
    problems.push(
      'SIGNER_URL and PAYOUT_BATCH_<chainId>: a separate signer signs each payout alone, so unset one of the two',
    );
  if (signing.remote !== null && treasuries.solana?.referenceKey === null)
    problems.push(
      'SOLANA_REFERENCE_KEY is required with SIGNER_URL if Solana is served: `npm run keystore -- public` prints it',
    );
  if (signing.remote === null && treasuries.solana?.relay?.key && treasuries.solana.key === null)
    problems.push(
      'SOLANA_RELAY_PRIVATE_KEY needs SOLANA_TREASURY_PRIVATE_KEY and SOLANA_DEPOSIT_SEED beside it, or SIGNER_URL: only the seed proves that a deposit is ours',
    );
  if (!chosen.includes('signer')) return problems;
  if (chosen.length > 1) problems.push('ROLES: signer must be the only role of its instance');
  if (held.some(({ key }) => key === null))
    problems.push('ROLES: signer needs the key of the treasury of every chain that it serves');
  if (eventStoreUrl === null)
    problems.push('EVENTSTORE_URL is required with the role signer, which reads the service’s log');
  return problems;
}

function productionProblems(config: Config): string[] {
  const problems: string[] = [];
  if (config.roles.includes('api') && config.publicUrl === null)
    problems.push(
      'PUBLIC_URL is required with the role api, for example https://pay.example.com: links to pay, logos and the texts that buyers sign begin with it',
    );
  if (onTestNetworks) problems.push('--conditions=test-networks serves test networks: remove it, or set MODE=sandbox');
  if (config.crashAt) problems.push('CRASH_AT is for tests: unset it or set MODE=sandbox');
  if (config.settlementCoolDown_hours === 0)
    problems.push(
      'SETTLEMENT_COOLDOWN_HOURS: 0 is for tests. In production, use at least 1: an intruder in a session could redirect the money',
    );
  if (config.withdrawals.addressCoolDown_hours === 0)
    problems.push(
      'TREASURY_ADDRESS_COOLDOWN_HOURS: 0 is for tests. In production, use at least 1: an intruder at a terminal could withdraw the money',
    );
  if (/^(.)\1*$/.test(config.masterKey))
    problems.push('MASTER_KEY is a placeholder: create one with `openssl rand -hex 32`');
  if (config.mailboxUrl !== null) problems.push('MAILBOX_URL is for tests: unset it or set MODE=sandbox');
  if (config.demoEmail !== null) problems.push('DEMO_EMAIL is for tests: unset it or set MODE=sandbox');
  if (['open', 'invited'].includes(config.registration) && config.mail === null)
    problems.push('REGISTRATION is open or invited and needs mail: set SMTP_URL and MAIL_FROM, or set it to closed');
  return problems;
}

/** Startup message of an instance: public names and addresses only, without users, passwords, keys and providers' nodes. */
export interface Serves {
  /** Listening address. */
  readonly url: string;
  /** Address of health, readiness and metrics. */
  readonly operationsUrl: string;
  readonly mode: Config['mode'];
  readonly roles: Config['roles'];
  readonly chains: readonly string[];
  /** Address of the account that pays out, by family. */
  readonly treasuries: Readonly<Record<string, string>>;
  /** Host, port and name of each store. */
  readonly database: string;
  readonly eventStore: string;
}

const embeddedStore = 'embedded, for trials and small installations';

/** @param listening URLs of the server and of the event store in use, configured or embedded */
export function serves(
  { mode, roles, chains, treasuries, databaseUrl, eventStoreUrl }: Config,
  listening: { readonly url: string; readonly operationsUrl: string; readonly eventStoreUrl: string },
): Serves {
  const held = Object.entries(treasuries).flatMap(([family, treasury]) =>
    treasury ? [[family, treasury.address] as const] : [],
  );
  return {
    url: listening.url,
    operationsUrl: listening.operationsUrl,
    mode,
    roles,
    chains: chains.map(({ chainId }) => `${chainOf(chainId).name} (${chainId})`),
    treasuries: Object.fromEntries(held),
    database: withoutSecrets(databaseUrl),
    eventStore: eventStoreUrl === null ? embeddedStore : withoutSecrets(listening.eventStoreUrl),
  };
}
