/**
 * The answer breaks off in the middle: a connection that ends while a long body is sent, as balancers do when they drop a back end
 * (RFC 9112, 8: "incomplete messages").
 */
import { everywhere, onReplies, type Quirk } from '../quirk.ts';

export const cutBody: Quirk<object> = {
  families: everywhere,
  says: 'answers that break off',
  begin: () =>
    onReplies(async (next) => {
      const reply = await next();
      return { ...reply, cutAfter_bytes: Math.floor(Buffer.byteLength(reply.body) / 2) };
    }),
};
