/** .env.example against the code that reads the variables and the compose file that passes them on. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { defaultEvmChainConfig, evmChainIds, after as timeOnTop } from '../../src/chains/evm/config.ts';
import { defaultAgree } from '../../src/chains/node/agreement.ts';
import { solanaChainId } from '../../src/chains/solana/config.ts';
import { stellarChainId } from '../../src/chains/stellar/config.ts';
import { type Config, readConfig } from '../../src/config.ts';

const text = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const example = text('.env.example');
const composeFiles = ['docker-compose.yml', 'docker-compose.scale.yml'].map(text);
const compose = composeFiles.join('\n');

/** Values that a new user must fill in. */
const filled = {
  MASTER_KEY: '0123456789abcdef'.repeat(4),
  TREASURY_PRIVATE_KEY: `0x${'0123456789abcdef'.repeat(4)}`,
  PUBLIC_URL: 'https://pay.example.com',
  RPC_URLS_8453: 'https://base.example.com',
  DATABASE_URL: 'postgres://payments:secret@localhost:5432/payments',
  EVENTSTORE_URL: 'embedded',
  POSTGRES_PASSWORD: 'secret',
};

const uncommented = example.replace(/^# (?=[A-Z][A-Z0-9_]*=)/gm, '');
const documented = Object.keys(parseEnv(uncommented));
const onlyForCompose = ['POSTGRES_PASSWORD', 'EVENTSTORE_IMAGE', 'EVENTSTORE_ADMIN_PASSWORD', 'FRONT_NETWORK'];

/** Replaces a chain's id: RPC_URLS_56 → RPC_URLS_<chainId>. */
const family = (name: string) => name.replace(/_\d+(?=$|_FILE$)/, '_<chainId>');
const families = (names: readonly string[]) => [...new Set(names.map(family))].sort();

function namesAsked(): string[] {
  const asked = new Set<string>();
  const env = new Proxy<Record<string, string | undefined>>(
    {},
    {
      get: (_target, name) => {
        asked.add(String(name));
        // The config reads no other settings of a chain without a node.
        return /^RPC_URLS_\d+$/.test(String(name)) ? 'https://node.example.com' : undefined;
      },
    },
  );
  assert.throws(() => readConfig(env), { name: 'ConfigError' });
  return [...asked];
}

describe('.env.example', () => {
  it('has every variable that the service reads, and no other', () => {
    const serviceNames = documented.filter((name) => !onlyForCompose.includes(name));
    assert.deepEqual(families(serviceNames), families(namesAsked()));
  });

  it('has every variable that the compose files need', () => {
    const asked = [...compose.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name as string);
    assert.ok(asked.includes('POSTGRES_PASSWORD'));
    assert.deepEqual(
      asked.filter((name) => !documented.includes(name)),
      [],
    );
    for (const name of onlyForCompose) assert.ok(asked.includes(name), `${name} is used by nothing`);
  });

  it('offers every chain that is served', () => {
    const offered = documented.flatMap((name) => /^RPC_URLS_(\d+)$/.exec(name)?.[1] ?? []);
    assert.deepEqual(offered.map(Number).sort(), [...evmChainIds, solanaChainId, stellarChainId].sort());
  });

  it('is a usable configuration once the required part is filled in', () => {
    const config = readConfig({ ...parseEnv(example), ...filled });
    assert.deepEqual(
      config.chains.map(({ chainId }) => chainId),
      [8453],
    );
    assert.equal(config.mode, 'production');
  });

  it('states every required value: without its required part every missing variable is named', () => {
    for (const name of ['MASTER_KEY', 'TREASURY_PRIVATE_KEY', 'PUBLIC_URL', 'RPC_URLS_', 'DATABASE_URL']) {
      assert.throws(() => readConfig(parseEnv(example)), { message: new RegExp(`- .*${name}`) });
    }
  });

  it('has the actual defaults', () => {
    const withDefaults = readConfig({ ...parseEnv(uncommented), ...filled });
    const without = readConfig({ ...parseEnv(example), ...filled });
    assert.deepEqual(withoutTuning(withDefaults), withoutTuning(without));
  });

  it('has the actual defaults of Base', () => {
    const [base] = readConfig({ ...parseEnv(uncommented), ...filled }).chains;
    const { depths, largeFrom_usd, exposureMax_usd, pollInterval_ms } = defaultEvmChainConfig(8453, []);
    const seconds = (count: number) => ({ blocks: 0, tag: null, after_ms: count * 1_000 });
    assert.deepEqual(depths, {
      final: timeOnTop(8453, 20_000),
      finalLarge: 'finalized',
      payout: timeOnTop(8453, 20_000),
    });
    assert.deepEqual(base?.confirmations, seconds(20));
    assert.deepEqual(base?.confirmationsLarge, { blocks: 0, tag: 'finalized' });
    assert.deepEqual(base?.payoutConfirmations, seconds(20));
    assert.equal(base?.largeFrom_usd, BigInt(largeFrom_usd));
    assert.equal(base?.poll_ms, pollInterval_ms);
    assert.equal(base?.exposureMax_usd, exposureMax_usd);
    assert.equal(base?.agree.usual, defaultAgree(['one']).usual);
  });

  it('explains every variable', () => {
    const lines = example.split('\n');
    for (const [index, line] of lines.entries()) {
      if (!/^(# )?[A-Z][A-Z0-9_]*=/.test(line)) continue;
      const paragraph = lines.slice(0, index).join('\n').split('\n\n').at(-1) ?? '';
      assert.match(paragraph, /^# [^─\n]{20,}$/m, `${line} is not explained`);
    }
  });
});

const withoutTuning = (config: Config) => ({
  ...config,
  chains: config.chains.map(({ chainId, rpcUrls }) => ({ chainId, rpcUrls })),
});
