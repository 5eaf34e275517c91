/** Effects of a landed transfer on its account: one movement for each asset and reason. */
import type { ChainId } from '../chains.ts';
import { coinAddress } from '../money.ts';
import type { Landed, TransferLeg } from '../transfer/leg.ts';
import type { Cost, Form, LandedAt } from '../transfer/shapes.ts';

export interface Movement {
  readonly chainId: ChainId;
  readonly account: string;
  readonly txHash: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  /** `coin`, or a token's address. */
  readonly asset: string;
  /** `fee`, `rent`, or the reference of the transfer within the transaction. */
  readonly part: string;
  /** In smallest units, negative for an outgoing amount. */
  readonly amount: bigint;
}

/** A transfer as its stream holds it. */
export interface Moving {
  readonly reference: string;
  readonly leg: TransferLeg;
  /** Owner of the money. Default: the account that paid for the transaction. */
  readonly account?: string;
  /** Amount of a collection. */
  readonly arrived?: bigint;
}

/** Movements of a settled attempt, or of one that fell short. Events of older versions have no cost, so it is unknown. */
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

/** Forms whose transactions move no tokens of the account, whatever their order's amount. */
const withoutMovement: ReadonlySet<string> = new Set<Form['kind']>([
  'deploy',
  'allow',
  'anchor',
  'authorization',
  'authorizationEntry',
  'payerTransaction',
]);

function movedBy(
  { order: { form, amount } }: TransferLeg,
  cost: Cost | undefined,
  arrived: bigint | undefined,
): bigint {
  if (form && withoutMovement.has(form.kind)) return 0n;
  return form?.kind === 'flush' || form?.kind === 'mint' ? (arrived ?? amount) : -BigInt(cost?.left ?? amount);
}

type Paid = Pick<LandedAt, 'hash' | 'blockNumber' | 'blockHash'> & { readonly cost?: Cost };

/** Cost of a transaction to its payer, whatever its outcome. */
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
