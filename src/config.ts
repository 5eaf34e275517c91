/** Configuration comes from the environment only; .env.example explains every variable. A wrong value names itself and stops the start. */
import { type Chain, chainOf, chains, onTestNetworks } from '../domain/chains.ts';
import { type RegistrationPolicy, registrationPolicies } from './accounts/deps.ts';
import { isSender, type MailSettings } from './accounts/smtp.ts';
import { defaultOpenLimits, type OpenLimits } from './api/openPlaces.ts';
import { defaultRates, type RateLimits, type RateName } from './api/rateLimits.ts';
import { type ConnectionLimits, defaultConnectionLimits } from './api/server.ts';
import { familyOf, readTreasuries, type Treasuries } from './chains/families.ts';
import type { SpendingLimits } from './chains/money/spending.ts';
import { type ChainSettings, readChainSettings } from './chains/settings.ts';
import { type HeadSettings, readHeads } from './environment/heads.ts';
import { withKeystore } from './environment/keystore.ts';
import { createReader, type Env, type Reader } from './environment/reader.ts';
import { isBlock } from './security/publicAddress.ts';
import { readSigner, type SignerSettings } from './signer/settings.ts';
import { embedded, isInClear, storeAddress } from './store/address.ts';

/** `signer` holds the treasury's keys for the others, and stands alone. `audit` runs the auditor's verifier once a night. */
export const roles = ['api', 'projections', 'subscribers', 'signer', 'audit'] as const;
export type Role = (typeof roles)[number];
const usualRoles: readonly Role[] = ['api', 'projections', 'subscribers'];

export interface Config {
  readonly mode: 'production' | 'sandbox';
  readonly roles: readonly Role[];
  readonly host: string;
  readonly port: number;
  /** Where callers reach the service, without a slash at the end; null: where it listens, which only a sandbox's callers reach. */
  readonly publicUrl: string | null;
  /** Where operators read health, readiness and metrics. */
  readonly operations: { readonly host: string; readonly port: number; readonly names: readonly string[] };
  /** Whose X-Forwarded-For is believed, as CIDR blocks. */
  readonly trustedProxies: readonly string[];
  readonly connections: ConnectionLimits;
  readonly rates: RateLimits;
  /** Into how many parts webhooks and expiry are divided, for as many instances at most. The same everywhere. */
  readonly workerShares: number;
  readonly open: OpenLimits;
  readonly dataDir: string;
  readonly databaseUrl: string;
  /** Of the role `analyst`, which reads schema `analytics`; null: the role is left as it is. */
  readonly analystPassword: string | null;
  /** Null: the service runs its own embedded node under dataDir. */
  readonly eventStoreUrl: string | null;
  readonly masterKey: string;
  readonly treasuries: Treasuries;
  /** What the keys may spend, where they are. */
  readonly signer: SpendingLimits;
  readonly signing: SignerSettings;
  readonly chains: readonly ChainSettings[];
  readonly fee: { readonly fixed_microUsd: bigint; readonly basisPoints: number };
  /** Heads of the log: the keys that sign them, as hex, and what comes first of so many events and minutes. */
  readonly heads: HeadSettings;
  /** Attestation service of CCTP, without a path; null: nothing is rebalanced. */
  readonly attestationsUrl: string | null;
  /** When the role `audit` begins, each day: `HH:MM`, UTC. */
  readonly auditAt: string;
  /** Deposits are swept to the treasury by schedule. `every_min`: null is not at all. */
  readonly sweeps: { readonly every_min: number | null; readonly least_microUsd: bigint };
  /** A payout that its receiver cannot take is given up after so long; never when 0. */
  readonly payoutImpossible_hours: number;
  /** How long an owner's change of the settlement wallet waits. */
  readonly settlementCoolDown_hours: number;
  /** Of money that operators send out of the treasury. */
  readonly withdrawals: {
    /** How long an address stands in the book before money may be sent to it. */
    readonly addressCoolDown_hours: number;
    /** What may leave within a day on one operator's word. */
    readonly approval_usd: bigint;
  };
  /** Who may register apps of his own. */
  readonly registration: RegistrationPolicy;
  /** Null: no mail is sent, and so nobody signs in. */
  readonly mail: MailSettings | null;
  /** Where that mail can be read instead of being sent on; for trying out. */
  readonly mailboxUrl: string | null;
  /** Whom the sign-in page offers to a newcomer; for trying out. */
  readonly demoEmail: string | null;
  readonly cashback: {
    /** What payers earn of the payments that are created. */
    readonly basisPoints: number;
    /** Where paying by credit is, below the public URL: empty, or like `/cashback`. */
    readonly path: string;
  };
  readonly webhook: { readonly caFile: string | null; readonly allowedCidrs: readonly string[] };
  readonly logLevel: string;
  readonly crashAt: string | null;
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];
  /** Of the message: a problem may quote a variable, which begins no line of its own. */
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

/** Where callers reach the service, without a slash at the end. Pages, cookies and links are made for the root of a host. */
function readPublicUrl(read: Reader, production: boolean): string | null {
  const text = read.url('PUBLIC_URL', /^https?:$/);
  if (text === null || !URL.canParse(text)) return text;
  const { protocol, username, password, pathname, search, hash, origin } = new URL(text);
  const check = (isFine: boolean, problem: string) => read.check(isFine, `PUBLIC_URL ${problem}`);
  check(username === '' && password === '', 'holds a user name or password: every link to pay would show them');
  check(/^\/*$/.test(pathname), 'has a path: the service needs a host of its own, such as https://pay.example.com');
  check(search === '' && hash === '' && !/[?#]/.test(text), 'has a query or a fragment: write scheme and host alone');
  check(
    !production || protocol === 'https:',
    'must begin with https:// in production: pages for payments are not sent in clear',
  );
  return origin;
}

/** @throws ConfigError that names every problem at once */
export function readConfig(env: Env): Config {
  const problems: string[] = [];
  const read = createReader(withKeystore(env, problems), problems);
  const mode = read.oneOf('MODE', ['production', 'sandbox'], 'production');
  const production = mode === 'production';
  const served = chains.flatMap((chain) => {
    const { choosesDepth, hasPushes = false, hasBatches = false, coinDecimals } = familyOf(chain);
    return readChainSettings(read, chain, { choosesDepth, hasPushes, hasBatches, coinDecimals, production }) ?? [];
  });
  const chosen = read.list('ROLES');
  const isSigner = chosen.includes('signer');
  const eventStore = read.parsed('EVENTSTORE_URL', (url) =>
    url === embedded ? { url: null, inClear: false } : { url, inClear: isInClear(storeAddress(url)) },
  );
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
      .filter((block) => read.check(isBlock(block), `TRUSTED_PROXIES: ${block} is no CIDR block like 10.1.0.0/16`)),
    ...readLimits(read),
    dataDir: read.text('DATA_DIR', './data'),
    databaseUrl:
      read.url('DATABASE_URL', /^postgres(ql)?:$/) ??
      (isSigner ? '' : read.missing('DATABASE_URL', 'postgres://user:password@host:5432/payments')),
    analystPassword: read.matching('ANALYST_PASSWORD', /^[\x21-\x7e]{16,128}$/, '16 to 128 letters, digits and signs'),
    eventStoreUrl: eventStore === null ? (defaultStore?.url ?? null) : eventStore.url,
    masterKey:
      read.hex('MASTER_KEY', /^[0-9a-f]{64}$/, '64 hex digits: `openssl rand -hex 32`') ??
      read.missing('MASTER_KEY', '64 hex digits'),
    treasuries: readTreasuries(read, familiesOf(served), production),
    signer: {
      perTransfer_usd: read.whole('SIGNER_MAX_TRANSFER_USD', 10_000n),
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
    attestationsUrl: read.url('CCTP_ATTESTATIONS_URL', /^https?:$/)?.replace(/\/+$/, '') ?? null,
    auditAt: read.matching('AUDIT_AT', /^([01]\d|2[0-3]):[0-5]\d$/, 'a time of the day in UTC like 03:00') ?? '03:00',
    sweeps: {
      every_min: read.integer('SWEEP_EVERY_MINUTES', 0, 0, 44_640) || null,
      least_microUsd: read.microUsd('SWEEP_MIN_USD', '5'),
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
      'EVENTSTORE_URL has tls=false: beyond this machine the event store must be reached with TLS, or nobody else be in its network (EVENTSTORE_NETWORK=private)',
    );
  if (production && !isSigner && !read.given('EVENTSTORE_URL') && !read.given('EVENTSTORE_DEFAULT_URL'))
    problems.push(
      'EVENTSTORE_URL is required in production: name a store such as esdb://host:2113, or `embedded` for a trial or a small installation on one machine',
    );
  if (production) problems.push(...productionProblems(config));
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** Mail needs a server and a sender, or neither is set. */
function readMail(read: Reader): MailSettings | null {
  const url = read.url('SMTP_URL', /^smtps?:$/);
  const from = read.accepted('MAIL_FROM', isSender, 'a sender like Payments <no-reply@example.com>');
  if (url !== null && from !== null) return { url, from };
  read.check(
    url === null || read.given('MAIL_FROM'),
    'MAIL_FROM is required beside SMTP_URL, for example Payments <no-reply@example.com>',
  );
  return null;
}

const countMax = 1_000_000_000;

/** What callers may hold open, and how often they may ask. */
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
    },
    open: {
      openPerAppMax: read.integer('OPEN_PER_APP', defaultOpenLimits.openPerAppMax, 0, countMax),
      keylessOpenPerAppMax: read.integer('KEYLESS_OPEN_PER_APP', defaultOpenLimits.keylessOpenPerAppMax, 0, countMax),
    },
  };
}

/** An installation without any chain is told what most need: a treasury for EVM chains. */
const familiesOf = (served: readonly ChainSettings[]): ReadonlySet<Chain['family']> =>
  new Set(served.length > 0 ? served.map(({ chainId }) => chainOf(chainId).family) : ['evm']);

/** The payouts of all chains run in one instance, for its limits count over all of them: it has every key or none. */
function missingKeys({ roles: chosen, treasuries }: Config): string[] {
  const held = Object.values(treasuries).filter((treasury) => treasury !== null);
  const some = chosen.includes('subscribers') && held.some(({ key }) => key !== null);
  if (!some || held.every(({ key }) => key !== null)) return [];
  return ['an instance that pays out needs the treasury key of every chain that it serves, or none'];
}

/** Keys are in one place: with the signer, or without one where they are used. */
function signerProblems({ roles: chosen, signing, treasuries, eventStoreUrl, chains: served }: Config): string[] {
  const problems: string[] = [];
  const held = Object.values(treasuries).filter((treasury) => treasury !== null);
  if (signing.remote !== null && held.some(({ key }) => key !== null))
    problems.push('SIGNER_URL and treasury keys: the keys are with the signer alone, take them out here');
  if (signing.remote !== null && served.some(({ payoutBatch }) => payoutBatch))
    problems.push(
      'SIGNER_URL and PAYOUT_BATCH_<chainId>: a signer of its own signs each payout by itself, unset one of the two',
    );
  if (signing.remote !== null && treasuries.solana?.referenceKey === null)
    problems.push(
      'SOLANA_REFERENCE_KEY is required beside SIGNER_URL where Solana is served: `npm run keystore -- public` prints it',
    );
  if (!chosen.includes('signer')) return problems;
  if (chosen.length > 1) problems.push('ROLES: signer stands alone: nobody else runs where the keys are');
  if (held.some(({ key }) => key === null))
    problems.push('ROLES: signer needs the key of the treasury of every chain that it serves');
  if (eventStoreUrl === null)
    problems.push(
      'EVENTSTORE_URL is required with the role signer: it reads the log by itself, and keeps one of its own',
    );
  return problems;
}

function productionProblems(config: Config): string[] {
  const problems: string[] = [];
  if (config.roles.includes('api') && config.publicUrl === null)
    problems.push(
      'PUBLIC_URL is required with the role api, for example https://pay.example.com: links to pay, logos and the texts that buyers sign begin with it',
    );
  if (onTestNetworks)
    problems.push('--conditions=test-networks serves test networks: start without it, or set MODE=sandbox');
  if (config.crashAt) problems.push('CRASH_AT is for tests: unset it or set MODE=sandbox');
  if (config.settlementCoolDown_hours === 0)
    problems.push(
      'SETTLEMENT_COOLDOWN_HOURS: 0 is for tests: whoever takes over a session would take the money with it',
    );
  if (config.withdrawals.addressCoolDown_hours === 0)
    problems.push(
      'TREASURY_ADDRESS_COOLDOWN_HOURS: 0 is for tests: whoever gets at an operator’s terminal would send the money to himself',
    );
  if (/^(.)\1*$/.test(config.masterKey))
    problems.push('MASTER_KEY is a placeholder: make one with `openssl rand -hex 32`');
  if (config.mailboxUrl !== null) problems.push('MAILBOX_URL is for trying out: unset it or set MODE=sandbox');
  if (config.demoEmail !== null) problems.push('DEMO_EMAIL is for trying out: unset it or set MODE=sandbox');
  if (['open', 'invited'].includes(config.registration) && config.mail === null)
    problems.push('REGISTRATION needs mail: set SMTP_URL and MAIL_FROM, or leave it closed');
  return problems;
}
