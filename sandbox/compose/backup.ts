/** Tools that write files, run as in docs/operate/containers.md, including a backup; and the restore after losing both stores. */
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Tried, type Typed, tellTried, words } from './operator.ts';
import type { Project } from './project.ts';

/** The user of the image. */
const user = 1000;

/** A separate container for one command, with ./backups in it. */
const inOne = (project: Project, ...command: readonly string[]): Promise<string> => {
  const mount = `${join(project.directory, 'backups')}:/backups`;
  return project.compose('run', '--rm', '--no-deps', '-v', mount, project.shape.tools, ...command);
};

export async function file(
  project: Project,
  commands: readonly Typed[],
  step: (text: string) => void,
): Promise<readonly Tried[]> {
  const folder = join(project.directory, 'backups');
  mkdirSync(folder);
  writeFileSync(join(folder, 'passphrase'), 'a passphrase of the check\n');
  if (process.getuid?.() === 0) chownSync(folder, user, user);
  else chmodSync(folder, 0o777);
  const tried: Tried[] = [];
  for (const { command, says } of commands)
    tried.push(await tellTried(step, command, says, () => inOne(project, ...words(command))));
  return tried;
}

/** Restores the log from the backup, and the read models from the log. The signer's signatures are on its own volume, which stays. */
export async function restored(project: Project, typed: Tried[], step: (text: string) => void): Promise<void> {
  const { engine, shape } = project;
  await project.down();
  for (const volume of await project.volumes())
    if (!volume.endsWith('_signer-data')) await engine.docker(['volume', 'rm', volume]);
  await project.compose(
    'up',
    '--detach',
    ...(shape.eventStores.length > 0 ? ['eventstore-users'] : ['eventstore']),
    'postgres',
  );
  await project.untilHealthy();
  const command =
    'npm run -s restore -- /backups/payments --secrets-to /backups/restored.env --passphrase-file /backups/passphrase';
  typed.push(await tellTried(step, command, /./, () => inOne(project, ...words(command))));
  await project.up();
}
