/**
 * The payment that an incoming transfer pays for, recorded in the log before a signature. An attacker who can append to the log can name one
 * transfer for two payments: it pays for the first one alone. A signer of its own keeps its own record (src/signer/record.ts).
 */
import { currentState, type Handle } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import type { ChainFamily } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { type Transfer, transferId } from '../../../domain/payment/events.ts';
import { paysInto } from '../../../domain/payment/payins.ts';
import { familyOf } from '../../../domain/payment/sources.ts';
import type { Payment } from '../../../domain/payment/state.ts';
import { fundingUse, useFunding } from '../../../domain/signing/fundingUse.ts';
import { objectionToUse, unmatched } from '../../../domain/unmatched.ts';

export interface FundingUsesDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  /** Whether a deposit of the family belongs to one payment by its derivation. */
  readonly derivesDepositFromPayment: (family: ChainFamily) => boolean;
}

/** Each method returns why the money pays for something else; undefined if it does not. Repeating a call changes nothing. */
export interface FundingUses {
  /** @param id of the payment's stream */
  useForPayment(id: string, payment: Payment, transfers: readonly Transfer[]): Promise<string | undefined>;
  /** @param transfer that no payment takes up, and that is to go back */
  objectionToRefund(transfer: Transfer): Promise<string | undefined>;
}

export function createFundingUses({ handle, clock, derivesDepositFromPayment }: FundingUsesDeps): FundingUses {
  /** The derivation of the deposit binds the transfer: it pays into no other payment's. */
  function isBound({ deposits }: Payment, transfer: Transfer): boolean {
    const family = familyOf(transfer);
    const deposit = deposits[family];
    return deposit !== undefined && derivesDepositFromPayment(family) && paysInto({ [family]: deposit }, transfer);
  }

  async function use(id: string, transfer: Transfer): Promise<string | undefined> {
    const now = clock.now();
    const facts = { cause: 'worker:payouts', appId: null } as const;
    const used = await handle(fundingUse, transferId(transfer), (state) => useFunding(state, id, now), facts);
    return isRefusal(used) ? used.message : undefined;
  }

  return {
    async useForPayment(id, payment, transfers) {
      for (const transfer of transfers) {
        // The use is recorded before the decision about a refund is read, and a refund reads the use after its decision: one of them sees the other.
        const objection =
          (isBound(payment, transfer) ? undefined : await use(id, transfer)) ??
          objectionToUse(await currentState(handle, unmatched, transferId(transfer)), id);
        if (objection !== undefined) return objection;
      }
      return undefined;
    },

    async objectionToRefund(transfer) {
      const used = await currentState(handle, fundingUse, transferId(transfer));
      return used === null ? undefined : `the transfer has paid for payment ${used}: it does not go back`;
    },
  };
}
