/** What a transfer of ours did to the account that it left, once it is on its chain: one movement for each asset and reason. */
import type { ChainId } from '../chains.ts';
import { coinAddress } from '../money.ts';
import type { Landed, TransferLeg } from '../transfer/leg.ts';
import type { Cost, LandedAt } from '../transfer/shapes.ts';

export interface Movement {
  readonly chainId: ChainId;
  readonly account: string;
  readonly txHash: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  /** `coin`, or a token by its address. */
  readonly asset: string;
  /** `fee`, `rent`, or which of the transfers of the transaction: its reference. */
  readonly part: string;
  /** In smallest units, negative for what left. */
  readonly amount: bigint;
}

/** A transfer as its stream has it. */
export interface Moving {
  readonly reference: string;
  readonly leg: TransferLeg;
  /** Whose money it is; left out: the account's that paid for it. */
  readonly account?: string;
  /** What a collection brought. */
  readonly arrived?: bigint;
}

/** The transaction of a settled attempt, or of one that fell short. Without a cost, what it cost is not known: events of older versions. */
export function movementsOf({ reference, leg, account, arrived }: Moving, landed: Landed): readonly Movement[] {
  const { order, attempts } = leg;
  const signed = attempts.find((each) => each.signed.attempt === landed.attempt)?.signed;
  const owner = account ?? landed.cost?.payer ?? signed?.account;
  if (owner === undefined) return [];
  const place = placeOf(order.chainId, landed);
  const own = { ...place, account: owner, asset: order.token.address, part: reference };
  const amount = movedBy(leg, landed.cost, arrived);
  return [...(amount === 0n ? [] : [{ ...own, amount }]), ...costs(order.chainId, landed)];
}

function movedBy(
  { order: { form, amount } }: TransferLeg,
  cost: Cost | undefined,
  arrived: bigint | undefined,
): bigint {
  if (form?.kind === 'deploy' || form?.kind === 'allow' || form?.kind === 'anchor') return 0n;
  return form?.kind === 'flush' || form?.kind === 'mint' ? (arrived ?? amount) : -BigInt(cost?.left ?? amount);
}

type Paid = Pick<LandedAt, 'hash' | 'blockNumber' | 'blockHash'> & { readonly cost?: Cost };

/** What a transaction cost its payer, whatever became of it. */
export function costs(chainId: ChainId, paid: Paid): readonly Movement[] {
  const { cost } = paid;
  if (!cost) return [];
  const own = { ...placeOf(chainId, paid), account: cost.payer, asset: coinAddress };
  const parts = [
    { ...own, part: 'fee', amount: -BigInt(cost.fee) },
    { ...own, part: 'rent', amount: -BigInt(cost.rent ?? 0) },
  ];
  return parts.filter(({ amount }) => amount !== 0n);
}

const placeOf = (chainId: ChainId, { hash, blockNumber, blockHash }: Paid) => ({
  chainId,
  txHash: hash,
  blockNumber,
  blockHash,
});
