import { fileURLToPath } from 'node:url';
import { startProgram } from './startProgram.ts';

export interface MailboxOptions {
  /** Port of the page; 0 chooses a free one. An equal port at each start keeps its address. */
  readonly port: number;
  /** Keeps the newest mails as `<time>-<number>.eml`. */
  readonly folder: string;
  /** Outlive this process; otherwise it ends with it. */
  readonly detached?: boolean;
  /** Receives a detached mailbox's own errors. */
  readonly errorFile?: string;
}

export interface Mailbox {
  /** Address for sending mail. */
  readonly smtpUrl: string;
  /** Address of the page. */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('mailboxMain.ts', import.meta.url));

/** Starts a mail server that delivers nothing, as a separate process. @throws Error with its output if it does not start */
export async function startMailbox({ port, folder, errorFile, detached }: MailboxOptions): Promise<Mailbox> {
  const { facts, pid, stop } = await startProgram<{ smtpUrl: string; url: string }>({
    what: 'the mailbox',
    program,
    port,
    args: ['--folder', folder],
    logFile: errorFile,
    detached,
  });
  return { ...facts, pid, stop };
}
