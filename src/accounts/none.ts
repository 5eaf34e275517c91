import { refuse } from '../../domain/decider.ts';
import type { Accounts } from './accounts.ts';

const closed = async () => refuse('unavailable', 'nobody can sign in here yet');

/** Of an installation where nobody signs in. */
export const noAccounts: Accounts = {
  register: closed,
  ask: closed,
  prove: closed,
  confirmRegistration: closed,
  discardRegistration: async () => {},
  findSession: async () => null,
  person: async () => null,
  pendingRegistrations: async () => [],
  sessions: async () => [],
  endSession: async () => false,
  endAllSessions: async () => 0,
};
