/** A store that can be restarted: the embedded node or the real EventStoreDB, on one data folder and one port. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onStop } from '../../support/hooks.ts';
import { startRealEventStore } from '../../support/realEventStore.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';

export type Signal = 'SIGTERM' | 'SIGKILL';

export interface Twin {
  readonly name: 'embedded' | 'real';
  readonly url: string;
  /** Ends the process by a signal and starts it again. Resolves when it answers. */
  restart(signal: Signal): Promise<void>;
}

interface Running {
  readonly url: string;
  readonly port: number;
  stop(signal: Signal): Promise<void>;
}

export async function realTwin(): Promise<Twin> {
  const { url, start, stop, kill } = await startRealEventStore();
  return {
    name: 'real',
    url,
    async restart(signal) {
      await (signal === 'SIGKILL' ? kill() : stop());
      await start();
    },
  };
}

export async function embeddedTwin(): Promise<Twin> {
  const dataDir = temporaryDirectory();
  let running = await startEmbedded(dataDir, 0);
  const { url, port } = running;
  onStop(() => running.stop('SIGTERM'));
  return {
    name: 'embedded',
    url,
    async restart(signal) {
      await running.stop(signal);
      running = await startEmbedded(dataDir, port);
    },
  };
}

const program = fileURLToPath(new URL('../../../tools/eventstore.ts', import.meta.url));

async function startEmbedded(dataDir: string, port: number): Promise<Running> {
  const child = spawn(process.execPath, [program, '--data', dataDir, '--port', `${port}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  const started = once(child.stdout, 'data').then(([line]) => `${line}`);
  const line = await Promise.race([started, exit.then(([code]) => `ended with code ${code}`)]);
  const found = /at (esdb:\/\/127\.0\.0\.1:(\d+)\?tls=false)/.exec(line);
  if (!found) throw new Error(`the embedded node did not start: ${line}`);
  const [, url = '', bound = ''] = found;
  return {
    url,
    port: Number(bound),
    async stop(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await exit;
    },
  };
}
