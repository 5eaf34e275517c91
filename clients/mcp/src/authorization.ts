/**
 * Authorizations of USDC (EIP-3009 `transferWithAuthorization`), checked before they are signed.
 *
 * The service is not trusted with the form of a signature: the server signs a transfer of USDC, on a chain of its own list, of at most the
 * allowed amount, valid for at most 16 minutes, and nothing else.
 */
import { z } from 'zod';

/** Address of USDC by EIP-155 chain id. Source: Circle's list of contract addresses. All have 6 decimals. */
const usdcAddresses: ReadonlyMap<number, string> = new Map([
  [8453, '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
  [1, '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'],
  [42161, '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'],
  [137, '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'],
]);

/** The service's authorizations last 15 minutes; one minute for clocks that differ. */
const validityMax_s = 16 * 60;

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/);

/** One thing that the payer can sign, as `GET <paymentLink>/authorization` returns it. */
export const Offer = z.object({
  chainId: z.number().int(),
  chainName: z.string(),
  tokenSymbol: z.string(),
  tokenAddress: address,
  amount: z.string(),
  typedData: z.object({
    domain: z.object({
      name: z.string(),
      version: z.string(),
      chainId: z.number().int(),
      verifyingContract: address,
    }),
    primaryType: z.literal('TransferWithAuthorization'),
    message: z.object({
      to: address,
      value: z.string().regex(/^[1-9][0-9]{0,30}$/),
      validAfter: z.string().regex(/^(0|[1-9][0-9]{0,11})$/),
      validBefore: z.string().regex(/^[1-9][0-9]{0,11}$/),
      nonce: z.string().regex(/^0x[0-9a-fA-F]{64}$/),
    }),
  }),
});
export type Offer = z.infer<typeof Offer>;

/** The types that are signed: the service's own copy of them is ignored. */
export const authorizationTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/**
 * Returns why the offer must not be signed; undefined if it may be.
 * @param amountMax in millionths of a dollar
 */
export function refusalOf(
  { typedData, tokenAddress, amount }: Offer,
  amountMax: bigint,
  now_s: number,
): string | undefined {
  const { domain, message } = typedData;
  const usdc = usdcAddresses.get(domain.chainId);
  if (usdc === undefined) return `chain ${domain.chainId} is not in this server's list`;
  const isUsdc = [domain.verifyingContract, tokenAddress].every((each) => each.toLowerCase() === usdc.toLowerCase());
  if (!isUsdc) return `${domain.verifyingContract} is not USDC on chain ${domain.chainId}`;
  const value = BigInt(message.value);
  if (value > amountMax) return `${dollarsOf(value)} is above the limit of ${dollarsOf(amountMax)}`;
  if (dollarsOf(value) !== dollarsOf(unitsOf(amount)))
    return `the bill says ${amount}, but its authorization moves ${dollarsOf(value)}`;
  if (Number(message.validBefore) > now_s + validityMax_s) return 'the authorization would be valid for too long';
  if (Number(message.validBefore) <= now_s) return 'the authorization has expired: read the bill again';
  return undefined;
}

/** Six decimals; -1n for text that is no amount. */
function unitsOf(amount: string): bigint {
  const [, whole, part = ''] = /^(\d{1,18})(?:\.(\d{1,6}))?$/.exec(amount) ?? [];
  return whole === undefined ? -1n : BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, '0'));
}

/** `2.5` for 2,500,000 millionths. */
export function dollarsOf(units: bigint): string {
  const part = (units % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '');
  return `${units / 1_000_000n}${part === '' ? '' : `.${part}`}`;
}
