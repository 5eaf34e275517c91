/** The sandbox's webhook receiver, its log and its secrets, in a directory of its own. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Receiver, startReceiver } from '../../sandbox/receiver.ts';
import { onStop } from './hooks.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

export interface LoggedWebhook {
  readonly receivedAt: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly valid: boolean;
}

export interface TestReceiver extends Receiver {
  readonly ca: string;
  readonly directory: string;
  setSecrets(secrets: Readonly<Record<string, string>>): void;
  logged(): readonly LoggedWebhook[];
}

/**
 * @param certificates where its certificate is kept. Default: a new one.
 * @param dataDir data directory of the sandbox whose apps it accepts
 */
export async function startTestReceiver(certificates?: string, dataDir?: string): Promise<TestReceiver> {
  const directory = temporaryDirectory();
  const logFile = join(directory, 'webhook.log');
  const secretsFile = join(directory, 'secrets.json');
  const receiver = await startReceiver({
    port: 0,
    logFile,
    secretsFile,
    certificates: certificates ?? directory,
    ...(dataDir !== undefined && { dataDir }),
  });
  onStop(() => receiver.stop());
  writeFileSync(logFile, '');
  return {
    ...receiver,
    directory,
    ca: readFileSync(receiver.caFile, 'utf8'),
    setSecrets: (secrets) => writeFileSync(secretsFile, JSON.stringify(secrets)),
    logged: () =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  };
}
