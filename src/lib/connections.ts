/** Store addresses of a running service, for tools beside it: `DATA_DIR/connections.json`, readable only by its owner. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Connections {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
}

const path = (dataDir: string): string => join(dataDir, 'connections.json');

export async function writeConnections(dataDir: string, connections: Connections): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  const draft = `${path(dataDir)}.new`;
  await writeFile(draft, `${JSON.stringify(connections, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, path(dataDir));
}

/** Written by the last service of this directory, which may have ended since. */
export async function readConnections(dataDir: string): Promise<Connections | undefined> {
  try {
    return JSON.parse(await readFile(path(dataDir), 'utf8')) as Connections;
  } catch {
    return undefined;
  }
}
