import type { Chain, Token } from '../domain/chains.ts';
import { type Refusal, refuse } from '../domain/decider.ts';
import { type CanReceive, Unavailable } from './ports.ts';

export interface Receiving {
  readonly chain: Chain;
  readonly token: Token;
  readonly receiver: string;
  /** In smallest units; null while unknown. */
  readonly amount: bigint | null;
}

/**
 * Asks the chain whether the receiver can take the token. A chain that cannot be asked is a refusal too: try again.
 *
 * @param pointer of the field that names the receiver
 */
export async function askReceiver(
  ask: CanReceive,
  { chain, token, receiver, amount }: Receiving,
  pointer: string,
): Promise<Refusal | undefined> {
  try {
    const refusal = await ask(chain, token, receiver, amount);
    return refusal && refuse(refusal.refused, refusal.message, pointer);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    const message = `${chain.name} cannot be asked at present whether the receiver takes ${token.symbol}: try again in a moment`;
    return refuse('unavailable', message);
  }
}
