import { spawnEmbeddedNode } from '../../src/store/node/spawn.ts';
import { onStop } from '../support/hooks.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { idleRestartContract } from './idleRestart.ts';

describe('an embedded node that is restarted while it is idle', () => {
  idleRestartContract(async () => {
    const dataDir = temporaryDirectory();
    let node = await spawnEmbeddedNode({ dataDir });
    onStop(() => node.stop());
    return {
      url: node.url,
      async restart() {
        await node.stop();
        node = await spawnEmbeddedNode({ dataDir });
      },
    };
  });
});
