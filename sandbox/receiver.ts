import { fileURLToPath } from 'node:url';
import { startProgram } from './startProgram.ts';

export interface ReceiverOptions {
  /** 0 chooses a free one. Use an equal port at each start, because payments keep the URL of their creation. */
  readonly port: number;
  /** One JSON line for each webhook: `{ receivedAt, headers, body, valid }`. */
  readonly logFile: string;
  /** JSON `{ "<appId>": "<webhook secret>" }`; read again for each webhook. */
  readonly secretsFile: string;
  /** Data directory of the sandbox whose apps it accepts. Default: it accepts the apps of `secretsFile` alone. */
  readonly dataDir?: string;
  /** Directory of its certificate. */
  readonly certificates: string;
  /** Outlive this process; otherwise it ends with it. */
  readonly detached?: boolean;
  /** Receives a detached receiver's own errors. */
  readonly errorFile?: string;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** The certificate to trust (PEM). */
  readonly caFile: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('receiverMain.ts', import.meta.url));

/** Starts the webhook receiver as a separate process. @throws Error with its output if it does not start */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { port, logFile, secretsFile, dataDir, certificates, errorFile, detached } = options;
  const { facts, pid, stop } = await startProgram<{ port: number; caFile: string }>({
    what: 'the webhook receiver',
    program,
    port,
    args: [
      ...['--log', logFile, '--secrets-file', secretsFile, '--certificates', certificates],
      ...(dataDir === undefined ? [] : ['--data-dir', dataDir]),
    ],
    logFile: errorFile,
    detached,
  });
  return { ...facts, url: `https://127.0.0.1:${facts.port}/webhooks`, pid, stop };
}
