/** What a transaction will cost its fee payer. */
import type { Address } from '@solana/kit';
import {
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  ComputeBudgetInstruction,
  getSetComputeUnitLimitInstructionDataDecoder,
  getSetComputeUnitPriceInstructionDataDecoder,
  identifyComputeBudgetInstruction,
} from '@solana-program/compute-budget';
import { systemProgram } from './account.ts';
import type { Message } from './message.ts';

const signature_lamports = 5_000n;
const microLamports = 1_000_000n;
const units = { builtin: 3_000, other: 200_000, max: 1_400_000 };
const builtin: readonly string[] = [systemProgram, COMPUTE_BUDGET_PROGRAM_ADDRESS];

/** In lamports: so much for each signature, and for priority the price of compute units times how many were asked for, or what version 1 says. */
export const feeOf = (message: Message): bigint =>
  signature_lamports * BigInt(message.header.numSignerAccounts) +
  (message.budget ? (message.budget.priorityFeeLamports ?? 0n) : priorityOf(message));

function priorityOf(message: Message): bigint {
  let price = 0n;
  let limit: number | undefined;
  let usual = 0;
  for (const { programAddressIndex, data = new Uint8Array() } of message.instructions) {
    const program = message.staticAccounts[programAddressIndex] ?? ('' as Address);
    usual += builtin.includes(program) ? units.builtin : units.other;
    if (program !== COMPUTE_BUDGET_PROGRAM_ADDRESS) continue;
    const kind = identifyComputeBudgetInstruction({ data });
    if (kind === ComputeBudgetInstruction.SetComputeUnitPrice) {
      price = getSetComputeUnitPriceInstructionDataDecoder().decode(data).microLamports;
    }
    if (kind === ComputeBudgetInstruction.SetComputeUnitLimit) {
      limit = getSetComputeUnitLimitInstructionDataDecoder().decode(data).units;
    }
  }
  const asked = BigInt(Math.min(limit ?? usual, units.max));
  return (price * asked + microLamports - 1n) / microLamports;
}
