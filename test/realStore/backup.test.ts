import { restoresFromBackup } from '../e2e/backup.ts';
import { describeWorldOnRealStore } from '../support/realEventStore.ts';

describeWorldOnRealStore('a log that comes back from a backup', (eventStoreUrl, node) => {
  restoresFromBackup({
    eventStoreUrl,
    async loseLog() {
      await node().lose();
      await node().start();
    },
  });
});
