import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { restoreSecrets, writeSecrets } from '../../../tools/backup/archive.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';

describe('secrets beside a backup', () => {
  const directory = temporaryDirectory();

  it('are restored letter by letter, whatever letters they have', () => {
    const secrets = {
      MASTER_KEY: '0123456789abcdef'.repeat(4),
      DATABASE_URL: String.raw`postgres://app:back\nslash@db/app`,
      EVENTSTORE_URL: String.raw`esdb://admin:it's\new # "one"@log`,
      SMTP_URL: 'smtps://mail:`a"b`@host',
    };
    writeSecrets(directory, secrets, 'a long passphrase');
    const file = join(directory, 'restored.env');
    restoreSecrets(directory, 'a long passphrase', file);
    assert.deepEqual({ ...parseEnv(readFileSync(file, 'utf8')) }, secrets);
  });
});
