import { mailsWorkerName, type Outbox } from '../../accounts/outbox.ts';
import type { SendMail } from '../../accounts/smtp.ts';
import type { Worker } from '../engine.ts';

const concurrency = 3;

/** Sends what waits in the outbox. Crash between sending and removing: it is sent twice. */
export const mailsWorker = (outbox: Pick<Outbox, 'due' | 'open' | 'remove'>, send: SendMail): Worker<string> => ({
  name: mailsWorkerName,
  concurrency,
  due: (max, now) => outbox.due(max, now),
  keyOf: (mailId) => mailId,
  async act(mailId) {
    const mail = await outbox.open(mailId);
    // A mailbox that does not exist is its owner's mistake: nobody can mend it here.
    if (mail) await send(mail);
    await outbox.remove(mailId);
  },
});
