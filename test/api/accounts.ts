/** Accounts without stores: every registration and sign-in succeeds, and even codes are right. */
import { refuse } from '../../domain/decider.ts';
import { hour_ms, instant, plus } from '../../domain/time.ts';
import { type Accounts, badEmail, codeWrong } from '../../src/accounts/accounts.ts';
import { readEmail } from '../../src/accounts/emails.ts';

const developerId = '0198f3c2-0000-4000-8000-00000000000d';
const expiresAt = plus(instant(Date.UTC(2026, 10, 21, 9)), hour_ms);
const challenge = 'c'.repeat(64);
const shown = { webhookSecret: 'd'.repeat(64), webhookSecretFingerprint: `sha256:${'e'.repeat(64)}` };

export const easyAccounts: Accounts = {
  async register({ email, kind, slug, webhookUrl }) {
    if (readEmail(email) === undefined) return badEmail();
    return { developerId, appId: `${kind}_${slug ?? 'made'}`, webhookUrl, ...shown, challenge, expiresAt };
  },
  begin: async (email) => (readEmail(email) === undefined ? badEmail() : { challenge, expiresAt }),
  registerApp: async (_developerId, { kind, slug }) => ({ appId: `${kind}_${slug ?? 'made'}` }),
  ask: async (email) => (readEmail(email) === undefined ? badEmail() : { challenge, expiresAt }),
  prove: async (_challenge, code) =>
    Number(code) % 2 === 0
      ? { token: 'a.b.c', expiresAt, developerId, registered: null, known: 'v1.known.text' }
      : codeWrong(4),
  askToConfirm: async () => ({ challenge, expiresAt }),
  confirm: async (_developerId, _challenge, code) => (Number(code) % 2 === 0 ? 'confirmed' : codeWrong(4)),
  confirmRegistration: async () => refuse('notFound', 'no registration of yours waits under this id', '/appId'),
  discardRegistration: async () => {},
  findSession: async () => null,
  person: async () => null,
  pendingRegistrations: async () => [],
  sessions: async () => [],
  endSession: async () => false,
  endAllSessions: async () => 0,
};
