/** Pays a bill from the agent's own account: reads what can be signed, checks it, signs once, and waits for the result. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hex, isAddressEqual } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { z } from 'zod';
import { authorizationTypes, dollarsOf, Offer, refusalOf } from './authorization.ts';
import { billPath, NoAnswer, type Service, ServiceError } from './service.ts';
import type { SpendingLimits } from './settings.ts';

const Result = z.object({
  status: z.enum(['pending', 'paid', 'failed']),
  transaction: z.string().nullable(),
  reason: z.string().nullable(),
  message: z.string().nullable(),
});
type Result = z.infer<typeof Result>;

const Bill = z.object({ authorizations: z.array(Offer), last: Result.nullable() });

export interface PayOutcome extends Result {
  /** Null if nothing was signed. */
  readonly signed: { readonly amount: string; readonly chain: string; readonly payer: string } | null;
}

export interface PayDeps {
  readonly service: Service;
  readonly serviceUrl: string;
  readonly privateKey: Hex;
  readonly limits: SpendingLimits;
  /** Polls of the result, and the pause between them. */
  readonly polls?: number;
  readonly poll_ms?: number;
  readonly now_s?: () => number;
}

/**
 * Creates the function that pays. One bill is paid at a time, so parallel calls cannot exceed the total.
 *
 * A signature counts towards the total as soon as it exists, even if the service reports a failure: its holder can submit it until it
 * expires. If the process ends after a signature, the same call pays no second time: the service has one authorization per bill under way,
 * and the token accepts each nonce once.
 */
export function createPay(deps: PayDeps) {
  const { service, serviceUrl, privateKey, limits, polls = 30, poll_ms = 2_000 } = deps;
  const { now_s = () => Math.floor(Date.now() / 1_000) } = deps;
  const account = privateKeyToAccount(privateKey);
  let spent = 0n;
  let turn: Promise<unknown> = Promise.resolve();

  /** @param amountMax dollars that the caller allows for this bill. @throws ServiceError */
  return function pay(link: string, amountMax?: bigint): Promise<PayOutcome> {
    const paying = turn.then(() => payOne(link, amountMax));
    turn = paying.catch(() => {});
    return paying;
  };

  async function payOne(link: string, amountMax = limits.perPayment): Promise<PayOutcome> {
    const path = `${billPath(serviceUrl, link)}/authorization`;
    const bill = read(Bill, await service.call('GET', path));
    // An authorization that is under way, or has paid, is never repeated by another.
    if (bill.last && bill.last.status !== 'failed') return { ...bill.last, signed: null };
    let allowed = limits.total - spent;
    for (const limit of [amountMax, limits.perPayment]) if (limit < allowed) allowed = limit;
    const judged = bill.authorizations.map((offer) => ({ offer, refusal: refusalOf(offer, allowed, now_s()) }));
    const offer = judged.find(({ refusal }) => refusal === undefined)?.offer;
    if (!offer) {
      const why = judged.map(({ offer: { chainName }, refusal }) => `${chainName}: ${refusal}`).join('; ');
      throw new ServiceError(`nothing was signed: ${why || 'the bill takes no authorizations of USDC'}`);
    }
    const { typedData } = offer;
    const { message } = typedData;
    if (isAddressEqual(message.to as Hex, account.address)) throw new ServiceError('the bill pays the agent itself');
    spent += BigInt(message.value);
    const signature = await account.signTypedData({
      domain: { ...typedData.domain, verifyingContract: typedData.domain.verifyingContract as Hex },
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message: {
        from: account.address,
        to: message.to as Hex,
        value: BigInt(message.value),
        validAfter: BigInt(message.validAfter),
        validBefore: BigInt(message.validBefore),
        nonce: message.nonce as Hex,
      },
    });
    const { chainId, tokenAddress } = offer;
    const body = { chainId, tokenAddress, from: account.address, ...message, signature };
    const signed = { amount: dollarsOf(BigInt(message.value)), chain: offer.chainName, payer: account.address };
    for (let poll = 0; ; poll += 1) {
      // The same request again gets the result.
      const result = await handIn(path, body);
      if (result.status !== 'pending' || poll >= polls) return { ...result, signed };
      await sleep(poll_ms);
    }
  }

  /** A lost or overloaded answer says nothing about the payment: it stays pending. */
  async function handIn(path: string, body: object): Promise<Result> {
    const pending = { status: 'pending', transaction: null, reason: null, message: null } as const;
    try {
      const called = await service.call('POST', path, { body });
      return called.status === 429 || called.status >= 500 ? pending : read(Result, called);
    } catch (error) {
      if (error instanceof NoAnswer) return pending;
      throw error;
    }
  }
}

function read<T>(schema: z.ZodType<T>, { status, body }: { readonly status: number; readonly body: unknown }): T {
  if (status >= 400) throw new ServiceError(`the service answered ${status}: ${JSON.stringify(body).slice(0, 500)}`);
  const found = schema.safeParse(body);
  if (!found.success) throw new ServiceError(`the service answered ${status} in an unknown form`);
  return found.data;
}
