import type { KnownPerson } from './people.ts';

/** open: anybody registers. invited: whom the operator has invited. closed: nobody; who is known signs in all the same. */
export const registrationPolicies = ['open', 'invited', 'closed'] as const;
export type RegistrationPolicy = (typeof registrationPolicies)[number];

/** Whether this installation lets somebody in: without an invitation only where anybody may register. */
export const isWelcome = (policy: RegistrationPolicy, person: KnownPerson | null): person is KnownPerson =>
  person !== null && (policy === 'open' || person.provedAt !== null || person.invitedAt !== null);
