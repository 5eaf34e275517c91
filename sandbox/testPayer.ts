/** The customer of the sandbox pays test payments of the dashboard. */
import type { HttpDeps } from '../src/api/index.ts';
import { fetchPayment, payAsCustomer } from './customer.ts';
import type { SandboxKeys } from './keys.ts';
import { readSandboxFile } from './sandboxFile.ts';

/** Pays one payment after the other, because all transfers have the nonces of one account. */
export function createTestPayer(dataDir: string, keys: SandboxKeys): NonNullable<HttpDeps['payTest']> {
  let last: Promise<unknown> = Promise.resolve();
  return ({ paymentId, paymentLink }) => {
    const paying = last.then(async () => {
      const sandbox = readSandboxFile(dataDir);
      if (!sandbox) throw new Error('the sandbox is still starting');
      const payment = await fetchPayment(sandbox, paymentId);
      return (await payAsCustomer(sandbox, keys, { ...payment, paymentLink })).hash();
    });
    last = paying.catch(() => {});
    return paying;
  };
}
