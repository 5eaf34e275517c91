import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../src/runtime/childEnvironment.ts';

export interface ReceiverOptions {
  /** Keep it across starts: payments remember the URL. 0 takes a free one. */
  readonly port: number;
  /** One JSON line for each webhook: `{ receivedAt, headers, body, valid }`. */
  readonly logFile: string;
  /** JSON `{ "<appId>": "<webhook secret>" }`; read again for each webhook. */
  readonly secretsFile: string;
  /** Where its certificate is kept. */
  readonly certificates: string;
  /** Outlive this process; otherwise it ends with it. */
  readonly detached?: boolean;
  /** Where a detached receiver's own complaints go. */
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

/** Starts the webhook receiver as its own process. @throws Error when it does not start, with what it said */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { detached = false, errorFile } = options;
  const errors = errorFile ? openSync(errorFile, 'a') : 'inherit';
  const args = ['--port', String(options.port), '--log', options.logFile, '--secrets-file', options.secretsFile];
  args.push('--certificates', options.certificates, ...(detached ? ['--detached'] : []));
  const child = spawn(process.execPath, [program, ...args], {
    detached,
    env: childEnvironment(),
    stdio: ['ignore', 'ignore', errors, 'ipc'],
  });
  if (typeof errors === 'number') closeSync(errors);

  const ended = once(child, 'exit');
  const ready = await Promise.race([once(child, 'message'), ended.then(() => undefined)]);
  const started = ready?.[0] as { port: number; caFile: string } | undefined;
  if (!started || child.pid === undefined) {
    throw new Error(`the webhook receiver did not start on port ${options.port}: is the port taken?`);
  }
  if (detached) child.disconnect();
  child.unref();

  return {
    url: `https://127.0.0.1:${started.port}/webhooks`,
    port: started.port,
    caFile: started.caFile,
    pid: child.pid,
    async stop() {
      child.ref();
      child.kill('SIGTERM');
      await ended;
    },
  };
}
