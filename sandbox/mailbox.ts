import { fileURLToPath } from 'node:url';
import { startProgram } from './startProgram.ts';

export interface MailboxOptions {
  /** Of the page; 0 takes a free one. The same at each start keeps its address. */
  readonly port: number;
  /** Keeps the newest mails as `<time>-<number>.eml`. */
  readonly folder: string;
  /** Outlive this process; otherwise it ends with it. */
  readonly detached?: boolean;
  /** Where a detached mailbox's own complaints go. */
  readonly errorFile?: string;
}

export interface Mailbox {
  /** Where mail is sent to. */
  readonly smtpUrl: string;
  /** Where it can be read. */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('mailboxMain.ts', import.meta.url));

/** Starts the mail server that keeps all mail to itself as its own process. @throws Error when it does not start, with what it said */
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
