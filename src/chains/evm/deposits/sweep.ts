import { type Address, encodeFunctionData, type Hex } from 'viem';
import { forwarderFactory } from '../../../../contracts/evm/artifacts/ForwarderFactory.ts';
import type { TokenRef } from '../../../../domain/payment/events.ts';
import type { Unsigned } from '../../ports.ts';
import type { EvmPayoutRail } from '../payouts/rail.ts';
import { forwarderAddresses } from './forwarder.ts';

/** Deposits that one transaction moves at most: each needs the gas of a new contract, and a transaction may use so much only (EIP-7825). */
export const sweepMax = 40;

/**
 * Moves a token's balances of deposits to the treasury, signed and sent like a payout.
 * @param salts of the deposits, 1 to `sweepMax`; an empty deposit among them costs gas and is no error
 */
export function prepareSweep(
  rail: EvmPayoutRail,
  salts: readonly Hex[],
  token: TokenRef,
  nonce: bigint,
): Promise<Unsigned> {
  if (salts.length === 0 || salts.length > sweepMax) {
    throw new RangeError(`a sweep takes 1 to ${sweepMax} deposits, not ${salts.length}: split it`);
  }
  const { factory } = forwarderAddresses(rail.account as Address);
  const { abi } = forwarderFactory;
  const data = encodeFunctionData({ abi, functionName: 'flush', args: [salts, token.address as Address] });
  return rail.prepareCall({ to: factory, data }, nonce);
}
