import type { Cursor, Pass } from '../../commands/chainPorts.ts';
import { TransientError } from '../../commands/ports.ts';
import type { ChainId } from '../../domain/chains.ts';
import type { Instant } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';

/** Another instance moved the cursor: it handles this range now. */
export class CursorMoved extends TransientError {
  override readonly name = 'CursorMoved';
  constructor({ chainId, pass, blockNumber }: Cursor) {
    super(`another instance moved the ${pass} cursor of chain ${chainId} (here at ${blockNumber}): load it again`);
  }
}

export const endPassedChannel = 'end_passed';

export interface Cursors {
  load(chainId: ChainId, pass: Pass): Promise<Cursor | null>;
  /** Compare and set; `previous` is null for a pass without a cursor. @throws CursorMoved */
  save(next: Cursor, previous: Cursor | null): Promise<void>;
  /** Notifies the expiry worker that a pass has scanned past a payment's end. */
  tellEndPassed(): Promise<void>;
  /** Chain time of the slowest of these passes; null before all have begun. */
  scannedTo(chainId: ChainId, passes: readonly Pass[]): Promise<Instant | null>;
}

interface Row {
  readonly block_number: string;
  readonly block_hash: string;
  readonly chain_time: string;
}

/** Progress of each payin pass; survives rebuilds. */
export function createCursors(sql: Sql): Cursors {
  return {
    async load(chainId, pass) {
      const [row] = await sql.query<Row>(
        'SELECT block_number, block_hash, chain_time FROM ops.chain_cursors WHERE chain_id = $1 AND pass = $2',
        [chainId, pass],
      );
      return row
        ? {
            chainId,
            pass,
            blockNumber: BigInt(row.block_number),
            blockHash: row.block_hash,
            chainTime: row.chain_time as Instant,
          }
        : null;
    },

    async save(next, previous) {
      const { chainId, pass, blockNumber, blockHash, chainTime } = next;
      const values = [chainId, pass, blockNumber, blockHash, chainTime];
      const moved = previous
        ? await sql.query(
            `UPDATE ops.chain_cursors SET block_number = $3, block_hash = $4, chain_time = $5
              WHERE chain_id = $1 AND pass = $2 AND block_number = $6 AND block_hash = $7 RETURNING 1`,
            [...values, previous.blockNumber, previous.blockHash],
          )
        : await sql.query(
            `INSERT INTO ops.chain_cursors (chain_id, pass, block_number, block_hash, chain_time)
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING 1`,
            values,
          );
      if (moved.length === 0) throw new CursorMoved(next);
    },

    async tellEndPassed() {
      await sql.query(`SELECT pg_notify($1, '')`, [endPassedChannel]);
    },

    async scannedTo(chainId, passes) {
      const [row] = await sql.query<{ passes: bigint; slowest: string | null }>(
        'SELECT count(*) AS passes, min(chain_time) AS slowest FROM ops.chain_cursors WHERE chain_id = $1 AND pass = ANY ($2)',
        [chainId, passes],
      );
      return row?.passes === BigInt(passes.length) ? (row.slowest as Instant) : null;
    },
  };
}
