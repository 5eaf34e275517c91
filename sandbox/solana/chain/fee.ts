/** Cost of a transaction for its fee payer. */
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

/**
 * In lamports: a fixed amount per signature, and for priority the price of compute units times the requested number, or version 1's amount.
 */
export const feeOf = (message: Message): bigint =>
  signature_lamports * BigInt(message.header.numSignerAccounts) + priorityOf(message);

/** Price per compute unit, in millionths of a lamport. */
export function priceOf(message: Message): bigint {
  const { price, limit } = budgetOf(message);
  if (!message.budget) return price;
  return limit === 0n ? 0n : (priorityOf(message) * microLamports) / limit;
}

/** Compute units that the transaction may use. */
export const unitLimitOf = (message: Message): number => Number(budgetOf(message).limit);

function priorityOf(message: Message): bigint {
  if (message.budget) return message.budget.priorityFeeLamports ?? 0n;
  const { price, limit } = budgetOf(message);
  return (price * limit + microLamports - 1n) / microLamports;
}

/** The price of a compute unit in millionths of a lamport, and the limit of units. */
function budgetOf(message: Message): { readonly price: bigint; readonly limit: bigint } {
  if (message.budget) return { price: 0n, limit: BigInt(message.budget.computeUnitLimit ?? 0) };
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
  return { price, limit: BigInt(Math.min(limit ?? usual, units.max)) };
}
