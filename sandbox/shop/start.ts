import { join } from 'node:path';
import { startProgram } from '../startProgram.ts';

export interface ShopOptions {
  /** Of its pages, and of its webhook URL; 0 takes a free one. The same at each start: payments keep the URL that they were created with. */
  readonly port: number;
  readonly webhookPort: number;
  /** Keeps its orders and its settings. */
  readonly folder: string;
  /** Where its certificate is kept. */
  readonly certificates: string;
  /** Outlive this process; otherwise it ends with it. */
  readonly detached?: boolean;
  /** Where a detached shop's own complaints go. */
  readonly errorFile?: string;
}

export interface Shop {
  /** Of its pages. */
  readonly url: string;
  readonly webhookUrl: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts the demo shop as its own process. @throws Error when it does not start, with where to look */
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
