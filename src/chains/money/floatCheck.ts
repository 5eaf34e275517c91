/** Whether a treasury can pay: checked before anything is signed. */
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { formatAmount } from '../../../domain/money.ts';
import { PayoutBlocked, type TransferOrder } from '../ports.ts';

/**
 * @param held what the treasury can spend of the order's token, in smallest units
 * @throws PayoutBlocked when that is less than the order's amount
 */
export function checkFloat(held: bigint, treasury: string, { chainId, token, amount }: TransferOrder): void {
  if (held >= amount) return;
  const [need, have] = [amount, held].map((units) => `${formatAmount(units, token.decimals)} ${token.symbol}`);
  const { name } = chainOf(chainId);
  throw new PayoutBlocked(
    'float',
    `the treasury ${treasury} holds ${have} on ${name}, ${need} are to be paid: top it up`,
  );
}

/** The coin must pay for two transactions: the transfer, and one that replaces it or follows when it is dead. */
const reserve = 2n;

export interface Fee {
  readonly chainId: ChainId;
  /** The coin's smallest unit, in the plural: wei, lamports, stroops. */
  readonly unit: string;
  /** What one transaction can cost at most. */
  readonly most: bigint;
}

/**
 * @param held what the treasury can spend of the chain's coin, in smallest units
 * @throws PayoutBlocked when that cannot pay the fee, twice
 */
export function checkCoin(held: bigint, treasury: string, { chainId, unit, most }: Fee): void {
  const need = most * reserve;
  if (held >= need) return;
  const { name } = chainOf(chainId);
  throw new PayoutBlocked(
    'gas',
    `the treasury ${treasury} can spend ${held} ${unit} on ${name}, a transfer needs ${need}: top it up`,
  );
}
