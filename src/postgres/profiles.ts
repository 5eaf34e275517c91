/** Profiles and logos of apps in Postgres, outside the event log. */
import type { ProfileStore } from '../../commands/ports.ts';
import type { Profile } from '../../domain/merchant/profile.ts';
import type { Sql } from '../../projections/sql.ts';
import { profileOf } from '../../queries/apps.ts';

export const createProfileStore = (sql: Sql): ProfileStore => ({
  async keep(appId, { digest, content }) {
    await sql.query(
      'INSERT INTO ops.profiles (digest, app_id, content) VALUES ($1, $2, $3) ON CONFLICT (digest) DO NOTHING',
      [digest, appId, content],
    );
  },

  async find(digest) {
    const [row] = await sql.query<{ content: Partial<Profile> }>('SELECT content FROM ops.profiles WHERE digest = $1', [
      digest,
    ]);
    return row ? profileOf(row.content) : null;
  },

  async keepLogo(appId, { digest, type, bytes }) {
    await sql.query(
      'INSERT INTO ops.logos (digest, app_id, type, bytes) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
      [digest, appId, type, bytes],
    );
  },
});
