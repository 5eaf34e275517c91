/** Replaces src/postgres/migrate.ts: the model's tables exist from the start. */
import type * as real from '../../../src/postgres/migrate.ts';

export const migrate: typeof real.migrate = async () => {};
export const ddlOf: typeof real.ddlOf = async () => ({ tables: '', indexes: '' });
