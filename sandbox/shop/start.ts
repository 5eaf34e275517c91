import { join } from 'node:path';
import { startProgram } from '../startProgram.ts';

export interface ShopOptions {
  /** Port of its pages and its webhook URL; 0 chooses a free one. Equal at each start, because payments keep the URL of their creation. */
  readonly port: number;
  readonly webhookPort: number;
  /** Keeps its orders and its settings. */
  readonly folder: string;
  /** Directory of its certificate. */
  readonly certificates: string;
  /** Outlive this process; otherwise it ends with it. */
  readonly detached?: boolean;
  /** Receives a detached shop's own errors. */
  readonly errorFile?: string;
}

export interface Shop {
  /** Address of its pages. */
  readonly url: string;
  readonly webhookUrl: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts the demo shop as a separate process. @throws Error with the log file if it does not start */
export async function startShop(options: ShopOptions): Promise<Shop> {
  const { port, webhookPort, folder, certificates, errorFile, detached } = options;
  const { facts, pid, stop } = await startProgram<{ url: string; webhookUrl: string }>({
    what: 'the demo shop',
    program: join(import.meta.dirname, 'main.ts'),
    port,
    args: ['--webhook-port', String(webhookPort), '--folder', folder, '--certificates', certificates],
    logFile: errorFile,
    detached,
  });
  return { ...facts, pid, stop };
}
