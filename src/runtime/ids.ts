import { randomBytes, randomUUID } from 'node:crypto';
import { uuidV8 } from '../../commands/paymentId.ts';
import type { Ids } from '../../commands/ports.ts';

export const randomIds: Ids = {
  eventId: () => randomUUID(),
  paymentId: () => uuidV8(randomBytes(16)),
  secret: () => randomBytes(32).toString('hex'),
};
