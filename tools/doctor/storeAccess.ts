/** The rights of EVENTSTORE_URL's user: tries each kind of access that the service needs, and writes nothing. */
import { randomUUID } from 'node:crypto';
import { streamPrefixes } from '../../commands/codec.ts';
import { type EventStore, type SealedEvent, StreamConflict } from '../../commands/ports.ts';
import { isForbidden, isUnauthenticated, Unusable } from '../../src/store/failures.ts';
import { broken, type Finding, fine } from './checks.ts';

export type AccessedStore = Pick<EventStore, 'all' | 'append' | 'read' | 'tail'>;

/** No payment has this id, so the default rights of new streams apply to the stream. */
const probeStream = 'payment-access-probe';
/** No stream has this revision: the server checks the right first, and then refuses the append with WrongExpectedVersion. */
const impossibleRevision = 2n ** 62n;
const guide = 'docs/operations.md, The event store';

interface Access {
  readonly verb: 'read' | 'follow' | 'append to';
  readonly target: '$all' | 'streams of payments';
  /** Permissions in the server's access control lists. */
  readonly permission: '$r' | '$w';
  readonly attempt: (store: AccessedStore) => Promise<unknown>;
}

const accesses: readonly Access[] = [
  { verb: 'read', target: '$all', permission: '$r', attempt: (store) => store.tail() },
  { verb: 'follow', target: '$all', permission: '$r', attempt: follow },
  {
    verb: 'read',
    target: 'streams of payments',
    permission: '$r',
    attempt: (store) => store.read(probeStream, { max: 1 }),
  },
  { verb: 'append to', target: 'streams of payments', permission: '$w', attempt: append },
];

/** @param user of EVENTSTORE_URL; null if the URL names none */
export async function storeAccess(store: AccessedStore, user: string | null): Promise<readonly Finding[]> {
  const refused: Access[] = [];
  for (const access of accesses) {
    const refusal = await access.attempt(store).then(() => null, refusalOf);
    if (refusal === 'unauthenticated') return [unauthenticated(user)];
    if (refusal === 'forbidden') refused.push(access);
  }
  if (refused.length === 0)
    return [fine('access', user === null ? 'no user is needed' : `all that user ${user} needs`)];
  return user === null
    ? [withoutUser]
    : [...forbidden('$all', refused, user), ...forbidden('streams of payments', refused, user)];
}

/** The first batch proves the right, and ends the subscription. */
async function follow(store: AccessedStore): Promise<void> {
  const stop = new AbortController();
  try {
    for await (const _ of store.all({ after: null, prefixes: streamPrefixes, signal: stop.signal })) return;
  } finally {
    stop.abort();
  }
}

async function append(store: AccessedStore): Promise<void> {
  const metadata = {
    prev: null,
    at: new Date().toISOString(),
    cause: 'operator:doctor',
    appId: null,
    schemaVersion: 1,
  };
  const event = { id: randomUUID(), type: 'AccessProbed', data: {}, metadata } as SealedEvent;
  await store.append(probeStream, impossibleRevision, [event]).catch((error: unknown) => {
    if (!(error instanceof StreamConflict)) throw error;
  });
}

/** @throws any error that is no refusal */
function refusalOf(error: unknown): 'unauthenticated' | 'forbidden' {
  const cause = error instanceof Unusable ? error.cause : null;
  if (isUnauthenticated(cause)) return 'unauthenticated';
  if (isForbidden(cause)) return 'forbidden';
  throw error;
}

const unauthenticated = (user: string | null): Finding =>
  broken(
    'access',
    `The event store refuses user ${user} or their password.`,
    `fix the user and password in EVENTSTORE_URL, or create the user: ${guide}`,
  );

const withoutUser = broken(
  'access',
  'The event store refuses callers without a user.',
  `create a user and name the user in EVENTSTORE_URL: ${guide}`,
);

function forbidden(target: Access['target'], refused: readonly Access[], user: string): readonly Finding[] {
  const missing = refused.filter((access) => access.target === target);
  if (missing.length === 0) return [];
  const permissions = [...new Set(missing.map(({ permission }) => `"${permission}"`))].join(' and ');
  const list = target === '$all' ? 'the access control list of $all' : '"$userStreamAcl" in the stream $settings';
  return [
    broken(
      'access',
      `User ${user} may not ${missing.map(({ verb }) => verb).join(' or ')} ${target}.`,
      `add "${user}" to ${permissions} of ${list}: ${guide}`,
    ),
  ];
}
