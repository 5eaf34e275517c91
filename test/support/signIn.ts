/** Signs in as a merchant does: with the code of the mail. */
import { join } from 'node:path';
import { demoEmail } from '../../sandbox/seed.ts';
import type { LocalService } from './localService.ts';
import { codeMailedFromNow } from './mailedCode.ts';
import type { Sandbox } from './sandbox.ts';
import type { Shop } from './shop.ts';

/** Returns headers that act for the app as its owner, until the session ends. The session survives restarts of the service. */
export async function ownerHeaders(sandbox: Sandbox, appId: string): Promise<Record<string, string>> {
  const { demoEmail: email, mailbox } = sandbox.file();
  return signIn(sandbox, { email, folder: mailbox.folder, appId });
}

/** The same for the demo merchant of a service in this process. */
export const demoOwner = (service: LocalService): Promise<Record<string, string>> =>
  signIn(service, { email: demoEmail, folder: join(service.world().dataDir, 'mail'), appId: 'merchant_demo' });

async function signIn(
  { call, until }: Pick<Shop, 'call' | 'until'>,
  { email, folder, appId }: { readonly email: string; readonly folder: string; readonly appId: string },
): Promise<Record<string, string>> {
  const code = codeMailedFromNow(folder, { to: email });
  const { body } = await call('POST', '/merchant-api/sign-in', { body: { email } });
  await until(() => code() !== undefined);
  const proof = { challenge: body.challenge, code: code() };
  const verified = await call('POST', '/merchant-api/sign-in/verify', { body: proof });
  return { Authorization: `Bearer ${verified.body.token}`, 'X-App-Id': appId };
}
