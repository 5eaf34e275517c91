import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getBase58Decoder } from '@solana/kit';
import { Keypair, StrKey } from '@stellar/stellar-sdk';
import { Keypair as SolanaKeypair } from 'solana-web3-v1';
import { toHex } from 'viem';
import { mnemonicToAccount, privateKeyToAddress } from 'viem/accounts';
import { referenceKey } from '../../src/chains/solana/signer/keys.ts';
import { ConfigError, readConfig } from '../../src/config.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const privateKey = `0x${'0123456789abcdef'.repeat(4)}` as const;
const good = {
  MASTER_KEY: '0123456789abcdef'.repeat(4),
  TREASURY_PRIVATE_KEY: privateKey,
  PUBLIC_URL: 'https://pay.example.com/',
  RPC_URLS_8453: 'https://base.example.com/a, https://base.example.com/b',
  DATABASE_URL: 'postgres://payments:secret@localhost/payments',
  EVENTSTORE_URL: 'embedded',
};

/** All reported problems, one per line. */
function problemsOf(env: Readonly<Record<string, string>>): string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message.split('\n').flatMap((line) => /^ {2}- (.*)$/.exec(line)?.[1] ?? []);
  }
}

const base58Of = (bytes: Uint8Array): string => getBase58Decoder().decode(bytes);

describe('configuration', () => {
  it('is read with defaults for all optional values', () => {
    const config = readConfig(good);
    assert.equal(config.port, 3000);
    assert.equal(config.host, '127.0.0.1');
    assert.equal(config.eventStoreUrl, null);
    assert.equal(config.fee.fixed_microUsd, 10_000n);
    assert.deepEqual(config.roles, ['api', 'projections', 'subscribers']);
    assert.deepEqual(config.chains, [
      {
        chainId: 8453,
        rpcUrls: ['https://base.example.com/a', 'https://base.example.com/b'],
        agree: { usual: 2, large: 2 },
        coin: {
          decimals: 18,
          price_microUsd: 4_000_000_000n,
          perHour: 5n * 10n ** 17n,
          leastPayout_microUsd: 5_000n,
        },
      },
    ]);
  });

  it('reads the policy of floats, and names what it lacks', () => {
    assert.equal(readConfig(good).floatPolicy.USDC.mode, 'off');
    const rpc = { RPC_URLS_1: 'https://one.example.com/a, https://one.example.com/b' };
    const floats = { FLOAT_LIMITS: '8453:1000:5000:20000, 1:0:2.5:2.5' };
    const attested = { CCTP_ATTESTATIONS_URL: 'https://iris-api.circle.com' };
    const { floatPolicy } = readConfig({ ...good, ...rpc, ...floats, ...attested, FLOAT_POLICY: 'propose' });
    assert.equal(floatPolicy.USDC.mode, 'propose');
    assert.equal(floatPolicy.USDT.mode, 'off', 'USDT0 is off');
    assert.deepEqual(
      [...floatPolicy.USDC.floats],
      [
        [8453, { minimum: 1_000_000_000n, target: 5_000_000_000n, maximum: 20_000_000_000n }],
        [1, { minimum: 0n, target: 2_500_000n, maximum: 2_500_000n }],
      ],
    );
    assert.deepEqual(problemsOf({ ...good, FLOAT_POLICY: 'automatic', FLOAT_LIMITS: '8453:1:2:3' }), [
      'FLOAT_POLICY=automatic needs two chains in FLOAT_LIMITS',
      'FLOAT_POLICY=automatic needs CCTP_ATTESTATIONS_URL',
    ]);
    const limits = ['1:1:2:3', '8453:3:2:1', '8453:1:2', '8453:1:2:x', 'moon:1:2:3'];
    const problems = problemsOf({ ...good, FLOAT_LIMITS: limits.join() });
    assert.deepEqual(
      problems.map((problem) => /^FLOAT_LIMITS: (\S+): \w+/.exec(problem)?.[1]),
      limits,
    );
  });

  it('reads limits of USDT, which moves only with USDT0', () => {
    const rpc = { RPC_URLS_1: 'https://one.example.com/a, https://one.example.com/b' };
    const floats = { FLOAT_LIMITS_USDT: '1:1000:5000:20000' };
    const watched = readConfig({ ...good, ...rpc, ...floats }).floatPolicy.USDT;
    assert.equal(watched.mode, 'off');
    assert.deepEqual([...watched.floats.keys()], [1]);
    const on = { USDT0_REBALANCES: 'on', FLOAT_POLICY: 'propose' };
    assert.deepEqual(problemsOf({ ...good, ...rpc, ...floats, ...on }), [
      'FLOAT_POLICY=propose needs two chains in FLOAT_LIMITS_USDT',
    ]);
    const both = { FLOAT_LIMITS_USDT: '1:1:5:20, 42161:1:5:20' };
    const arbitrum = { RPC_URLS_42161: 'https://two.example.com/a, https://two.example.com/b' };
    const { USDC, USDT } = readConfig({ ...good, ...rpc, ...arbitrum, ...both, ...on }).floatPolicy;
    assert.deepEqual([USDC.floats.size, USDT.floats.size, USDT.mode], [0, 2, 'propose']);
    assert.match(
      problemsOf({ ...good, ...rpc, FLOAT_LIMITS_USDT: '8453:1:5:20' }).join(),
      /^FLOAT_LIMITS_USDT: 8453:1:5:20: Base has no USDT/,
    );
  });

  it('accepts a relay account, by its key or its address, that is not the treasury; none by default', () => {
    const relay = `0x${'fedcba9876543210'.repeat(4)}` as const;
    const address = privateKeyToAddress(relay);
    const of = (env: object) => readConfig({ ...good, ...env }).treasuries.evm?.relay;
    assert.equal(of({}), null);
    assert.deepEqual(of({ RELAY_PRIVATE_KEY: relay }), { address, key: relay });
    assert.deepEqual(of({ RELAY_ADDRESS: address.toLowerCase() }), { address, key: null });
    assert.match(problemsOf({ ...good, RELAY_PRIVATE_KEY: privateKey }).join(), /RELAY_ADDRESS is the treasury/);
    const another = { RELAY_PRIVATE_KEY: relay, RELAY_ADDRESS: privateKeyToAddress(privateKey) };
    assert.match(problemsOf({ ...good, ...another }).join(), /not the account of RELAY_PRIVATE_KEY/);
    assert.match(
      problemsOf({ ...good, RELAY_PRIVATE_KEY: '0x1' }).join(),
      /RELAY_PRIVATE_KEY is not 0x and 64 hex digits/,
    );
    assert.equal(readConfig(good).relays.perRelay_microUsd, 1_000_000n);
  });

  it('accepts WebSockets of nodes that push, beyond this machine encrypted ones, and none of a chain that is polled', () => {
    const chains = {
      ...{ RPC_URLS_501: 'https://solana.example.com', RPC_URLS_1500: 'https://stellar.example.com' },
      WS_URLS_8453: 'wss://base.example.com/key',
    };
    const problems = problemsOf({
      ...{ ...good, ...chains, WS_URLS_501: 'wss://one.example.com,ws://two.example.com' },
      WS_URLS_1500: 'wss://stellar.example.com',
    }).filter((problem) => problem.startsWith('WS_URLS_'));
    assert.deepEqual(problems, [
      'WS_URLS_501: entry 2 uses ws: use wss for a node on another machine',
      'WS_URLS_1500: Stellar is polled',
    ]);
  });

  it('puts heads on Stellar on request, if Stellar is configured', () => {
    assert.equal(readConfig(good).heads.anchor, null);
    assert.deepEqual(problemsOf({ ...good, HEADS_ANCHOR: 'stellar' }), [
      'HEADS_ANCHOR: Stellar is not configured: set RPC_URLS_1500 and its treasury, or unset it',
    ]);
    const stellar = { ...good, RPC_URLS_1500: 'https://a.example.com', AGREE_1500: '1' };
    const secret = { ...stellar, STELLAR_TREASURY_SECRET: Keypair.random().secret(), HEADS_ANCHOR: 'stellar' };
    assert.deepEqual(readConfig({ ...secret, HEADS_ANCHOR_HOURS: '6' }).heads.anchor, {
      chainId: 1500,
      every_hours: 6,
    });
    assert.equal(problemsOf({ ...secret, HEADS_ANCHOR_HOURS: '0' }).length, 1);
    assert.equal(problemsOf({ ...secret, HEADS_ANCHOR: 'bitcoin' }).length, 1);
  });

  it('requires agreement of all nodes, up to two, and of two for large sums; except for trials', () => {
    const agreeOf = (env: Readonly<Record<string, string>>) => readConfig({ ...good, ...env }).chains[0]?.agree;
    const three = 'https://a.example.com,https://b.example.com,https://c.example.com';
    assert.deepEqual(agreeOf({ RPC_URLS_8453: three }), { usual: 2, large: 2 });
    assert.deepEqual(agreeOf({ RPC_URLS_8453: three, AGREE_8453: '3' }), { usual: 3, large: 3 });
    assert.deepEqual(agreeOf({ RPC_URLS_8453: three, AGREE_8453: '1' }), { usual: 1, large: 2 });
    const one = { RPC_URLS_8453: 'https://a.example.com' };
    assert.deepEqual(agreeOf(one), { usual: 1, large: 2 });
    assert.deepEqual(agreeOf({ ...one, MODE: 'sandbox' }), { usual: 1, large: 1 });
    assert.match(problemsOf({ ...good, AGREE_8453: '3' }).join(), /AGREE_8453: 3 nodes must agree, .* lists 2/);
    const twice = { RPC_URLS_8453: 'https://a.example.com,https://a.example.com' };
    assert.match(problemsOf({ ...good, ...twice }).join(), /RPC_URLS_8453: a node is listed twice/);
  });

  it('accepts depths as time, alone or with a tag', () => {
    const [base] = readConfig({ ...good, CONFIRMATIONS_8453: '20s', CONFIRMATIONS_LARGE_8453: 'finalized+7s' }).chains;
    assert.deepEqual(base?.confirmations, { blocks: 0, tag: null, after_ms: 20_000 });
    assert.deepEqual(base?.confirmationsLarge, { blocks: 0, tag: 'finalized', after_ms: 7_000 });
  });

  it('accepts depths as blocks, a tag, or both', () => {
    const [base] = readConfig({
      ...good,
      CONFIRMATIONS_8453: '12',
      CONFIRMATIONS_LARGE_8453: 'finalized',
      PAYOUT_CONFIRMATIONS_8453: 'safe+15',
      LARGE_FROM_USD_8453: '5000',
      POLL_MS_8453: '250',
    }).chains;
    assert.deepEqual(base?.confirmations, { blocks: 12, tag: null });
    assert.deepEqual(base?.confirmationsLarge, { blocks: 0, tag: 'finalized' });
    assert.deepEqual(base?.payoutConfirmations, { blocks: 15, tag: 'safe' });
    assert.equal(base?.largeFrom_usd, 5_000n);
    assert.equal(base?.poll_ms, 250);
  });

  it('lets no wallet change at once in production', () => {
    assert.equal(readConfig(good).settlementCoolDown_hours, 48);
    assert.match(problemsOf({ ...good, SETTLEMENT_COOLDOWN_HOURS: '0' }).join(), /SETTLEMENT_COOLDOWN_HOURS: 0 is for/);
    assert.equal(readConfig({ ...good, MODE: 'sandbox', SETTLEMENT_COOLDOWN_HOURS: '0' }).settlementCoolDown_hours, 0);
  });

  it('lets no money go at once to a newly added address, in production', () => {
    assert.deepEqual(readConfig(good).withdrawals, { addressCoolDown_hours: 24, approval_usd: 1_000n });
    const atOnce = { TREASURY_ADDRESS_COOLDOWN_HOURS: '0' };
    assert.match(problemsOf({ ...good, ...atOnce }).join(), /TREASURY_ADDRESS_COOLDOWN_HOURS: 0 is for tests/);
    assert.equal(readConfig({ ...good, MODE: 'sandbox', ...atOnce }).withdrawals.addressCoolDown_hours, 0);
  });

  it('does not start an API in production that would publish links to an address of its own', () => {
    assert.equal(readConfig(good).publicUrl, 'https://pay.example.com');
    const { PUBLIC_URL: _, ...without } = good;
    for (const env of [without, { ...without, ROLES: 'api' }, { ...good, PUBLIC_URL: ' ' }])
      assert.match(problemsOf(env).join(), /PUBLIC_URL is required with the role api, for example https:/);
    assert.deepEqual(problemsOf({ ...good, PUBLIC_URL: 'pay.example.com' }).length, 1);
    for (const env of [
      { ...without, ROLES: 'subscribers,projections' },
      { ...without, MODE: 'sandbox' },
    ])
      assert.equal(readConfig(env).publicUrl, null);
  });

  it('refuses a PUBLIC_URL that is more than scheme and host, or not encrypted in production', () => {
    const problemWith = (url: string, env = good) => problemsOf({ ...env, PUBLIC_URL: url }).join();
    assert.match(problemWith('https://pay.example.com/pay'), /PUBLIC_URL has a path/);
    assert.match(problemWith('https://pay.example.com/?a=1'), /PUBLIC_URL has a query or a fragment/);
    assert.match(problemWith('https://pay.example.com/#a'), /PUBLIC_URL has a query or a fragment/);
    assert.match(problemWith('https://ada:secret@pay.example.com'), /PUBLIC_URL contains a user name/);
    assert.doesNotMatch(problemWith('https://ada:secret@pay.example.com'), /secret/);
    assert.match(problemWith('http://pay.example.com'), /PUBLIC_URL must start with https:/);
    const sandbox = { ...good, MODE: 'sandbox', PUBLIC_URL: 'http://127.0.0.1:3000/' };
    assert.equal(readConfig(sandbox).publicUrl, 'http://127.0.0.1:3000');
  });

  it('names every missing variable at once', () => {
    const problems = problemsOf({});
    assert.equal(problems.length, 6);
    for (const name of [
      'PUBLIC_URL',
      'DATABASE_URL',
      'EVENTSTORE_URL',
      'MASTER_KEY',
      'RPC_URLS_',
      'TREASURY_PRIVATE_KEY',
    ]) {
      assert.ok(
        problems.some((problem) => problem.includes(name)),
        `${name} is not named`,
      );
    }
  });

  const wrong = {
    MODE: 'test',
    ROLES: 'api,everything',
    PORT: '70000',
    DATABASE_URL: 'mysql://localhost/payments',
    EVENTSTORE_URL: 'http://localhost:2113',
    MASTER_KEY: 'short',
    TREASURY_ADDRESS: '0x12',
    TREASURY_PRIVATE_KEY: `0x${'00'.repeat(32)}`,
    SIGNER_MAX_TRANSFER_USD: '-1',
    SIGNER_MAX_HOUR_USD: '1.5',
    SIGNER_APP_SHARE_PERCENT: '0',
    COIN_PRICE_8453: 'much',
    SIGNER_MAX_HOUR_COIN_8453: '-1',
    PAYOUT_MIN_USD_8453: '0,01',
    FEE_FIXED_USD: '0.0000001',
    FEE_BASIS_POINTS: '10001',
    REGISTRATION: 'sometimes',
    SMTP_URL: 'https://mail.example.com',
    MAIL_FROM: 'a@b.example, c@d.example',
    LOG_LEVEL: 'loud',
    RPC_URLS_8453: 'wss://base.example.com',
    CONFIRMATIONS_8453: 'latest',
    CONFIRMATIONS_LARGE_8453: '123456',
    PAYOUT_CONFIRMATIONS_8453: 'safe+s',
    LARGE_FROM_USD_8453: '1e3',
    POLL_MS_8453: '1',
  };

  it('names every wrong variable at once, each by its name', () => {
    const problems = problemsOf({ ...good, ...wrong });
    for (const name of Object.keys(wrong)) {
      assert.ok(
        problems.some((problem) => problem.startsWith(name)),
        `${name}=${wrong[name as keyof typeof wrong]} is not named in\n${problems.join('\n')}`,
      );
    }
    assert.equal(problems.length, Object.keys(wrong).length);
  });

  for (const [name, value] of Object.entries(wrong)) {
    it(`refuses ${name}=${value} when all else is right`, () => {
      const problems = problemsOf({ ...good, [name]: value });
      assert.equal(problems.filter((problem) => problem.startsWith(name)).length, 1, problems.join('\n'));
    });
  }

  it('never prints a possible secret', () => {
    const secrets = {
      MASTER_KEY: `${'0123456789abcdef'.repeat(4)}zz`,
      TREASURY_PRIVATE_KEY: `0x${'fedcba9876543210'.repeat(4)}zz`,
      DATABASE_URL: 'mysql://payments:open-sesame@localhost/payments',
      EVENTSTORE_URL: 'esdb://admin:open-sesame%@localhost:2113',
      RPC_URLS_8453: 'https://fine.example.com,wss://base.example.com/v2/open-sesame',
    };
    const problems = problemsOf({ ...good, ...secrets });
    assert.deepEqual(problems.map((problem) => /^[A-Z_0-9]+/.exec(problem)?.[0]).sort(), [
      'DATABASE_URL',
      'EVENTSTORE_URL',
      'MASTER_KEY',
      'RPC_URLS_8453',
      'TREASURY_PRIVATE_KEY',
    ]);
    const printed = problems.join('\n');
    for (const secret of ['open-sesame', '0123456789abcdef', 'fedcba9876543210']) {
      assert.ok(!printed.includes(secret), printed);
    }
    assert.match(printed, /RPC_URLS_8453: entry 2 /);
  });

  it('refuses an address that is not the account of the key', () => {
    const address = privateKeyToAddress(privateKey);
    assert.deepEqual(problemsOf({ ...good, TREASURY_ADDRESS: address }), []);
    const other = privateKeyToAddress(`0x${'11'.repeat(32)}`);
    assert.match(problemsOf({ ...good, TREASURY_ADDRESS: other }).join(), /not the account of TREASURY_PRIVATE_KEY/);
  });

  describe('with a separate signer', () => {
    const tls = { SIGNER_CA_FILE: 'ca.pem', SIGNER_CERT_FILE: 'own.pem', SIGNER_KEY_FILE: 'own.key' };
    const { TREASURY_PRIVATE_KEY: key, DATABASE_URL: database, ...others } = good;
    const asking = {
      ...others,
      ...tls,
      DATABASE_URL: database,
      SIGNER_URL: 'https://signer.example.com:3003',
      TREASURY_ADDRESS: privateKeyToAddress(privateKey),
    };
    const signing = {
      ...others,
      ...tls,
      ROLES: 'signer',
      TREASURY_PRIVATE_KEY: key,
      EVENTSTORE_URL: 'esdb://store:2113',
    };

    it('has the keys in one place: where it signs', () => {
      const { signing: asked } = readConfig(asking);
      assert.equal(asked.remote?.url, 'https://signer.example.com:3003');
      assert.deepEqual(asked.remote?.tls, { caFile: 'ca.pem', certFile: 'own.pem', keyFile: 'own.key' });
      assert.match(problemsOf({ ...asking, TREASURY_PRIVATE_KEY: key }).join(), /remove them here/);
      assert.equal(readConfig(signing).signing.server?.port, 3003);
      assert.equal(readConfig(signing).databaseUrl, '', 'it needs no Postgres');
    });

    it('runs alone, reads the log itself, and presents a certificate like its callers', () => {
      assert.match(
        problemsOf({ ...signing, ROLES: 'signer,api', DATABASE_URL: database }).join(),
        /signer must be the only role/,
      );
      const { EVENTSTORE_URL: _, ...without } = signing;
      assert.match(problemsOf(without).join(), /EVENTSTORE_URL is required with the role signer/);
      for (const end of [asking, signing])
        assert.match(problemsOf({ ...end, SIGNER_CERT_FILE: '' }).join(), /SIGNER_CERT_FILE is required/);
      assert.match(
        problemsOf({ ...asking, SIGNER_URL: 'http://signer.example.com' }).join(),
        /SIGNER_URL is not a URL/,
      );
    });

    it('needs the key of references if it prepares payouts on Solana: without it none would ever be paid', () => {
      const address = SolanaKeypair.fromSeed(new Uint8Array(32).fill(9)).publicKey.toBase58();
      const onSolana = { ...asking, RPC_URLS_501: 'https://solana.example.com', SOLANA_TREASURY_ADDRESS: address };
      assert.match(problemsOf(onSolana).join(), /SOLANA_REFERENCE_KEY is required with SIGNER_URL/);
      assert.equal(readConfig({ ...onSolana, SOLANA_REFERENCE_KEY: 'ab'.repeat(32) }).signing.server, null);
    });

    it('holds the relay key of Solana without the seed: the signer proves that a deposit is ours', () => {
      const wallet = (byte: number) => SolanaKeypair.fromSeed(new Uint8Array(32).fill(byte));
      const key = base58Of(wallet(10).secretKey);
      const onSolana = {
        ...{ ...asking, RPC_URLS_501: 'https://solana.example.com', SOLANA_REFERENCE_KEY: 'ab'.repeat(32) },
        ...{ SOLANA_TREASURY_ADDRESS: wallet(9).publicKey.toBase58(), SOLANA_RELAY_PRIVATE_KEY: key },
      };
      const relay = readConfig(onSolana).treasuries.solana?.relay;
      assert.deepEqual(relay, { address: wallet(10).publicKey.toBase58(), key });
      const { SIGNER_URL: _, ...alone } = onSolana;
      assert.match(problemsOf(alone).join(), /SOLANA_RELAY_PRIVATE_KEY needs .* or SIGNER_URL/);
    });
  });

  describe('for Solana', () => {
    const wallet = SolanaKeypair.fromSeed(new Uint8Array(32).fill(9));
    const address = wallet.publicKey.toBase58();
    const SOLANA_TREASURY_PRIVATE_KEY = base58Of(wallet.secretKey);
    const { TREASURY_PRIVATE_KEY: _, RPC_URLS_8453: __, ...plain } = good;
    const solana = { ...plain, RPC_URLS_501: 'https://solana.example.com' };
    const keys = { SOLANA_TREASURY_PRIVATE_KEY, SOLANA_DEPOSIT_SEED: 'AB'.repeat(32) };

    it('accepts the wallet’s key with the seed of deposits, or the address alone if nothing is signed', () => {
      const priorityMax_lamports = 1_000_000n;
      const depositSeed = 'ab'.repeat(32);
      const expected = {
        ...{ address, key: SOLANA_TREASURY_PRIVATE_KEY, depositSeed, priorityMax_lamports },
        referenceKey: referenceKey(depositSeed),
        relay: null,
      };
      assert.deepEqual(readConfig({ ...solana, ...keys }).treasuries.solana, expected);
      const apart = { ...solana, SOLANA_TREASURY_ADDRESS: address };
      const watching = { address, key: null, depositSeed: null, referenceKey: null, priorityMax_lamports, relay: null };
      assert.deepEqual(readConfig(apart).treasuries.solana, watching);
      const preparing = readConfig({ ...apart, SOLANA_REFERENCE_KEY: 'cd'.repeat(32) }).treasuries.solana;
      assert.deepEqual(preparing, { ...watching, referenceKey: Buffer.from('cd'.repeat(32), 'hex') });
      assert.equal(readConfig(good).treasuries.solana, null);
    });

    it('accepts a relay account, by its key beside the seed of deposits or its address, that is not the treasury', () => {
      const relay = SolanaKeypair.generate();
      const [own, key] = [relay.publicKey.toBase58(), base58Of(relay.secretKey)];
      const of = (env: object) => readConfig({ ...solana, ...env }).treasuries.solana?.relay;
      assert.deepEqual(of({ ...keys, SOLANA_RELAY_PRIVATE_KEY: key }), { address: own, key });
      const apart = { ...solana, SOLANA_TREASURY_ADDRESS: address };
      assert.deepEqual(of({ ...apart, SOLANA_RELAY_ADDRESS: own }), { address: own, key: null });
      const problems = (env: object) => problemsOf({ ...solana, ...keys, ...env }).join();
      assert.match(problems({ SOLANA_RELAY_ADDRESS: address }), /SOLANA_RELAY_ADDRESS is the treasury/);
      assert.match(problems({ SOLANA_RELAY_PRIVATE_KEY: key, SOLANA_RELAY_ADDRESS: address }), /not the account of/);
      assert.match(
        problemsOf({ ...apart, SOLANA_RELAY_PRIVATE_KEY: key }).join(),
        /SOLANA_RELAY_PRIVATE_KEY needs SOLANA_TREASURY_PRIVATE_KEY and SOLANA_DEPOSIT_SEED/,
      );
    });

    it('names missing and wrong values, and no secret', () => {
      assert.match(problemsOf(solana).join(), /^SOLANA_TREASURY_ADDRESS or SOLANA_TREASURY_PRIVATE_KEY is required$/);
      assert.match(problemsOf({ ...solana, SOLANA_TREASURY_PRIVATE_KEY }).join(), /^SOLANA_DEPOSIT_SEED is required/);
      const wrong = {
        SOLANA_TREASURY_PRIVATE_KEY: base58Of(wallet.secretKey.slice(0, 32)),
        SOLANA_TREASURY_ADDRESS: '0x3333333333333333333333333333333333333333',
        SOLANA_DEPOSIT_SEED: 'ab',
        SOLANA_PRIORITY_MAX_LAMPORTS: '999',
      };
      const problems = problemsOf({ ...solana, ...wrong });
      assert.deepEqual(problems.map((problem) => /^[A-Z_0-9]+/.exec(problem)?.[0]).sort(), Object.keys(wrong).sort());
      assert.ok(!problems.join().includes(wrong.SOLANA_TREASURY_PRIVATE_KEY));
      const other = SolanaKeypair.generate().publicKey.toBase58();
      assert.match(
        problemsOf({ ...solana, ...keys, SOLANA_TREASURY_ADDRESS: other }).join(),
        /not the account of SOLANA_TREASURY_PRIVATE_KEY/,
      );
    });
  });

  describe('for Stellar', () => {
    const treasury = Keypair.random();
    const { TREASURY_PRIVATE_KEY: _, RPC_URLS_8453: __, ...plain } = good;
    const stellar = { ...plain, RPC_URLS_1500: 'https://stellar.example.com' };
    const key = { STELLAR_TREASURY_SECRET: treasury.secret() };
    const contract = StrKey.encodeContract(Buffer.alloc(32, 7));

    it('needs no treasury of a family that it does not serve', () => {
      const { treasuries } = readConfig({ ...stellar, ...key });
      assert.equal(treasuries.evm, null);
      assert.deepEqual(treasuries.stellar, {
        address: treasury.publicKey(),
        key: treasury.secret(),
        payinContract: null,
        channels: [],
        relay: null,
      });
      assert.equal(readConfig({ ...good, ...key }).treasuries.stellar, null);
    });

    it('accepts the address alone if nothing is signed', () => {
      const env = { ...stellar, STELLAR_TREASURY_ADDRESS: treasury.publicKey(), STELLAR_PAYIN_CONTRACT: contract };
      const expected = { address: treasury.publicKey(), key: null, payinContract: contract, channels: [], relay: null };
      assert.deepEqual(readConfig(env).treasuries.stellar, expected);
    });

    it('names missing and wrong values, and no secret', () => {
      assert.match(problemsOf(stellar).join(), /^STELLAR_TREASURY_ADDRESS or STELLAR_TREASURY_SECRET is required$/);
      const wrong = {
        STELLAR_TREASURY_SECRET: `${treasury.secret().slice(0, -1)}x`,
        STELLAR_TREASURY_ADDRESS: contract,
        STELLAR_PAYIN_CONTRACT: treasury.publicKey(),
        CONFIRMATIONS_1500: '3',
      };
      const problems = problemsOf({ ...stellar, ...wrong });
      assert.deepEqual(problems.map((problem) => /^[A-Z_0-9]+/.exec(problem)?.[0]).sort(), Object.keys(wrong).sort());
      assert.ok(!problems.join().includes(treasury.secret().slice(0, 20)));
      const other = Keypair.random().publicKey();
      assert.match(
        problemsOf({ ...stellar, ...key, STELLAR_TREASURY_ADDRESS: other }).join(),
        /not the account of STELLAR_TREASURY_SECRET/,
      );
    });

    it('accepts a relay account, by its secret or its address, that is neither the treasury nor a channel', () => {
      const relay = Keypair.random();
      const of = (env: object) => readConfig({ ...stellar, ...key, ...env }).treasuries.stellar?.relay;
      const address = relay.publicKey();
      assert.deepEqual(of({ STELLAR_RELAY_SECRET: relay.secret() }), { address, key: relay.secret() });
      assert.deepEqual(of({ STELLAR_RELAY_ADDRESS: address }), { address, key: null });
      const clashes = [
        { STELLAR_RELAY_SECRET: treasury.secret() },
        { STELLAR_RELAY_SECRET: relay.secret(), STELLAR_CHANNEL_SECRETS: relay.secret() },
      ];
      for (const clash of clashes)
        assert.match(
          problemsOf({ ...stellar, ...key, ...clash }).join(),
          /STELLAR_RELAY_ADDRESS is the treasury or a channel/,
        );
      const two = { STELLAR_RELAY_SECRET: relay.secret(), STELLAR_RELAY_ADDRESS: treasury.publicKey() };
      assert.match(problemsOf({ ...stellar, ...key, ...two }).join(), /not the account of STELLAR_RELAY_SECRET/);
    });

    it('accepts channels beside the treasury, each an account of its own, where payouts are signed', () => {
      const pairs = [Keypair.random(), Keypair.random()];
      const channels = pairs.map((pair) => pair.secret());
      const channelsOf = (env: Record<string, string>) => readConfig(env).treasuries.stellar?.channels;
      const given = { STELLAR_CHANNEL_SECRETS: channels.join(', ') };
      assert.deepEqual(
        channelsOf({ ...stellar, ...key, ...given }),
        pairs.map((pair) => ({ account: pair.publicKey(), secret: pair.secret() })),
      );
      assert.deepEqual(channelsOf({ ...stellar, STELLAR_TREASURY_ADDRESS: treasury.publicKey(), ...given }), []);
      for (const [wrong, why] of [
        [`${channels[0]},${treasury.publicKey()}`, /is not a list of secrets/],
        [`${channels[0]},${channels[0]}`, /account of its own/],
        [treasury.secret(), /none the treasury/],
        [Array.from({ length: 33 }, () => Keypair.random().secret()).join(), /33 are more than 32/],
      ] as const) {
        const problems = problemsOf({ ...stellar, ...key, STELLAR_CHANNEL_SECRETS: wrong }).join();
        assert.match(problems, why);
        assert.doesNotMatch(problems, /\bS[A-Z2-7]{55}\b/);
      }
    });

    it('pays out with every key or with none, for limits count over all chains', () => {
      const both = { ...good, ...stellar, STELLAR_TREASURY_ADDRESS: treasury.publicKey() };
      assert.match(problemsOf(both).join(), /treasury keys of all its chains, or none/);
      assert.deepEqual(problemsOf({ ...both, ROLES: 'api' }), []);
      assert.deepEqual(problemsOf({ ...both, ...key }), []);
    });
  });

  describe('in production', () => {
    it('reaches nodes beyond this machine by https alone', () => {
      const urls = (url: string) => ({ ...good, RPC_URLS_8453: `https://a.example.com,${url}` });
      for (const url of ['http://node.example.com', 'http://10.0.0.7:8545', 'http://127.0.0.1.example.com'])
        assert.match(problemsOf(urls(url)).join(), /RPC_URLS_8453: entry 2 uses http: /);
      for (const url of ['http://127.0.0.1:8545', 'http://localhost:8545', 'http://[::1]:8545'])
        assert.deepEqual(problemsOf(urls(url)), []);
      assert.deepEqual(problemsOf({ ...urls('http://10.0.0.7:8545'), MODE: 'sandbox' }), []);
    });

    const mnemonic = 'test test test test test test test test test test test junk';
    const development = Array.from({ length: 10 }, (_, addressIndex) => mnemonicToAccount(mnemonic, { addressIndex }));

    it('refuses the accounts of development chains, by key and by address', () => {
      for (const account of development) {
        const known = toHex(account.getHdKey().privateKey!);
        const { TREASURY_PRIVATE_KEY: _, ...withoutKey } = good;
        assert.match(problemsOf({ ...good, TREASURY_PRIVATE_KEY: known }).join(), /well-known/);
        assert.match(problemsOf({ ...withoutKey, TREASURY_ADDRESS: account.address }).join(), /well-known/);
        assert.deepEqual(problemsOf({ ...good, TREASURY_PRIVATE_KEY: known, MODE: 'sandbox' }), []);
      }
    });

    it('refuses a placeholder as master key', () => {
      assert.match(problemsOf({ ...good, MASTER_KEY: '0'.repeat(64) }).join(), /^MASTER_KEY is a placeholder/);
      assert.deepEqual(problemsOf({ ...good, MASTER_KEY: '0'.repeat(64), MODE: 'sandbox' }), []);
    });

    it('uses the store of its surroundings only if none is named, by variable or file', () => {
      const beside = { EVENTSTORE_DEFAULT_URL: 'esdb://eventstore:2113?tls=false' };
      const storeOf = (env: Readonly<Record<string, string>>) =>
        readConfig({ ...good, EVENTSTORE_URL: '', ...beside, ...env }).eventStoreUrl;
      assert.equal(storeOf({}), beside.EVENTSTORE_DEFAULT_URL);
      const own = 'esdb://ops:pass@a:2113,b:2113?tlsCaFile=/etc/ca.crt';
      assert.equal(storeOf({ EVENTSTORE_URL: own }), own);
      const EVENTSTORE_URL_FILE = join(temporaryDirectory(), 'url');
      writeFileSync(EVENTSTORE_URL_FILE, `${own}\n`);
      assert.equal(storeOf({ EVENTSTORE_URL_FILE }), own);
      const inClear = problemsOf({ ...good, ...beside, EVENTSTORE_URL: 'esdb://events.example.com?tls=false' });
      assert.match(inClear.join(), /^EVENTSTORE_URL has tls=false/);
      assert.match(problemsOf({ ...good, EVENTSTORE_DEFAULT_URL: 'http://a' }).join(), /^EVENTSTORE_DEFAULT_URL /);
    });

    it('runs the embedded event store in production only where its operator names it', () => {
      const { EVENTSTORE_URL: _, ...without } = good;
      assert.deepEqual(problemsOf(without), [
        'EVENTSTORE_URL is required in production: name a store such as esdb://host:2113, or `embedded` for a trial or a small installation on one machine',
      ]);
      assert.deepEqual(problemsOf({ ...without, MODE: 'sandbox' }), []);
      const beside = { EVENTSTORE_DEFAULT_URL: 'esdb://eventstore:2113?tls=false' };
      assert.equal(readConfig({ ...good, ...beside }).eventStoreUrl, null);
    });

    it('uses another client of the event store only with a server', () => {
      assert.equal(readConfig(good).eventStoreClient, 'eventstoredb');
      const other = { ...good, EVENTSTORE_CLIENT: 'kurrentdb' };
      const onServer = { ...other, EVENTSTORE_URL: 'esdb://events:2113' };
      assert.deepEqual(problemsOf(onServer), []);
      assert.equal(readConfig(onServer).eventStoreClient, 'kurrentdb');
      assert.deepEqual(problemsOf({ ...other, EVENTSTORE_URL: 'embedded' }), [
        'EVENTSTORE_CLIENT=kurrentdb reaches no embedded event store: name a server in EVENTSTORE_URL, or remove EVENTSTORE_CLIENT',
      ]);
      assert.match(problemsOf({ ...good, EVENTSTORE_CLIENT: 'other' }).join(), /^EVENTSTORE_CLIENT/);
    });

    it('refuses an event store in clear beyond this machine, unless nobody else is in its network', () => {
      const at = (EVENTSTORE_URL: string, more = {}) => problemsOf({ ...good, EVENTSTORE_URL, ...more });
      for (const url of [
        'esdb://events.example.com:2113?tls=false',
        'esdb://admin:pass@10.0.0.7:2113?tls=False',
        'esdb+discover://events:2113?keepAliveInterval=10000&tls=false',
        'esdb://localhost.example.com:2113?tls=false',
        'esdb://localhost,events.example.com?tls=false',
        'esdb+discover://ops:p/a@ss@localhost,10.0.0.7?tls=false',
      ]) {
        assert.match(at(url).join(), /^EVENTSTORE_URL has tls=false/, url);
        assert.deepEqual(at(url, { EVENTSTORE_NETWORK: 'private' }), []);
        assert.deepEqual(at(url, { MODE: 'sandbox' }), []);
      }
      for (const url of [
        'esdb://events.example.com:2113',
        'esdb+discover://ops:pass@a:2113,b:2113,c:2113?tlsCaFile=/etc/ca.crt',
        'esdb://localhost:2113,127.0.0.1:2114?tls=false',
        'esdb://127.0.0.1:2113?tls=false',
        'esdb://localhost?tls=false',
        'esdb://[::1]:2113?tls=false',
        'esdb+unix:///data/eventstore/socket',
      ])
        assert.deepEqual(at(url), [], url);
    });

    it('accepts registrations only where mail can be sent, and registration is off by default', () => {
      const mail = { SMTP_URL: 'smtp://mail.example.com', MAIL_FROM: 'Payments <no-reply@example.com>' };
      assert.equal(readConfig(good).registration, 'closed');
      assert.match(
        problemsOf({ ...good, REGISTRATION: 'open' }).join(),
        /^REGISTRATION is open or invited and needs mail/,
      );
      assert.match(problemsOf({ ...good, SMTP_URL: mail.SMTP_URL }).join(), /^MAIL_FROM is required/);
      const { registration, mail: read } = readConfig({ ...good, ...mail, REGISTRATION: 'invited' });
      assert.deepEqual([registration, read], ['invited', { url: mail.SMTP_URL, from: mail.MAIL_FROM }]);
      assert.match(problemsOf({ ...good, MAILBOX_URL: 'http://localhost:8025' }).join(), /^MAILBOX_URL is for/);
    });

    it('refuses crash points', () => {
      assert.match(problemsOf({ ...good, CRASH_AT: 'payout.afterSign' }).join(), /^CRASH_AT is for tests/);
      assert.equal(readConfig({ ...good, CRASH_AT: 'payout.afterSign', MODE: 'sandbox' }).crashAt, 'payout.afterSign');
    });
  });
});
