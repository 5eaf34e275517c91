/** Who runs a tool of the operator, for the audit trail. */
import { userInfo } from 'node:os';
import type { OperatorBy } from '../src/workers/treasury/operator.ts';

/** By the name of the account that asked sudo for this, else of the one that the process runs in; a container's may have a number only. */
export function operator(): OperatorBy {
  return { cause: `operator:${process.env['SUDO_USER'] || accountName()}` };
}

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
