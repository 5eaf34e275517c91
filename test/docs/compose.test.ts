/** Both compose files against the code that they start. `npm run compose:check` starts them, which needs a container engine. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { load, YAML11_SCHEMA } from 'js-yaml';
import { defaultLimits } from '../../src/api/middleware.ts';
import { waitMax_s } from '../../src/api/schemas/queries.ts';
import { type Config, type Role, readConfig } from '../../src/config.ts';
import { sealKeystore } from '../../src/environment/keystore.ts';
import { storeAddress } from '../../src/store/address.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly scale?: number;
  readonly profiles?: readonly string[];
  readonly env_file?: string | readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: readonly string[] | Readonly<Record<string, { readonly aliases?: readonly string[] }>>;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
  readonly healthcheck?: object;
}

const root = new URL('../../', import.meta.url).pathname;
const text = (file: string) => readFileSync(join(root, file), 'utf8');
const servicesOf = (file: string) =>
  Object.entries((load(text(file), { schema: YAML11_SCHEMA }) as { services: Record<string, Service> }).services);
const one = servicesOf('docker-compose.yml');
const scaleServices = servicesOf('docker-compose.scale.yml');
const scale = Object.fromEntries(scaleServices);
/** Services that run this product as a service. */
const isOurs = ([, { image, environment }]: readonly [string, Service]) =>
  image === 'payment-intents' && environment?.['ROLES'] !== undefined;
const networksOf = ({ networks = [] }: Service): readonly string[] =>
  Array.isArray(networks) ? networks : Object.keys(networks);

const documented = Object.keys(parseEnv(text('.env.example').replace(/^# (?=[A-Z][A-Z0-9_]*=)/gm, '')));
/** Only `npm run rotate-master-key` reads them. */
const ofRotation = ['MASTER_KEY_OLD', 'MASTER_KEY_OLD_FILE'];
const treasury = `0x${'0123456789abcdef'.repeat(4)}`;

/** Values that an operator fills in. */
const filled = {
  PUBLIC_URL: 'https://pay.example.com',
  RPC_URLS_8453: 'https://base.example.com',
  TREASURY_ADDRESS: '0xFCAd0B19bB29D4674531d6f115237E16AfCE377c',
};
const filledForOne = {
  MASTER_KEY: '0123456789abcdef'.repeat(4),
  TREASURY_PRIVATE_KEY: treasury,
  POSTGRES_PASSWORD: 'secret',
};
const filledForScale = { EVENTSTORE_ADMIN_PASSWORD: 'secret' };

/** Merges the environment like compose: .env, then the file's entries, with variables of .env in them. */
function environmentOf({ environment = {} }: Service, dotEnv: Readonly<Record<string, string>>) {
  const fromFile = { ...parseEnv(text('.env.example')), ...dotEnv };
  const value = (said: string) =>
    said.replace(/\$\{([A-Z_]+):?(?:-([^}]*)|\?[^}]*)?\}/g, (_, name: string, fallback = '') => {
      const set = fromFile[name];
      return set === undefined || set === '' ? fallback : set;
    });
  const said = Object.entries(environment).map(([name, each]) => [name, value(String(each))]);
  return { ...fromFile, ...Object.fromEntries(said) } as Record<string, string>;
}

/** Maps paths inside a container to paths outside. */
const outside = ({ volumes = [] }: Service, directory: string, env: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]) => {
      const mount = volumes.map((each) => each.split(':')).find(([, inside]) => value.startsWith(`${inside}/`));
      const [from = '', inside = ''] = mount ?? [];
      return [name, mount ? join(directory, from, value.slice(inside.length)) : value];
    }),
  );

const keysOf = ({ treasuries }: Config) =>
  Object.values(treasuries).flatMap((each) => (each?.key == null ? [] : [each.key]));

describe('docker-compose.yml', () => {
  it('gives each role its needs, and the API no key', () => {
    const configs = one.filter(isOurs).map(([name, service]) => {
      const env = environmentOf(service, { ...filled, ...filledForOne });
      return [name, readConfig(env)] as const;
    });
    const byName = new Map(configs);
    assert.deepEqual(byName.get('api')?.roles, ['api']);
    assert.deepEqual(byName.get('service')?.roles, ['projections', 'subscribers']);
    assert.equal(keysOf(byName.get('api') as Config).length, 0);
    assert.equal(keysOf(byName.get('service') as Config).length, 1);
  });
});

describe('Postgres in both compose files', () => {
  it('begins with a superuser of its own, and deploy/compose/postgres-role.sql creates the service’s role', () => {
    for (const services of [one, scaleServices]) {
      const postgres = services.find(([name]) => name === 'postgres')?.[1];
      assert.equal(postgres?.environment?.['POSTGRES_USER'], 'postgres');
      const script = './deploy/compose/postgres-role.sql:/docker-entrypoint-initdb.d/postgres-role.sql:ro';
      assert.ok(postgres?.volumes?.includes(script), 'the script is not mounted');
    }
    assert.match(text('docker-compose.yml'), /DATABASE_URL: postgres:\/\/payments:/);
    assert.match(text('deploy/compose/prepare.sh'), /postgres:\/\/payments:/);
    assert.match(text('deploy/compose/postgres-role.sql'), /CREATE ROLE payments LOGIN NOSUPERUSER /);
  });

  it('runs read-only like the event store, and no API gets a former master key', () => {
    for (const [name, service] of one.filter(([each]) => ['postgres', 'eventstore'].includes(each)))
      assert.equal(service.read_only, true, name);
    for (const services of [one, scaleServices])
      for (const [name, { environment = {} }] of services.filter(([each]) => each === 'api'))
        assert.equal(environment['MASTER_KEY_OLD'], '', name);
  });
});

describe('the event store in both compose files', () => {
  const nodesOf = (services: readonly (readonly [string, Service])[]) =>
    services.filter(([name]) => /^eventstore(-[a-c])?$/.test(name));

  it('is EventStoreDB or KurrentDB, by one variable, on the same volumes', () => {
    const nodes = [...nodesOf(one), ...nodesOf(scaleServices)];
    assert.equal(nodes.length, 4);
    for (const [name, { image = '', environment = {}, volumes = [] }] of nodes) {
      assert.match(image, /^\$\{EVENTSTORE_IMAGE:-eventstore\/eventstore:24\.6\.0-jammy\}$/, name);
      // KurrentDB's default folders are outside the volumes: a restart would lose the log.
      for (const folder of [environment['EVENTSTORE_DB'], environment['EVENTSTORE_LOG']])
        assert.ok(
          volumes.some((each) => each.endsWith(`:${folder}`)),
          `${name} has no volume at ${folder}`,
        );
      assert.equal(environment['KURRENTDB__SECONDARY_INDEXING__ENABLED'], 'false', name);
    }
  });
});

describe('docker-compose.scale.yml', () => {
  /** The directory as `prepare` and an operator leave it. */
  let directory: string;
  let configs: ReadonlyMap<Role, Config>;
  const prepare = () =>
    execFileSync(
      'sh',
      [join(root, 'deploy/compose/prepare.sh'), join(directory, 'secrets'), String(process.getuid?.())],
      {
        encoding: 'utf8',
      },
    );
  before(() => {
    directory = temporaryDirectory();
    execFileSync('mkdir', [join(directory, 'secrets')]);
    prepare();
    const passphrase = readFileSync(join(directory, 'secrets/signer/passphrase'), 'utf8').trim();
    const keystore = sealKeystore({ TREASURY_PRIVATE_KEY: treasury }, passphrase);
    writeFileSync(join(directory, 'secrets/signer/treasury.keys'), keystore);
    const read = scaleServices.filter(isOurs).map(([, service]) => {
      const env = outside(service, directory, environmentOf(service, { ...filled, ...filledForScale }));
      const config = readConfig(env);
      return [config.roles[0] as Role, config] as const;
    });
    configs = new Map(read);
  });

  it('has every role once, each able to start in production, and a standby or more for all but the signer', () => {
    assert.deepEqual([...configs.keys()].sort(), ['api', 'projections', 'signer', 'subscribers']);
    for (const [, config] of configs) assert.equal(config.mode, 'production');
    for (const role of ['api', 'projections', 'subscribers']) assert.ok((scale[role]?.scale ?? 1) >= 2, role);
    assert.equal(scale['signer']?.scale, undefined);
  });

  it('names no variable that no code reads', () => {
    for (const [name, { environment = {} }] of scaleServices.filter(isOurs))
      for (const variable of Object.keys(environment))
        assert.ok([...documented, ...ofRotation].includes(variable), `${name}: ${variable}`);
  });

  it('gives keys to the signer alone, which only subscribers call and which knows no Postgres', () => {
    for (const [role, config] of configs) assert.equal(keysOf(config).length, role === 'signer' ? 1 : 0, role);
    for (const [role, { signing }] of configs) assert.equal(signing.remote !== null, role === 'subscribers', role);
    const url = new URL(configs.get('subscribers')?.signing.remote?.url ?? '');
    const { host, port } = configs.get('signer')?.signing.server ?? {};
    assert.deepEqual([url.hostname, Number(url.port)], [host, port]);
    const { networks } = scale['signer'] as { networks: Record<string, { aliases?: string[] }> };
    assert.deepEqual(networks['signing']?.aliases, [host]);
    const sharing = scaleServices.filter(([, service]) => networksOf(service).includes('signing'));
    assert.deepEqual(
      sharing.map(([name]) => name),
      ['subscribers', 'signer'],
    );
    assert.equal(configs.get('signer')?.databaseUrl, '');
    assert.ok(!networksOf(scale['signer'] ?? {}).includes('tables'));
  });

  it('mounts each folder of secrets where it is used, and the authorities’ keys nowhere', () => {
    const users = (folder: string) =>
      scaleServices
        .filter(([, { volumes = [] }]) => volumes.some((mount) => mount.startsWith(`./secrets/${folder}:`)))
        .map(([name]) => name);
    assert.deepEqual(users('signer'), ['signer', 'keystore']);
    assert.deepEqual(users('subscribers'), ['subscribers']);
    assert.deepEqual(users('authority'), []);
    assert.deepEqual(users('service'), ['api', 'projections', 'subscribers']);
    const whole = scaleServices.filter(([, { volumes = [] }]) => volumes.some((mount) => /^\.\/secrets:/.test(mount)));
    assert.deepEqual(
      whole.map(([name]) => name),
      ['prepare'],
    );
    for (const [, { volumes = [] }] of scaleServices)
      for (const mount of volumes) {
        const [, from = ''] = /^\.\/(.+?):/.exec(mount) ?? [];
        if (from) assert.ok(existsSync(join(from.startsWith('secrets') ? directory : root, from)), mount);
      }
  });

  it('has certificates that both ends accept, and changes nothing when it is prepared again', () => {
    const verify = (authority: string, certificate: string, host: string) =>
      execFileSync('openssl', ['verify', '-CAfile', authority, '-verify_hostname', host, certificate], {
        cwd: join(directory, 'secrets'),
        encoding: 'utf8',
        stdio: 'pipe',
      });
    for (const node of ['eventstore-a', 'eventstore-b', 'eventstore-c'])
      assert.match(verify('service/eventstore-ca.crt', `${node}/node.crt`, node), /OK/);
    assert.match(verify('subscribers/ca.pem', 'signer/cert.pem', 'signer.internal'), /OK/);
    assert.match(verify('signer/ca.pem', 'subscribers/cert.pem', 'subscribers.internal'), /OK/);
    assert.throws(() => verify('signer/ca.pem', 'eventstore-a/node.crt', 'eventstore-a'), /verification failed/);
    assert.equal(prepare(), '');
  });

  it('has an event store of three that seed each other, which the service calls by the same names', () => {
    const nodes = scaleServices.filter(([name]) => /^eventstore-[a-z]$/.test(name));
    const names = nodes.map(([name]) => name);
    assert.equal(names.length, 3);
    for (const [name, { environment = {}, volumes = [] }] of nodes) {
      const others = names.filter((each) => each !== name);
      assert.equal(environment['EVENTSTORE_CLUSTER_SIZE'], '3');
      assert.deepEqual(
        environment['EVENTSTORE_GOSSIP_SEED']?.split(','),
        others.map((each) => `${each}:2113`),
      );
      assert.equal(environment['EVENTSTORE_NODE_HOST_ADVERTISE_AS'], name);
      assert.equal(environment['EVENTSTORE_REPLICATION_HOST_ADVERTISE_AS'], name);
      assert.equal(environment['EVENTSTORE_INSECURE'], undefined);
      assert.ok(
        volumes.includes(`${name}-data:/var/lib/eventstore`) && volumes.some((each) => each.includes(`/${name}:`)),
      );
    }
    for (const role of ['api', 'projections', 'subscribers', 'signer'] as const) {
      const address = storeAddress(configs.get(role)?.eventStoreUrl ?? '');
      assert.deepEqual(
        address.hosts.map((host) => host.address),
        names,
      );
      assert.notEqual(address.options.tls, false);
      assert.equal(address.user?.username, role === 'signer' ? 'payments-signer' : 'payments-service');
    }
  });

  it('publishes the balancer alone, on loopback, and lets no service write or gain rights', () => {
    const published = scaleServices.filter(([, { ports = [] }]) => ports.length > 0);
    assert.deepEqual(
      published.map(([name]) => name),
      ['balancer'],
    );
    for (const port of scale['balancer']?.ports ?? []) assert.match(port, /^127\.0\.0\.1:/);
    for (const [name, service] of scaleServices) {
      if (!isOurs([name, service]) && !['balancer', 'keystore', 'prepare', 'eventstore-users'].includes(name)) continue;
      assert.equal(service.read_only, true, name);
      assert.deepEqual(service.cap_drop, ['ALL'], name);
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name);
    }
  });

  it('trusts X-Forwarded-For from the balancer’s network and from the proxies in front, and from nobody else', () => {
    const { trustedProxies } = readConfig(
      outside(
        scale['api'] ?? {},
        directory,
        environmentOf(scale['api'] ?? {}, { ...filled, TRUSTED_PROXIES: '192.0.2.7/32' }),
      ),
    );
    const [front] = configs.get('api')?.trustedProxies ?? [];
    assert.deepEqual(trustedProxies, [front, '192.0.2.7/32']);
    assert.match(text('docker-compose.scale.yml'), new RegExp(`subnet: \\$\\{FRONT_NETWORK:-${front}\\}`));
    const inFront = scaleServices.filter(([, service]) => networksOf(service).includes('front'));
    assert.deepEqual(
      inFront.map(([name]) => name),
      ['balancer', 'api'],
    );
  });
});

describe('deploy/compose/balancer.cfg', () => {
  const balancer = text('deploy/compose/balancer.cfg');
  const seconds = (name: string) => Number(new RegExp(`^\\s*${name} (\\d+)s$`, 'm').exec(balancer)?.[1]);

  it('sends requests to the API by its name and port, and repeats only those that no server accepted', () => {
    const port = scale['api']?.environment?.['PORT'];
    const servers = [...balancer.matchAll(/server-template \S+ (\d+) (\S+):(\d+)/g)];
    assert.equal(servers.length, 2);
    for (const [, most, host, to] of servers) {
      assert.deepEqual([host, to], ['api', port]);
      assert.ok(Number(most) >= (scale['api']?.scale ?? 0));
    }
    assert.match(balancer, /^\s*retry-on conn-failure$/m);
    assert.match(balancer, /^\s*option forwardfor$/m);
  });

  it('cuts no stream with messages as frequent as ours, and no client that waits for the feed', () => {
    for (const timeout of ['timeout client', 'timeout server']) {
      assert.ok(seconds(timeout) * 1_000 > 2 * defaultLimits.heartbeat_ms, timeout);
      assert.ok(seconds(timeout) > waitMax_s, timeout);
    }
  });

  it('ends before its container is killed', () => {
    assert.ok(seconds('hard-stop-after') < Number.parseInt(scale['balancer']?.stop_grace_period ?? '', 10));
  });
});
