/** Webhook secrets of apps that a developer registered in the sandbox: the service returns each once, and its log has them sealed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { eventCodec } from '../../commands/codec.ts';
import { readStream } from '../../commands/handle.ts';
import { webhookSecretContext } from '../../commands/merchantRegistration.ts';
import { fold } from '../../domain/decider.ts';
import type { MerchantEvent } from '../../domain/merchant/events.ts';
import { merchant } from '../../domain/merchant/state.ts';
import { appIdPattern } from '../../src/api/schemas/base.ts';
import { createSecretBox, parseMasterKey } from '../../src/security/masterKey.ts';
import { openEventStore } from '../../src/store/client.ts';

/** App that a webhook's body names. Returns undefined for a body that is not a webhook's. */
export function appIdIn(body: Uint8Array): string | undefined {
  try {
    const { data } = JSON.parse(Buffer.from(body).toString('utf8')) as { data?: { appId?: unknown } };
    const appId = data?.appId;
    return typeof appId === 'string' && new RegExp(appIdPattern).test(appId) ? appId : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads the app's current webhook secret from the log of the sandbox on this data directory. Returns undefined for an app without one.
 * @throws Error when the sandbox does not run
 */
export async function webhookSecretOf(dataDir: string, appId: string): Promise<string | undefined> {
  const settings = parseEnv(readFileSync(join(dataDir, 'service.env'), 'utf8'));
  const store = openEventStore({ url: settings['EVENTSTORE_URL'] ?? '' });
  try {
    const events = (await readStream(store, `merchant-${appId}`)).map(eventCodec.read);
    const state = fold(merchant, events.filter((event) => event !== undefined) as readonly MerchantEvent[]);
    if (!state.webhookSecret) return undefined;
    const box = createSecretBox(parseMasterKey(settings['MASTER_KEY'] ?? ''));
    return box.open(state.webhookSecret.ciphertext, webhookSecretContext(appId));
  } finally {
    await store.close();
  }
}
