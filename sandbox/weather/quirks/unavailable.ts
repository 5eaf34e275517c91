/** A gateway without a back end: HTTP 502 or 503, as every provider sends while it deploys (RFC 9110, 15.6.3 and 15.6.4). */
import { everywhere, onReplies, type Quirk } from '../quirk.ts';

export interface UnavailableSettings {
  /** Default: 503. */
  readonly status?: number;
}

export const unavailable: Quirk<UnavailableSettings> = {
  families: everywhere,
  says: 'HTTP 502 and 503',
  begin: ({ status = 503 }) =>
    onReplies(async () => ({
      status,
      headers: { 'content-type': 'text/html' },
      body: '<html>Service Unavailable</html>',
    })),
};
