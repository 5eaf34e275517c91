/**
 * An event with a value that an older SDK cannot decode: a new value type after a protocol upgrade (stellar.org, Bell upgrade guide: "SDK
 * upgrade is not optional"; js-stellar-sdk, "unknown ScValType member").
 */
import { fieldsOf, listOf } from '../call.ts';
import { onCalls, type Quirk } from '../quirk.ts';

export interface UnreadableEventSettings {
  /** Affected transactions. Default: all. */
  readonly hashes?: readonly string[];
}

/** XDR of a value type that no SDK knows. */
const unknownKind = 'AAAAZQ==';

export const unreadableEvent: Quirk<UnreadableEventSettings> = {
  families: ['stellar'],
  says: 'events that cannot be decoded',
  begin: ({ hashes }) =>
    onCalls(async ({ method, params }, next) => {
      const answer = await next(method, params);
      if (method !== 'getEvents') return answer;
      const events = listOf(fieldsOf(answer)['events']).map((each) => {
        const event = fieldsOf(each);
        return (hashes?.includes(String(event['txHash'])) ?? true) ? { ...event, value: unknownKind } : event;
      });
      return { ...fieldsOf(answer), events };
    }),
};
