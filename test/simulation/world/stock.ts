/** Stock of a service that has run for a while: deposit addresses, whose keys are slow to derive. */
import { createHash } from 'node:crypto';
import { ownerKey, ownerScheme } from '../../../src/chains/solana/signer/keys.ts';
import { depositSeed } from '../chains/solana/chain.ts';
import type { PostgresModel, Row } from '../postgres/server.ts';

/** More than the service's own minimum. */
const stock = 600;

/** The same in all runs of a program. */
let made: readonly Row[] | null = null;

export function stockDeposits(postgres: PostgresModel): void {
  made ??= makeStock();
  for (const row of made) postgres.view.put('ops.deposit_owners', row);
}

function makeStock(): readonly Row[] {
  return Array.from({ length: stock }, (_, at) => {
    const salt = createHash('sha256').update(`deposit ${at}`).digest('hex');
    return { address: ownerKey(depositSeed, salt).address, scheme: ownerScheme, salt };
  });
}
