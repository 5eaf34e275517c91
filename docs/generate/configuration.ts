/** Makes docs/reference/configuration.md from the code that reads the settings, and from the comments of .env.example. */
import { readFileSync } from 'node:fs';
import { chains } from '../../domain/chains.ts';
import { defaultEvmChainConfig, type FinalityDepth, feesOf, isEvmChain } from '../../src/chains/evm/config.ts';
import { defaultSolanaConfig } from '../../src/chains/solana/config.ts';
import { defaultStellarConfig } from '../../src/chains/stellar/config.ts';
import { ConfigError, readConfig, roles } from '../../src/config.ts';
import { createReader, type Env, type Reader } from '../../src/environment/reader.ts';

export interface Setting {
  readonly default: string;
  readonly values: string;
}

const kindsOfUrl: Readonly<Record<string, string>> = {
  '^https?:$': 'http or https URL',
  '^https:$': 'https URL',
  '^postgres(ql)?:$': 'postgres URL',
  '^smtps?:$': 'smtp or smtps URL',
};

const shown = (value: unknown): string => (value === '' || value === null ? '' : `\`${String(value)}\``);
const grouped = (number: unknown): string => Number(number).toLocaleString('en-US');

/** How each method of the reader states a default and the accepted values. */
const described: { readonly [M in keyof Reader]?: (args: readonly unknown[]) => Setting } = {
  missing: () => ({ default: '', values: '' }),
  text: ([, fallback]) => ({ default: shown(fallback), values: 'text' }),
  list: () => ({ default: '', values: 'list, separated by commas' }),
  oneOf: ([, values, fallback]) => ({
    default: shown(fallback),
    values: (values as readonly string[]).map((each) => `\`${each}\``).join(', '),
  }),
  hex: ([, , what]) => ({ default: '', values: String(what) }),
  matching: ([, , what]) => ({ default: '', values: String(what) }),
  accepted: ([, , what]) => ({ default: '', values: String(what) }),
  url: ([, protocol]) => ({ default: '', values: kindsOfUrl[(protocol as RegExp).source] ?? 'URL' }),
  parsed: () => ({ default: '', values: 'URL of an event store' }),
  integer: ([, fallback, least, most]) => ({
    default: shown(fallback),
    values: `${grouped(least)} to ${grouped(most)}`,
  }),
  optionalInteger: ([, least, most]) => ({ default: '', values: `${grouped(least)} to ${grouped(most)}` }),
  whole: ([, fallback]) => ({ default: shown(fallback), values: 'whole number, at most 15 digits' }),
  optionalWhole: () => ({ default: '', values: 'whole number, at most 15 digits' }),
  microUsd: ([, fallback]) => ({ default: shown(fallback), values: 'amount, at most 6 decimals' }),
};

const withNodes = (of: (id: string) => string | undefined): Env =>
  Object.fromEntries(chains.map(({ id }) => [`RPC_URLS_${id}`, of(String(id))]));

/** Every variable that readConfig reads if each chain has a node. Variables that no reader describes have empty facts. */
export function settingsRead(): ReadonlyMap<string, Setting> {
  const seen = new Map<string, Setting>();
  const env = new Proxy<Record<string, string | undefined>>(
    {},
    {
      get(_target, property) {
        const name = String(property);
        if (!seen.has(name)) seen.set(name, { default: '', values: '' });
        return /^RPC_URLS_\d+$/.test(name) ? 'https://node.example.com' : undefined;
      },
    },
  );
  const recording: typeof createReader = (from, problems) => {
    const reader = createReader(from, problems);
    const note = (name: string, setting: Setting): void => {
      // A variable that is read twice keeps the description that says more.
      if (!seen.get(name)?.values) seen.set(name, setting);
    };
    return Object.fromEntries(
      Object.entries(reader).map(([method, call]) => [
        method,
        (...args: readonly unknown[]) => {
          const describe = described[method as keyof Reader];
          if (describe) note(String(args[0]), describe(args));
          return (call as (...all: readonly unknown[]) => unknown)(...args);
        },
      ]),
    ) as Reader;
  };
  problemsOf(env, recording);
  return seen;
}

function problemsOf(env: Env, readerOf?: typeof createReader): readonly string[] {
  try {
    readConfig(env, readerOf);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems;
  }
}

interface Required {
  readonly roles: readonly string[];
  /** A variable that does instead. */
  readonly or: string | undefined;
}

/** Roles that do not start in production without the variable, where every chain has a node. */
export function requiredBy(): ReadonlyMap<string, Required> {
  const required = new Map<string, Required>();
  for (const role of roles) {
    const env = { ...withNodes(() => 'https://node.example.com'), ROLES: role };
    for (const problem of problemsOf(env)) {
      const [, first, , second] =
        /^([A-Z][A-Z0-9_]+)( or ([A-Z][A-Z0-9_]+))? (?:is|are) required\b/.exec(problem) ?? [];
      for (const [name, or] of [
        [first, second],
        [second, first],
      ] as const)
        if (name) required.set(name, { roles: [...(required.get(name)?.roles ?? []), role], or });
    }
  }
  return required;
}

interface Group {
  readonly text: string;
  readonly names: readonly string[];
  /** Values of the example, by name: of commented lines they are the defaults. */
  readonly examples: ReadonlyMap<string, string>;
}

interface Section {
  readonly title: string;
  readonly groups: readonly Group[];
}

const variable = /^(?:# )?([A-Z][A-Z0-9_]*)=(.*)/;

/** Sections of .env.example: comments with the variables that follow them. */
export function sectionsOf(example: string): readonly Section[] {
  const sections: { title: string; groups: { lines: string[]; names: string[]; examples: Map<string, string> }[] }[] =
    [];
  let open = false;
  for (const line of example.split('\n')) {
    const [, title] = /^# ── (.+?) ─+$/.exec(line) ?? [];
    const [, name, value = ''] = variable.exec(line) ?? [];
    const groups = sections.at(-1)?.groups;
    if (name !== undefined) groups?.at(-1)?.examples.set(name, value);
    if (title !== undefined) sections.push({ title, groups: [] });
    else if (line === '') open = false;
    else if (name !== undefined) groups?.at(-1)?.names.push(name);
    else if (open && groups?.at(-1)?.names.length === 0) groups.at(-1)?.lines.push(line.slice(2));
    else groups?.push({ lines: [line.slice(2)], names: [], examples: new Map() });
    if (title === undefined && line !== '') open = true;
  }
  return sections.map(({ title, groups }) => ({
    title,
    groups: groups.map(({ lines, names, examples }) => ({
      text: lines.join(' ').replace(/:$/, '.'),
      names,
      examples,
    })),
  }));
}

/** Markdown of a comment: page names become links, and angle brackets stay visible. */
const prose = (text: string): string =>
  text.replaceAll('<', '&lt;').replace(/docs\/([\w/-]+\/)?([\w-]+\.md)/g, (_whole, folder = '', file) => {
    const target = folder === 'reference/' ? file : `../${folder}${file}`;
    return `[${file}](${target})`;
  });

const withoutChain = (name: string): string =>
  name.replace(/_8453(?=$|_FILE$)/, '_<chainId>').replace(/^(RPC_URLS)_\d+$/, '$1_<chainId>');
const code = (name: string): string => `\`${withoutChain(name)}\``;
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

function sectionText({ title, groups }: Section, facts: Facts): string {
  const rows = groups.flatMap(({ names, examples }) =>
    [...new Set(names.map(withoutChain))].map((name) => rowOf(name, examples, facts)),
  );
  const table =
    rows.length > 0
      ? `\n\n| variable | default | values | required by |\n| --- | --- | --- | --- |\n${rows.join('\n')}`
      : '';
  const notes = groups.map(({ text, names }) =>
    names.length > 0 ? `- ${[...new Set(names.map(code))].join(', ')}: ${prose(text)}` : `- ${prose(text)}`,
  );
  return `## ${linked(title)}${table}\n\n${notes.join('\n')}`;
}

/** A heading has no link: its page is linked from the notes. */
const linked = (title: string): string => title.replace(/ \(docs\/[^)]*\)$/, '').replace(/^Per chain:.*/, 'Per chain');

interface Facts {
  readonly read: ReadonlyMap<string, Setting>;
  readonly required: ReadonlyMap<string, Required>;
}

/** Formats that the reader's method does not state. */
const formats: Readonly<Record<string, string>> = {
  CONFIRMATIONS_8453: '`20s`, `100`, `finalized`, `finalized+7s`',
  CONFIRMATIONS_LARGE_8453: '`20s`, `100`, `finalized`, `finalized+7s`',
  PAYOUT_CONFIRMATIONS_8453: '`20s`, `100`, `finalized`, `finalized+7s`',
  SIGNER_MAX_HOUR_COIN_8453: 'number of coins',
  SWEEP_GAS_PRICE_MAX_GWEI_8453: 'number',
  KEYSTORE: 'path of a file',
  KEYSTORE_PASSPHRASE_FD: 'number of a file descriptor',
};

function rowOf(name: string, examples: Group['examples'], { read, required }: Facts): string {
  const own = name.replace('<chainId>', '8453');
  const { default: usual = '', values = '' } = read.get(own) ?? {};
  const accepts = formats[own] ?? (own.endsWith('_FILE') ? 'path of a file' : values);
  const isPerChain = /_<chainId>$/.test(name) && !/^(RPC|WS)_URLS|^AGREE_/.test(name);
  const fallback = isPerChain ? '[per chain](#defaults-per-chain)' : usual || shown(examples.get(own) ?? '');
  return `| \`${name}\` | ${fallback} | ${cell(accepts)} | ${requiredText(required.get(own))} |`;
}

function requiredText(by: Required | undefined): string {
  if (!by) return '';
  const who = by.roles.length === roles.length ? 'every role' : by.roles.map((role) => `\`${role}\``).join(', ');
  return by.or === undefined ? who : `${who}, or \`${by.or}\``;
}

function depthText(depth: FinalityDepth): string {
  if (typeof depth === 'string') return depth;
  if (typeof depth === 'number') return String(depth);
  const more = depth.after_ms === undefined ? String(depth.atLeast) : `${depth.after_ms / 1_000}s`;
  return depth.tag === undefined ? more : `${depth.tag}+${more}`;
}

type PerChain = Readonly<Record<string, string>>;

const withoutBatches = { PAYOUT_BATCH: '', PAYOUT_BATCH_WAIT_SECONDS: '' };

/** Defaults that a chain's own configuration decides, by the beginning of the variable's name. */
function ownDefaults(id: (typeof chains)[number]['id']): PerChain {
  if (!isEvmChain(id)) {
    const { pollInterval_ms, agree } =
      id === 501
        ? defaultSolanaConfig({ rpcUrls: ['one'], treasury: '' })
        : defaultStellarConfig({ rpcUrls: ['one'], treasury: '', networkPassphrase: '', payinContract: null });
    return { POLL_MS: String(pollInterval_ms), LARGE_FROM_USD: String(agree.largeFrom_usd), ...withoutBatches };
  }
  const config = defaultEvmChainConfig(id, ['one']);
  const fees = feesOf(id, {});
  const gwei = (wei: bigint) => String(wei / 1_000_000_000n);
  return {
    CONFIRMATIONS: depthText(config.depths.final),
    CONFIRMATIONS_LARGE: depthText(config.depths.finalLarge),
    LARGE_FROM_USD: String(config.largeFrom_usd),
    EXPOSURE_USD: String(config.exposureMax_usd),
    PAYOUT_CONFIRMATIONS: depthText(config.depths.payout),
    POLL_MS: String(config.pollInterval_ms),
    GAS_MAX: String(fees.gasMax),
    GAS_PRICE_MAX_GWEI: gwei(fees.maxFeePerGas_wei),
    TIP_MAX_GWEI: gwei(fees.maxTip_wei),
    SWEEP_GAS_PRICE_MAX_GWEI: gwei(fees.maxFeePerGas_wei),
  };
}

/** Names that every EVM chain, or every chain, reads with its id at the end. */
const perChainNames = (read: Facts['read']): readonly string[] =>
  [...read.keys()]
    .flatMap((name) => /^(.+)_8453$/.exec(name)?.[1] ?? [])
    .filter((name) => !name.endsWith('_URLS') && name !== 'AGREE');

function perChainTable(read: Facts['read']): string {
  const rows = perChainNames(read).map((name) => {
    const cells = chains.map(({ id }) => {
      const { default: usual = '' } = read.get(`${name}_${id}`) ?? {};
      const own = ownDefaults(id)[name];
      return own === undefined ? usual : shown(own);
    });
    return cells.some(Boolean) ? `| \`${name}_<chainId>\` | ${cells.join(' | ')} |` : null;
  });
  const head = chains.map(({ id, name }) => `${name} (${id})`).join(' | ');
  return [`| variable | ${head} |`, `| --- |${' --- |'.repeat(chains.length)}`, ...rows.filter(Boolean)].join('\n');
}

/** Variables that only commands read. The sandbox's variables change a sandbox, never the service. */
export const variablesOfCommands = [
  [
    'DEPLOYER_PRIVATE_KEY',
    '`tools/deployForwarder.ts`',
    'Key of the account that pays the gas. Also from a file: `DEPLOYER_PRIVATE_KEY_FILE`.',
  ],
  [
    'STELLAR_DEPLOYER_SECRET',
    '`npm run deploy:payin`',
    'Secret of the account that pays the fees. Also from a file: `STELLAR_DEPLOYER_SECRET_FILE`.',
  ],
  ['MASTER_KEY_OLD', '`npm run rotate-master-key`', 'Former master key. Also from a file: `MASTER_KEY_OLD_FILE`.'],
  [
    'SUDO_USER',
    'every command that changes something',
    'sudo sets it. The audit trail names this user as the operator.',
  ],
  ['CASHBACK_KEY', '`npm run cashback`', 'EVM key of the buyer. Default: the customer of the sandbox.'],
  ['SANDBOX_CHAINS', '`npm start`', 'Chain ids of the sandbox, separated by commas.'],
  ['SANDBOX_BLOCK_TIME_S', '`npm start`', 'Seconds between blocks of the local chains.'],
  ['WEATHER', '`npm start`', 'Faults of the local nodes ([chains.md](../operate/chains.md)).'],
  ['WEATHER_SEED', '`npm start`', 'Seed of these faults.'],
] as const;

export function configurationDocument(
  example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8'),
): string {
  const facts: Facts = { read: settingsRead(), required: requiredBy() };
  return `# Configuration

For operators: every environment variable, with its default, the accepted values and the roles that require it. Made by \`npm run docs\` from the code
and from the comments of \`.env.example\`; do not edit.

The service reads its configuration only from environment variables. If a value is missing or wrong, the service does not start, and it prints every
wrong variable at once. "Required by" names the roles that do not start without the variable in production. A treasury key or address is required
only for families of chains that have a node. \`<chainId>\` is one of ${chains.map(({ id, name }) => `${id} (${name})`).join(', ')}.

${sectionsOf(example)
  .map((section) => sectionText(section, facts))
  .join('\n\n')}

## Defaults per chain

An empty cell: the chain does not have the setting. The default of \`AGREE_<chainId>\` is \`2\`, or \`1\` if the chain has one node.

${perChainTable(facts.read)}

## Variables of commands

Commands also read the variables of the service. These variables are read by commands only:

| variable | command | meaning |
| --- | --- | --- |
${variablesOfCommands.map(([name, command, meaning]) => `| \`${name}\` | ${command} | ${meaning} |`).join('\n')}`;
}
