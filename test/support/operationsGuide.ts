/** Runs the commands of docs/operations.md that create the event store's user, word for word. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { admin, type RealCluster } from './realCluster.ts';

const folder = new URL('../../', import.meta.url).pathname;
const page = readFileSync(`${folder}docs/operations.md`, 'utf8');
const section = page.split("\n### The service's user\n")[1]?.split('\n## ')[0] ?? '';
const [create = '', grant = ''] = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block);

/** The user that the guide creates. */
export const guideUser = { name: 'payments', password: 'b0a1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d1e2f3' };

export const createGuideUser = (cluster: RealCluster) => run(create, cluster);
export const grantGuideUser = (cluster: RealCluster) => run(grant, cluster);

async function run(block: string, { caFile, nodes: [node = ''] }: RealCluster): Promise<void> {
  const env = {
    PATH: `${process.execPath.slice(0, process.execPath.lastIndexOf('/'))}:${process.env['PATH'] ?? ''}`,
    CA_FILE: caFile,
    NODE: node,
    ADMIN_PASSWORD: admin.password,
    PAYMENTS_PASSWORD: guideUser.password,
  };
  await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', block], { env, cwd: folder });
}
