/** Signatures for sends of USDT0: the key signs sends to the treasury's own address on another chain, and refuses everything else. */
import assert from 'node:assert/strict';
import { type Address, decodeFunctionData, encodeFunctionData, type Hex, parseTransaction } from 'viem';
import {
  counterpartyOn,
  endpointIdOf,
  messageFeeLimit,
  oftOn,
  sendableOn,
} from '../../../../domain/rebalance/usdt0.ts';
import { instant } from '../../../../domain/time.ts';
import type { Form } from '../../../../domain/transfer/shapes.ts';
import { buildUnsigned, type Call, callFor } from '../../../../src/chains/evm/payouts/transaction.ts';
import { createEvmSigner } from '../../../../src/chains/evm/signer/signer.ts';
import { oftAbi } from '../../../../src/chains/evm/usdt0.ts';
import { createSpending } from '../../../../src/chains/money/spending.ts';
import { type SigningPurpose, SigningRefused, type TransferOrder } from '../../../../src/chains/ports.ts';
import { accountOf, treasury, treasuryKey } from '../../../support/anvil.ts';
import { ethereumUsdc } from '../../../support/payments.ts';
import { messageFee_wei } from '../../../support/usdt0.ts';

const thief = accountOf(3);
const price = { maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 8n };
const asBurn = { kind: 'burn', reference: 'rebalance-1/burn' } as const;
const usdtOn = (chainId: 1 | 42161) =>
  ({ symbol: 'USDT', address: sendableOn(chainId)?.address ?? '', decimals: 6 }) as const;

const sendForm = {
  kind: 'oftSend',
  ...{ destinationDomain: endpointIdOf(1), recipient: treasury as string, messageFee: messageFee_wei.toString() },
} as const;
const send = (change: Partial<TransferOrder> = {}, form: object = {}): TransferOrder => ({
  chainId: 42161,
  token: usdtOn(42161),
  receiver: counterpartyOn(42161),
  receiverMemo: null,
  amount: 100_000_000n,
  form: { ...sendForm, ...form } as Form,
  ...change,
});

describe('the treasury signer of sends by USDT0', () => {
  const open = (coinPerHour?: bigint) =>
    createEvmSigner({
      privateKey: treasuryKey,
      spending: createSpending(
        {
          ...{ perTransfer_usd: 1_000n, perHour_usd: 2_500n },
          ...(coinPerHour !== undefined && { coinPerHour: new Map([[42161, coinPerHour] as const]) }),
        },
        { now: () => instant(1_750_000_000_000) },
      ),
    });
  const sign = (
    ordered: TransferOrder,
    as: SigningPurpose = asBurn,
    call: Call = callFor(ordered, treasury),
    signer = open(),
  ) => signer.sign(buildUnsigned({ account: treasury, nonce: 7n, order: ordered, call, gas: 200_000n, price }), as);
  const refuses = (reason: string, ...args: Parameters<typeof sign>) =>
    assert.rejects(
      async () => sign(...args),
      (error) => error instanceof SigningRefused && error.reason === reason,
    );

  it('signs a send to its own address on another chain, with the ordered coin', async () => {
    const signed = parseTransaction((await sign(send())).bytes as Hex);
    assert.deepEqual([signed.to, signed.value], [oftOn(42161).toLowerCase(), messageFee_wei]);
    const { args } = decodeFunctionData({ abi: oftAbi, data: signed.data as Hex });
    const to = `0x${treasury.slice(2).toLowerCase().padStart(64, '0')}`;
    assert.deepEqual(args, [
      {
        dstEid: 30_101,
        to,
        amountLD: 100_000_000n,
        minAmountLD: 100_000_000n,
        extraOptions: '0x',
        composeMsg: '0x',
        oftCmd: '0x',
      },
      { nativeFee: messageFee_wei, lzTokenFee: 0n },
      treasury,
    ]);
  });

  const strange: readonly (readonly [string, TransferOrder])[] = [
    ['to another recipient', send({}, { recipient: thief })],
    ['to its own chain', send({}, { destinationDomain: endpointIdOf(42161) })],
    ['of another token', send({ token: ethereumUsdc.token })],
    ['on a chain without USDT0', send({ chainId: 8453 })],
    ['that names another receiver of the tokens', send({ receiver: thief })],
    ['of nothing', send({ amount: 0n })],
    ['with a memo', send({ receiverMemo: '1' })],
  ];
  for (const [name, order] of strange)
    it(`refuses a send ${name}`, () =>
      refuses('mismatch', order, asBurn, order.chainId === 8453 ? callFor(send(), treasury) : undefined));

  it('refuses a send to an endpoint that is no chain of ours', () =>
    refuses('mismatch', send({}, { destinationDomain: 30_102 }), asBurn, callFor(send(), treasury)));

  it('refuses a send for another purpose than a burn', async () => {
    for (const kind of ['payout', 'withdrawal', 'mint', 'sweep'] as const)
      await refuses('mismatch', send(), { kind, reference: 'p' });
  });

  const honest = {
    dstEid: 30_101,
    to: `0x${treasury.slice(2).toLowerCase().padStart(64, '0')}` as Hex,
    ...{ amountLD: 100_000_000n, minAmountLD: 100_000_000n },
    ...({ extraOptions: '0x', composeMsg: '0x', oftCmd: '0x' } as const),
  };
  type Param = typeof honest;
  const callOf = (
    change: Partial<Record<keyof Param, unknown>>,
    { refundTo = treasury, fee = messageFee_wei, ...call }: { refundTo?: Address; fee?: bigint } & Partial<Call> = {},
  ): Call => ({
    to: oftOn(42161) as Address,
    data: encodeFunctionData({
      abi: oftAbi,
      functionName: 'send',
      args: [{ ...honest, ...change } as Param, { nativeFee: fee, lzTokenFee: 0n }, refundTo],
    }),
    value: fee,
    ...call,
  });

  it('signs exactly the call that it rebuilds', async () => {
    await sign(send(), asBurn, callOf({}));
    const altered: Readonly<Record<string, Call>> = {
      recipient: callOf({ to: `0x${thief.slice(2).toLowerCase().padStart(64, '0')}` }),
      'a call on the destination': callOf({ composeMsg: '0x01' }),
      options: callOf({ extraOptions: '0x0003' }),
      command: callOf({ oftCmd: '0x01' }),
      'a lower minimum': callOf({ minAmountLD: 1n }),
      'a larger amount': callOf({ amountLD: 200_000_000n }),
      'another refund address': callOf({}, { refundTo: thief }),
      contract: callOf({}, { to: oftOn(137) as Address }),
      'more coin': callOf({}, { value: messageFee_wei * 2n }),
      'no coin': callOf({}, { value: 0n }),
      'a larger stated fee': callOf({}, { fee: messageFee_wei * 2n }),
    };
    for (const [name, call] of Object.entries(altered))
      await refuses('mismatch', send(), asBurn, call).catch((error: unknown) => assert.fail(`${name}: ${error}`));
  });

  it('refuses a message fee above its limit, or none', async () => {
    const most = messageFeeLimit(42161);
    await sign(send({}, { messageFee: most.toString() }));
    await refuses('fee', send({}, { messageFee: (most + 1n).toString() }));
    await refuses('fee', send({}, { messageFee: '0' }));
  });

  it('counts the message fee towards the coin of an hour', async () => {
    const gas = 200_000n * price.maxFeePerGas;
    await sign(send(), asBurn, undefined, open(gas + messageFee_wei));
    await refuses('coinPerHour', send(), asBurn, undefined, open(gas + messageFee_wei - 1n));
  });

  it('allows the contract of Ethereum to lock USDT, and no other contract or token', async () => {
    const form = { kind: 'allow', contract: 'usdt0Adapter', most: '5000000000' } as const;
    const allowance = (change: Partial<TransferOrder> = {}) =>
      send({ chainId: 1, token: usdtOn(1), receiver: oftOn(1), amount: 0n, form, ...change });
    const asDeployment = { kind: 'deployment', reference: 'operation-1' } as const;
    await sign(allowance(), asDeployment);
    await refuses('mismatch', allowance({ receiver: thief }), asDeployment);
    await refuses('mismatch', allowance({ token: ethereumUsdc.token }), asDeployment);
    await refuses('mismatch', allowance({ chainId: 42161, token: usdtOn(42161) }), asDeployment);
  });
});
