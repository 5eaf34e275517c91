/** Runs the commands of docs/operate/event-store.md that create the event store's user, word for word. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { storeAddress } from '../../src/store/address.ts';

const folder = new URL('../../', import.meta.url).pathname;
const page = readFileSync(`${folder}docs/operate/event-store.md`, 'utf8');
const section = page.split("\n## The service's user\n")[1]?.split('\n## ')[0] ?? '';
const [create = '', grant = ''] = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block);

/** The user that the guide creates. */
export const guideUser = { name: 'payments', password: 'b0a1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d1e2f3' };

/** @param url of the cluster, as its administrator */
export const createGuideUser = (url: string) => run(create, url);
export const grantGuideUser = (url: string) => run(grant, url);

async function run(block: string, url: string): Promise<void> {
  const { hosts, user, options } = storeAddress(url);
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    CA_FILE: options.tlsCAFile,
    NODE: hosts.map(({ address, port }) => `${address}:${port}`)[0],
    ADMIN_PASSWORD: user?.password,
    PAYMENTS_PASSWORD: guideUser.password,
  };
  await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', block], { env, cwd: folder });
}
