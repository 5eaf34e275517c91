/** Postgres refuses to run as root, and containers often run as root. The server then runs as another user. */
import { execFile } from 'node:child_process';
import { chown, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface ServerUser {
  /** Owner of the server's files in the view of this process; null if the files are ours. */
  readonly uid: number | null;
  readonly spawn: { readonly uid?: number; readonly gid?: number };
  command(file: string, args: readonly string[]): [file: string, args: string[]];
}

const run = promisify(execFile);
const nobody = 65_534;
const userNamespace = ['-U', '--map-user=1000', '--map-group=1000'];

const direct: ServerUser = { uid: null, spawn: {}, command: (file, args) => [file, [...args]] };

/** The files remain ours, and other users need no access to the binaries. */
export const inNamespace: ServerUser = {
  uid: 0,
  spawn: {},
  command: (file, args) => ['unshare', [...userNamespace, file, ...args]],
};

/** For kernels without user namespaces, as in many containers. */
export const asNobody: ServerUser = { ...direct, uid: nobody, spawn: { uid: nobody, gid: nobody } };

export async function serverUser(): Promise<ServerUser> {
  if (process.getuid?.() !== 0) return direct;
  return await run('unshare', [...userNamespace, 'true']).then(
    () => inNamespace,
    () => asNobody,
  );
}

/** Gives a file or a whole directory to the server's user, if another user's server left it. */
export async function owned(path: string, { uid }: ServerUser): Promise<void> {
  if (uid === null || (await stat(path)).uid === uid) return;
  if ((await stat(path)).isDirectory()) {
    for (const entry of await readdir(path, { recursive: true })) await chown(join(path, entry), uid, uid);
  }
  await chown(path, uid, uid);
}
