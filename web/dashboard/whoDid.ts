/** Causes of events as the owner of an app reads them. Nobody learns another person's e-mail. */

import type { SignedIn } from '../../src/api/callers.ts';
import type { Frame } from '../parts/frame.ts';

/** @param cause such as `developer:<id>`, `operator:<name>`, `key:<id>` */
export function whoDid(cause: string, { developerId }: SignedIn, { person }: Pick<Frame, 'person'>): string {
  const [kind, who = ''] = cause.split(':', 2);
  if (kind === 'developer') return who === developerId ? (person ?? 'you') : 'another owner';
  if (kind === 'operator') return 'the operator';
  if (kind === 'key') return 'an API key';
  return 'the service';
}
