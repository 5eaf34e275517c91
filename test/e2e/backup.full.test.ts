import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { restoresFromBackup } from './backup.ts';

describe('a log that is restored from a backup', () => {
  restoresFromBackup({
    async loseLog(dataDir) {
      renameSync(join(dataDir, 'eventstore'), join(dataDir, 'eventstore.lost'));
    },
  });
});
