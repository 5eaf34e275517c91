/** Sweeps a deposit like the engine: prepares, signs, sends, and reads the result. */
import type { HeldDeposit } from '../../../../commands/sweeps/ports.ts';
import type { SigningPurpose, TransferOrder } from '../../../../commands/transferPorts.ts';
import { type SolanaWorld, signal } from '../world.ts';

const purpose: SigningPurpose = { kind: 'sweep', reference: 'operation-sweep-501-1-1' };

export function flushOrder(world: SolanaWorld, { address, salt, token, amount }: HeldDeposit): TransferOrder {
  const form = { kind: 'flush', deposits: [{ address, salt }] } as const;
  const receiver = world.treasury.publicKey.toBase58();
  return { chainId: 501, token, receiver, receiverMemo: null, amount, form, reference: purpose.reference };
}

export async function signedFlush(world: SolanaWorld, held: HeldDeposit) {
  const order = flushOrder(world, held);
  const attempt = await world.sign(await world.rail.numbering.prepare(order), 1, purpose);
  return { ...attempt, ...(order.form && { form: order.form }) };
}

/** @returns the result of the sweep */
export async function flushed(world: SolanaWorld, held: HeldDeposit) {
  const attempt = await signedFlush(world, held);
  await world.rail.broadcast(attempt.bytes);
  world.settle();
  return world.rail.fate([attempt], signal);
}
