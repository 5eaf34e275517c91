/** The examples of deploy/systemd and deploy/kubernetes, checked by the schemas of Kubernetes 1.3x, by systemd's own check, and against the image. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { type Role, readConfig } from '../../src/config.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const text = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
type Model = new (data: object) => { validate(): void };

/** Loads the package late, because its top-level await is not allowed in a spec file. */
async function loadKinds(): Promise<Readonly<Record<string, Model>>> {
  const groups = await Promise.all([
    import('kubernetes-models/v1'),
    import('kubernetes-models/apps/v1'),
    import('kubernetes-models/policy/v1'),
    import('kubernetes-models/networking.k8s.io/v1'),
  ]);
  return Object.assign({}, ...groups);
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom: readonly { readonly secretRef?: { readonly name: string } }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
}
interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly Container[] };
    };
  };
}

const resources = loadAll(text('deploy/kubernetes/payment-intents.yaml')) as readonly Resource[];
const deployments = resources.filter(({ kind }) => kind === 'Deployment');
const containerOf = ({ spec }: Resource): Container =>
  spec?.template?.spec.containers[0] ?? assert.fail('no container');

describe('deploy/kubernetes', () => {
  it('fits the schemas of Kubernetes, which refuse a wrong type', async () => {
    const kinds = await loadKinds();
    const kindOf = (name: string): Model => kinds[name] ?? assert.fail(name);
    assert.equal(resources.length, 11);
    for (const resource of resources) {
      new (kindOf(resource.kind))(resource).validate();
    }
    const wrong = { ...deployments[0], spec: { ...deployments[0]?.spec, replicas: 'two' } };
    assert.throws(() => new (kindOf('Deployment'))(wrong).validate(), /replicas/);
  });

  it('runs each role with settings that the service accepts, and only subscribers hold keys', () => {
    const settings = resources.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
    const stores = {
      MASTER_KEY: '0123456789abcdef'.repeat(4),
      DATABASE_URL: 'postgres://payments:secret@postgres/payments',
      EVENTSTORE_URL: 'esdb+discover://service:secret@eventstore:2113?tls=true',
    };
    const treasury = { TREASURY_PRIVATE_KEY: `0x${'0123456789abcdef'.repeat(4)}`, TREASURY_ADDRESS: '' };
    for (const [role, withKeys] of [
      ['api', false],
      ['projections', false],
      ['subscribers', true],
    ] as const) {
      const container = containerOf(deployments.find(({ metadata }) => metadata.name === role) ?? assert.fail(role));
      const secrets = container.envFrom.flatMap(({ secretRef }) => secretRef?.name ?? []);
      assert.deepEqual(secrets, withKeys ? ['stores', 'treasury'] : ['stores']);
      const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
      const config = readConfig({ ...settings, ...env, ...stores, ...(withKeys && treasury) });
      assert.deepEqual(config.roles, [role] satisfies readonly Role[]);
    }
  });

  it('confines each container, and every selector finds its pods', () => {
    for (const deployment of deployments) {
      const { securityContext } = containerOf(deployment);
      assert.equal(securityContext['readOnlyRootFilesystem'], true);
      assert.equal(securityContext['allowPrivilegeEscalation'], false);
      assert.deepEqual(deployment.spec?.selector?.matchLabels, deployment.spec?.template?.metadata.labels);
    }
    const budgets = resources.filter(({ kind }) => kind === 'PodDisruptionBudget');
    assert.deepEqual(
      budgets.map(({ spec }) => spec?.selector?.matchLabels),
      deployments.map(({ spec }) => spec?.selector?.matchLabels),
    );
  });
});

describe('deploy/systemd', () => {
  const unit = text('deploy/systemd/payment-intents@.service');

  it('starts the service as `npm run service` does', () => {
    const { scripts } = JSON.parse(text('package.json')) as { scripts: { service: string } };
    const [, options] = /^node (.*)$/.exec(scripts.service) ?? [];
    assert.ok(unit.includes(`/node_modules/.bin/node ${options}\n`), 'ExecStart differs');
  });

  it('passes the check of systemd', function () {
    const folder = temporaryDirectory();
    const file = join(folder, 'payment-intents@.service');
    // The check requires an existing program, so this names one of every machine.
    writeFileSync(file, unit.replaceAll('/opt/payment-intents/node_modules/.bin/node', '/bin/true'));
    try {
      execFileSync('systemd-analyze', ['--version'], { stdio: 'ignore' });
    } catch {
      this.skip();
    }
    execFileSync('systemd-analyze', ['verify', file], { stdio: 'pipe' });
    writeFileSync(file, unit.replace('Type=exec', 'Type=sometimes'));
    assert.throws(() => execFileSync('systemd-analyze', ['verify', file], { stdio: 'pipe' }));
  });
});
