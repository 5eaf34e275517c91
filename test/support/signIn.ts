/** Signs in to a sandbox as a merchant does: with the code of the mail. */
import { openMailFolder } from '../../sandbox/mailFolder.ts';
import type { Sandbox } from './sandbox.ts';

/** Returns headers that act for the app as its owner, until the session ends. The session survives restarts of the service. */
export async function ownerHeaders(sandbox: Sandbox, appId: string): Promise<Record<string, string>> {
  const { demoEmail: email, mailbox } = sandbox.file();
  const { body } = await sandbox.call('POST', '/merchant-api/sign-in', { body: { email } });
  const mails = openMailFolder(mailbox.folder);
  const code = () => /Your code is (\d{6})/.exec(mails.list().find(({ to }) => to === email)?.text ?? '')?.[1];
  await sandbox.until(() => code() !== undefined);
  const proof = { challenge: body.challenge, code: code() };
  const verified = await sandbox.call('POST', '/merchant-api/sign-in/verify', { body: proof });
  return { Authorization: `Bearer ${verified.body.token}`, 'X-App-Id': appId };
}
