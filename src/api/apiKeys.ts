/** Whose a key is, as the read models, the list of revoked keys and the log agree on it. */
import { hostname } from 'node:os';
import { currentState } from '../../commands/handle.ts';
import { merchant } from '../../domain/merchant/state.ts';
import { type Caller, findApiKey } from '../../queries/apps.ts';
import type { Core } from '../core.ts';
import { openDatabase } from '../postgres/database.ts';
import { startWaits } from '../process/retryUnavailable.ts';
import { followRevocations, type Revocations } from './revocations.ts';

/**
 * A reading that takes longer is given up while the patience lasts. A new connection may take longer than that where processors are
 * busy: its first reading only comes too late for keys to be accepted, and the next one does not.
 */
const readingLimits = { connectionsMax: 1, statementTimeout_ms: 1_000, patience_ms: 500, connecting_ms: 5_000 };
const confirmedMax = 10_000;

/** On a connection of its own. */
export async function openRevocations({ config, clock, notifications, telemetry }: Core): Promise<Revocations> {
  const sql = openDatabase({ url: config.databaseUrl, applicationName: 'revoked keys', ...readingLimits });
  const name = `${hostname()}:${config.port} (process ${process.pid})`;
  const elapsed_ms = () => performance.now();
  const tell = startWaits(telemetry.logger);
  const followed = await followRevocations({ sql, notifications, clock, elapsed_ms, name, tell }).catch(
    async (error: unknown) => {
      await sql.close();
      throw error;
    },
  );
  return {
    isRevoked: followed.isRevoked,
    async close() {
      await followed.close();
      await sql.close();
    },
  };
}

/**
 * The caller that a key's hash stands for. Before an instance accepts a key for the first time, it asks the log as well: the read
 * models may not know of a revocation yet, and a Postgres from a backup may have lost it from the list. Later ones are in the list.
 */
export function callersByKey({
  reads,
  handle,
  revokedKeys,
}: Pick<Core, 'reads' | 'handle' | 'revokedKeys'>): (hash: string) => Promise<Caller | null> {
  const confirmed = new Set<string>();

  async function isValid({ keyId, appId }: Caller): Promise<boolean> {
    if (confirmed.has(keyId)) return true;
    const { keys } = await currentState(handle, merchant, appId);
    const key = keys.find((issued) => issued.keyId === keyId);
    if (key?.revoked) await revokedKeys.add({ keyId, appId });
    if (!key || key.revoked) return false;
    if (confirmed.size >= confirmedMax) confirmed.clear();
    confirmed.add(keyId);
    return true;
  }

  return async (hash) => {
    const caller = await findApiKey(reads, hash);
    return caller && (await isValid(caller)) ? caller : null;
  };
}
