/** Checks of a running service from outside, and of its mail server. */
import { createSmtp } from '../../src/accounts/smtp.ts';
import type { Config } from '../../src/config.ts';
import { broken, type Check, type DoctorFinding, errorReason, fineFinding, look } from './machine.ts';

const answer_ms = 10_000;
const bodyMost = 100_000;

type Asked = Pick<Config, 'mode' | 'operations' | 'publicUrl' | 'mail'>;

/** @param operationsUrl of the service that runs here. Default: its configured address */
export const serviceCheck = (config: Asked, operationsUrl?: string): Check => ({
  area: 'The service',
  async look(signal) {
    const { host, port } = config.operations;
    const local = operationsUrl ?? (port === 0 ? null : `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`);
    const findings = await Promise.all([
      local === null ? [] : readiness(local, signal),
      config.publicUrl === null ? [] : [await fromOutside(config.publicUrl, config.mode, signal)],
      config.mail === null ? [withoutMail] : [await mailServer(config.mail)],
    ]);
    return findings.flat();
  },
});

const withoutMail = look(
  'mail',
  'none is sent',
  'set SMTP_URL and MAIL_FROM: nobody can sign in to the dashboard without',
);

interface Readiness {
  readonly ready?: boolean;
  readonly checks?: Readonly<Record<string, { readonly ok: boolean; readonly detail?: string }>>;
}

async function readiness(url: string, signal: AbortSignal): Promise<readonly DoctorFinding[]> {
  try {
    const { body } = await ask(`${url}/readyz`, signal);
    const { ready, checks = {} } = JSON.parse(body) as Readiness;
    const troubled = Object.entries(checks).filter(([, { ok, detail }]) => !ok || detail);
    const state = ready
      ? fineFinding('ready', 'yes')
      : broken('ready', 'no', 'mend what follows, or what this program says above');
    return [
      state,
      ...troubled.map(([name, { ok, detail = '' }]) =>
        (ok ? look : broken)(`ready: ${name}`, detail || 'not ok', 'docs/operate/troubleshooting.md'),
      ),
    ];
  } catch {
    return [
      look(
        'ready',
        `nothing answers on ${url}`,
        'start it: npm run service; or set OPERATIONS_PORT to where it listens',
      ),
    ];
  }
}

async function fromOutside(url: string, mode: Config['mode'], signal: AbortSignal): Promise<DoctorFinding> {
  if (mode === 'production' && !url.startsWith('https:'))
    return broken('PUBLIC_URL', `${url} is not encrypted`, 'put a proxy with TLS before the service and name it');
  try {
    const { status } = await ask(`${url}/healthz`, signal);
    if (status === 200) return fineFinding('PUBLIC_URL', `${url} answers`);
    return look('PUBLIC_URL', `${url}/healthz answers ${status}`, 'let the proxy pass every path on to the service');
  } catch (error) {
    return look(
      'PUBLIC_URL',
      `${url} does not answer: ${errorReason(error)}`,
      'look at the proxy, its certificate and the name',
    );
  }
}

async function ask(url: string, signal: AbortSignal): Promise<{ readonly status: number; readonly body: string }> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(answer_ms)]);
  const answer = await fetch(url, { signal: patience, redirect: 'manual' });
  const body = await answer.text();
  if (body.length > bodyMost) throw new Error('the answer is not from this service');
  return { status: answer.status, body };
}

async function mailServer(mail: NonNullable<Config['mail']>): Promise<DoctorFinding> {
  const smtp = createSmtp(mail);
  try {
    await smtp.verify();
    return fineFinding('mail', `${new URL(mail.url).host} takes mail of ${mail.from}`);
  } catch (error) {
    return broken('mail', errorReason(error), 'look at SMTP_URL: host, port, user and password');
  } finally {
    smtp.close();
  }
}
