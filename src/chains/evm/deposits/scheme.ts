import type { Address } from 'viem';
import type { Deposit } from '../../../../domain/payment/shapes.ts';
import type { DepositScheme } from '../../ports.ts';
import { keccak } from '../addresses.ts';
import { depositAddresses, hexOfBytes } from '../forwarder.ts';

/** Name of the derivation of salt and address; a change of either is a new version beside this one. */
export const depositScheme = 'evm-forwarder-1';

/** Salt of a payment's forwarder: a one-way derivation, so no payment id appears on a chain. */
export const depositSalt = (paymentId: string): Uint8Array => keccak(`payment-intents/${depositScheme}/${paymentId}`);

/**
 * Deposit addresses by CREATE2: no key and no transaction per payment, the same address on every EVM chain.
 * @param treasury the only account that forwarders pay to; another treasury has other addresses
 */
export function createEvmDeposits({ treasury }: { readonly treasury: Address }): DepositScheme {
  const depositOf = evmDeposits(treasury);
  return { intents: [], assign: async (paymentId) => depositOf(paymentId) };
}

/** Deposit of each payment, deterministic. */
export function evmDeposits(treasury: Address): (paymentId: string) => Deposit {
  const addressOf = depositAddresses(treasury);
  return (paymentId) => {
    const salt = depositSalt(paymentId);
    return {
      scheme: depositScheme,
      address: addressOf(salt),
      memo: null,
      contract: null,
      contractMemo: null,
      salt: `0x${hexOfBytes(salt)}`,
    };
  };
}
