import { introduceTypes, webhookTypes, webhookTypesInstance } from '../domain/webhookTypes.ts';
import type { Handle } from './handle.ts';

/**
 * Says in the log that these types of webhook are due from here on, of those that it does not know yet. Several instances may do so
 * at once: each type is introduced once.
 *
 * @throws Unavailable
 */
export async function introduceWebhookTypes(handle: Handle, types: readonly string[]): Promise<void> {
  const facts = { cause: 'worker:projections', appId: null } as const;
  await handle(webhookTypes, webhookTypesInstance, (introduced) => introduceTypes(introduced, types), facts);
}
