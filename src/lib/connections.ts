/** Store addresses of a running service, for tools beside it: `DATA_DIR/connections.json`, readable only by its owner. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from './writeWhole.ts';

export interface Connections {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
}

const path = (dataDir: string): string => join(dataDir, 'connections.json');

export async function writeConnections(dataDir: string, connections: Connections): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  writeWhole(path(dataDir), `${JSON.stringify(connections, null, 2)}\n`);
}

/** Written by the last service of this directory, which may have ended since. */
export async function readConnections(dataDir: string): Promise<Connections | undefined> {
  try {
    return JSON.parse(await readFile(path(dataDir), 'utf8')) as Connections;
  } catch {
    return undefined;
  }
}
