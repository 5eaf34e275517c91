import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';

/** Node's default is 250 ms: too little for a server on another continent whose other address has no route. */
const attempt_ms = 2_000;

/** Gives each address of a name 2 s to connect, for every client of this process without a time of its own. */
export const allowSlowConnects = (): void => setDefaultAutoSelectFamilyAttemptTimeout(attempt_ms);
