/** A simulated process with the role `signer`: the treasury's keys and a log of its own. A crashed one is started again. */
import type { Config } from '../../../src/config.ts';
import { systemClock } from '../../../src/process/system.ts';
import { startSigner } from '../../../src/signerProcess.ts';
import { endProcess, runIn, type SimulatedProcess } from '../kernel/process.ts';
import { theRun } from '../kernel/run.ts';
import type { Instance } from './service.ts';

export type SignerInstance = Omit<Instance, 'api'>;

export function createSigner(config: Config): SignerInstance {
  let starts = 0;
  let process: SimulatedProcess | null = null;
  return {
    has: (other) => other === process,
    end() {
      if (process) endProcess(process);
    },
    start() {
      starts += 1;
      const own: SimulatedProcess = { name: `signer.${starts}`, alive: true, onEnd: new Set() };
      process = own;
      runIn(own, () => {
        startSigner(config, systemClock).then(
          () => theRun().note(`${own.name} is up`),
          (error: unknown) => {
            if (!own.alive) return;
            theRun().note(`${own.name} ends: ${String(error)}`);
            endProcess(own);
            theRun().crashed(own, 'start');
          },
        );
      });
    },
  };
}
