/** Which forms of transfers a chain's rail builds and its signer signs. */
import { chainOf } from '../../domain/chains.ts';
import type { Form } from '../../domain/transfer/form.ts';
import { PayoutBlocked, type TransferOrder } from './ports.ts';

/** @throws PayoutBlocked for an order of another form than a plain transfer of a token or those that are named */
export function checkForm({ chainId, form }: TransferOrder, ...known: readonly Form['kind'][]): void {
  if (form === undefined || known.includes(form.kind)) return;
  throw new PayoutBlocked('formUnknown', `nothing of the kind ${form.kind} is done on ${chainOf(chainId).name}`);
}
