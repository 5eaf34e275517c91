/** Changes the master key as docs/operate/containers.md describes for a signer with a separate log. */
import { type Tried, tellTried } from './operator.ts';
import type { Project } from './project.ts';

const oldFile = 'MASTER_KEY_OLD_FILE=/run/secrets/master_key_old';

export async function rotated(project: Project, typed: Tried[], step: (text: string) => void): Promise<void> {
  const { compose, shape } = project;
  const inSecrets = (script: string) =>
    compose('run', '--rm', '--entrypoint', 'sh', 'prepare', '-c', `cd /secrets && ${script}`);
  await compose('stop', ...shape.services);
  await inSecrets('cp -p service/master_key signer/master_key_old && mv service/master_key service/master_key_old');
  await compose('run', '--rm', 'prepare');
  for (const [service, ...more] of [[shape.tools], ['signer', '--', '--signer']] as const) {
    const command = ['npm', 'run', '-s', 'rotate-master-key', ...more];
    const work = () => compose('run', '--rm', '--no-deps', '-e', oldFile, service, ...command);
    typed.push(await tellTried(step, `${service}: ${command.join(' ')}`, /^Done/m, work));
  }
  await inSecrets('rm service/master_key_old signer/master_key_old');
  await project.up();
}
