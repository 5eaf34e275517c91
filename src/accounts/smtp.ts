/** Sends mail through the operator's mail server. */
import type { Transporter } from 'nodemailer';
import { Unavailable } from '../../commands/ports.ts';
import { readEmail } from './emails.ts';
import type { Mail } from './outbox.ts';

/**
 * @returns false if the server refuses it for good. @throws Unavailable if the server cannot be reached; Error if it refuses this sender
 */
export type SendMail = (mail: Mail) => Promise<boolean>;

export interface MailSettings {
  /** smtp://user:password@host:587 (STARTTLS) or smtps://…:465. */
  readonly url: string;
  /** `Name <address>`. */
  readonly from: string;
}

/** One address, with an optional name before it. */
export function isSender(text: string): boolean {
  const [, address = text] = /^[^<>\p{C}"]*<([^<>]+)>$/u.exec(text) ?? [];
  return readEmail(address) !== undefined;
}

const connect_ms = 10_000;
const silence_ms = 20_000;
const connectionsMax = 3;

export interface Smtp {
  readonly send: SendMail;
  /** Connects to the server and signs in, without sending mail. @throws Error with the reason */
  verify(): Promise<void>;
  close(): void;
}

/** Sends a password only over TLS. */
export function createSmtp({ url, from }: MailSettings): Smtp {
  const options = {
    url,
    pool: true,
    maxConnections: connectionsMax,
    connectionTimeout: connect_ms,
    greetingTimeout: connect_ms,
    socketTimeout: silence_ms,
    requireTLS: new URL(url).username !== '',
    disableFileAccess: true,
    disableUrlAccess: true,
  } as const;
  let opened: Promise<Transporter> | undefined;
  /** The first mail loads the library: most processes send none. */
  const transport = () => {
    opened ??= import('nodemailer').then(({ createTransport }) => createTransport(options, { from }));
    return opened;
  };
  return {
    async verify() {
      await (await transport()).verify();
    },
    close: () => void opened?.then((transporter) => transporter.close()),
    async send({ to, subject, text }) {
      try {
        // As an object, which cannot turn into a list of addresses.
        const transporter = await transport();
        await transporter.sendMail({
          to: { name: '', address: to },
          subject,
          text,
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        return true;
      } catch (error) {
        return refusedOrThrown(error);
      }
    },
  };
}

interface SmtpError {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
}

/** The server's own words may contain the address or the text, so they are not passed on. */
function refusedOrThrown(error: unknown): boolean {
  const { code = 'unknown', command = '', responseCode = 0 } = error as SmtpError;
  if (command.startsWith('RCPT') && responseCode >= 500) return false;
  const what = `the mail server at SMTP_URL did not take a mail (${code}${responseCode > 0 ? ` ${responseCode}` : ''})`;
  const passes =
    responseCode > 0 ? responseCode < 500 : ['ESOCKET', 'ECONNECTION', 'ETIMEDOUT', 'EDNS', 'ETLS'].includes(code);
  if (passes) throw new Unavailable(`${what}: it is tried again`, 10);
  throw new Error(`${what}: check SMTP_URL and MAIL_FROM`);
}
