import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'each read of an event gives its delivery another id',
  seenIn: 'webhook queues that are filled again after a rebuild',
  file: 'domain/webhook.ts',
  from: '  `${paymentEventId.slice(0, 14)}8${paymentEventId.slice(15)}`;',
  to: '  `${globalThis.crypto.randomUUID().slice(0, 14)}8${paymentEventId.slice(15)}`;',
  breaks: 'onePost',
  specs: ['test/projections/todos.test.ts'],
  seed: 1,
};
