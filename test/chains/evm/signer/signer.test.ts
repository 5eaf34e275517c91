import assert from 'node:assert/strict';
import { encodeFunctionData, erc20Abi, type Hex, hexToBytes, parseTransaction, recoverTransactionAddress } from 'viem';
import type { Clock } from '../../../../commands/ports.ts';
import { type ChainId, chainOf, chains, findToken, type Token } from '../../../../domain/chains.ts';
import { hour_ms, instant } from '../../../../domain/time.ts';
import type { Form } from '../../../../domain/transfer/shapes.ts';
import {
  depositAddresses,
  flushCall,
  forwarderAddresses,
  forwarderDeployment,
} from '../../../../src/chains/evm/addresses.ts';
import { type EvmChainId, feesOf } from '../../../../src/chains/evm/config.ts';
import {
  buildUnsigned,
  type Call,
  type EvmPayload,
  noOrder,
  transferCall,
} from '../../../../src/chains/evm/payouts/transaction.ts';
import { createEvmSigner } from '../../../../src/chains/evm/signer/signer.ts';
import { createSpending } from '../../../../src/chains/money/spending.ts';
import { SigningRefused, type TransferOrder, type Unsigned } from '../../../../src/chains/ports.ts';
import { accountOf, treasury, treasuryKey } from '../../../support/anvil.ts';

const receiver = accountOf(3);
const price = { maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 8n };
const payout = { kind: 'payout', reference: 'payment-1' } as const;
const sweep = { kind: 'sweep', reference: 'sweep-1' } as const;
const deployment = { kind: 'deployment', reference: 'operation-1' } as const;
const cancel = { kind: 'cancel', reference: 'payment-1' } as const;

describe('treasury signer', () => {
  let now_ms: number;
  const clock: Pick<Clock, 'now'> = { now: () => instant(now_ms) };
  const limits = { perTransfer_usd: 100n, perHour_usd: 250n };
  const open = () =>
    createEvmSigner({ privateKey: treasuryKey, chainIds: [8453, 56, 1], spending: createSpending(limits, clock) });
  beforeEach(() => {
    now_ms = 1_750_000_000_000;
  });

  it('signs the ordered transfer, the same bytes each time', async () => {
    const signer = open();
    const unsigned = transfer(usd(5n));
    const signed = await signer.sign(unsigned, payout);
    assert.equal(signer.account, treasury);
    assert.deepEqual(await signer.sign(unsigned, payout), signed);
    const parsed = parseTransaction(signed.bytes as Hex);
    assert.equal(await recoverTransactionAddress({ serializedTransaction: signed.bytes as never }), treasury);
    assert.deepEqual([parsed.to, parsed.nonce, parsed.chainId], [unsigned.order.token.address.toLowerCase(), 7, 8453]);
  });

  describe('refuses', () => {
    const refusals: readonly (readonly [string, string, () => Unsigned])[] = [
      ['a chain that it does not serve', 'chain', () => transfer(usd(1n, 137))],
      ['a chain other than the order’s', 'chain', () => ({ ...transfer(usd(1n)), chainId: 56 })],
      ['another account', 'account', () => ({ ...transfer(usd(1n)), account: receiver })],
      ['a missing nonce', 'account', () => ({ ...transfer(usd(1n)), nonce: null })],
      ['a fee that burns the treasury', 'fee', () => transfer(usd(1n), { gas: 10n ** 12n })],
      ['a fee below nothing, which would make room for others', 'fee', () => transfer(usd(1n), { gas: -1n })],
      ['more than one transfer may carry', 'perTransfer', () => transfer(usd(100n, 8453, 1n))],
      ['the same with 18 decimals', 'perTransfer', () => transfer(usd(100n, 56, 1n))],
      ['nothing', 'mismatch', () => transfer(usd(0n))],
      ['another receiver', 'mismatch', () => transfer(usd(1n), { call: callOf({ receiver: accountOf(4) }) })],
      ['another amount', 'mismatch', () => transfer(usd(1n), { call: callOf({ amount: 1_000_001n }) })],
      ['another token', 'mismatch', () => transfer(usd(1n), { call: { ...callOf({}), to: accountOf(5) } })],
      ['another decimals', 'mismatch', () => transfer({ ...usd(1n), token: { ...usd(1n).token, decimals: 18 } })],
      ['an approval', 'mismatch', () => transfer(usd(1n), { call: approval() })],
      ['a call with more behind it', 'mismatch', () => transfer(usd(1n), { call: longer() })],
    ];
    for (const [what, reason, unsigned] of refusals) {
      it(what, () => rejectsAs(reason, open().sign(unsigned(), payout)));
    }

    for (const { id, name, tokens } of chains.filter(({ family, tokens }) => family === 'evm' && tokens.length > 1)) {
      it(`an order for one token of ${name} that is paid in another of its tokens`, async () => {
        const signer = createEvmSigner({ privateKey: treasuryKey, spending: createSpending(limits, clock) });
        const orders = tokens.map((token) => orderIn(id, token));
        for (const ordered of orders) {
          for (const paid of orders) {
            const unsigned = transfer(ordered, { call: transferCall(paid) });
            if (paid === ordered) await signer.sign(unsigned, payout);
            else await rejectsAs('mismatch', signer.sign(unsigned, payout));
          }
        }
      });
    }

    it('an order for a token by the name of another: the contract decides', async () => {
      const [usdc, usdt] = ['USDC', 'USDT'].map((symbol) => findToken(chainOf(1), symbol)!) as [Token, Token];
      const misnamed = orderIn(1, { ...usdc, address: usdt.address });
      await rejectsAs('mismatch', open().sign(transfer(misnamed, { call: transferCall(orderIn(1, usdc)) }), payout));
      await rejectsAs('mismatch', open().sign(transfer(orderIn(1, usdc), { call: transferCall(misnamed) }), payout));
    });

    it('a transfer that claims to be a sweep or a cancel', async () => {
      await rejectsAs('mismatch', open().sign(transfer(usd(1n)), sweep));
      await rejectsAs('mismatch', open().sign(transfer(usd(1n)), cancel));
    });

    const strange: readonly (readonly [string, () => Unsigned])[] = [
      ['by another factory', () => flushing({}, { to: accountOf(9) })],
      ['of a token that is not in the catalogue', () => flushing({ token: { ...usdc, address: accountOf(9) } })],
      ['to somebody else', () => flushing({ receiver })],
      ['of nothing', () => flushing({ amount: 0n })],
      ['of an address that its salt does not make', () => flushing({ form: flushOf({ address: accountOf(9) }) })],
      ['of a salt that is none', () => flushing({ form: flushOf({ salt: '0x11' }) })],
      ['that flushes others than were ordered', () => flushing({}, flushCall(treasury, [other32], usdc.address))],
      ['of another token than was ordered', () => flushing({}, flushCall(treasury, [salt], usdtAddress))],
      [
        'that is ordered as a plain transfer',
        () => transfer(sweepOrder(), { call: flushCall(treasury, [salt], usdc.address) }),
      ],
    ];
    for (const [what, unsigned] of strange)
      it(`a sweep ${what}`, () => rejectsAs('mismatch', open().sign(unsigned(), sweep)));

    it('a sweep of no deposit', () =>
      rejectsAs('fee', open().sign(flushing({ form: { kind: 'flush', deposits: [] } }), sweep)));

    it('more gas for a sweep, and for a transfer the limit of a sweep', async () => {
      const deposits = Array.from({ length: 100 }, () => own);
      const form = { kind: 'flush', deposits } as const;
      const dear = { gas: 40_000_000n, price };
      await rejectsAs('fee', open().sign(transfer({ ...usd(1n), form }, dear), payout));
      await rejectsAs('mismatch', open().sign(transfer({ ...usd(1n), form }), payout));
      const { payload, ...flush } = flushing({ form });
      const dearer = { ...flush, payload: { ...(payload as EvmPayload), maxFeePerGas: String(6n * 10n ** 9n) } };
      await rejectsAs('fee', open().sign(dearer, sweep));
    });

    it('a deployment of anything else, or that pays', async () => {
      await open().sign(deploying({}), deployment);
      await rejectsAs('mismatch', open().sign(deploying({}, forwarderDeployment(receiver)), deployment));
      await rejectsAs('mismatch', open().sign(deploying({ amount: 1n }), deployment));
      await rejectsAs('mismatch', open().sign(deploying({ receiver }), deployment));
      await rejectsAs('mismatch', open().sign(deploying({}), payout));
      await rejectsAs('mismatch', open().sign(transfer(usd(1n)), deployment));
      await rejectsAs('mismatch', open().sign(transfer(usd(1n)), { ...deployment, kind: 'anchor' }));
    });
  });

  it('signs up to the operator’s limit for a transaction, and no more', async () => {
    const feesOn = (chainId: EvmChainId) => feesOf(chainId, { gasMax: 65_000n, gasPriceMax_gwei: 1n });
    const strict = createEvmSigner({ privateKey: treasuryKey, feesOn, spending: createSpending(limits, clock) });
    const priced = (gwei: bigint) =>
      transfer(usd(1n), { gas: 65_000n, price: { maxFeePerGas: gwei * 10n ** 9n, maxPriorityFeePerGas: 1n } });
    await strict.sign(priced(1n), payout);
    await rejectsAs('fee', strict.sign(priced(2n), payout));
  });

  it('signs a cancel of a nonce and a sweep of its own deposits', async () => {
    await open().sign(other({ to: treasury, data: '0x' }), cancel);
    await open().sign(flushing({}), sweep);
  });

  it('signs no more than the hourly limit over all chains, in any sixty minutes', async () => {
    const signer = open();
    await signer.sign(transfer(usd(100n), { nonce: 1n }), payout);
    now_ms += hour_ms / 2;
    await signer.sign(transfer(usd(100n, 56), { nonce: 1n }), payout);
    await rejectsAs('perHour', signer.sign(transfer(usd(51n), { nonce: 2n }), payout));
    await signer.sign(transfer(usd(50n), { nonce: 2n }), payout);
    now_ms += hour_ms / 2;
    await signer.sign(transfer(usd(100n), { nonce: 3n }), payout);
    await rejectsAs('perHour', signer.sign(transfer(usd(1n), { nonce: 4n }), payout));
  });

  it('counts a transfer once, however often it is signed or replaced', async () => {
    const signer = open();
    for (let bump = 1n; bump < 6n; bump++) {
      const dearer = { ...price, maxFeePerGas: price.maxFeePerGas + bump };
      await signer.sign(transfer(usd(100n), { nonce: 1n, price: dearer }), payout);
    }
    await signer.sign(transfer(usd(100n), { nonce: 2n }), payout);
    await signer.sign(transfer(usd(50n), { nonce: 3n }), payout);
  });
});

/** One whole token. */
const orderIn = (chainId: ChainId, token: Token): TransferOrder => ({
  ...{ chainId, token, receiver, receiverMemo: null },
  amount: 10n ** BigInt(token.decimals),
});

/** @param fraction smallest units beside the whole tokens */
function usd(whole: bigint, chainId: ChainId = 8453, fraction = 0n): TransferOrder {
  const token = findToken(chainOf(chainId), 'USDC')!;
  return { chainId, token, receiver, receiverMemo: null, amount: whole * 10n ** BigInt(token.decimals) + fraction };
}

function transfer(order: TransferOrder, other: Partial<Parameters<typeof buildUnsigned>[0]> = {}): Unsigned {
  return buildUnsigned({
    account: treasury,
    nonce: 7n,
    order,
    call: transferCall(order),
    gas: 60_000n,
    price,
    ...other,
  });
}

const other = (call: Call): Unsigned => transfer(noOrder(chainOf(8453), treasury), { call });

const callOf = (change: Partial<TransferOrder>): Call => transferCall({ ...usd(1n), ...change });
const longer = (): Call => ({ ...callOf({}), data: `${callOf({}).data}00` });
const approval = (): Call => ({
  ...callOf({}),
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [receiver, 1_000_000n] }),
});

const usdc = findToken(chainOf(8453), 'USDC')!;
const usdtAddress = findToken(chainOf(1), 'USDT')!.address;
const [salt, other32] = ['11', '22'].map((byte) => `0x${byte.repeat(32)}`) as [Hex, Hex];
const own = { address: depositAddresses(treasury)(hexToBytes(salt)), salt };
const flushOf = (change: Partial<typeof own>): Form => ({
  kind: 'flush',
  deposits: [{ ...own, ...change }],
});
const sweepOrder = (): TransferOrder => ({ ...usd(5n), receiver: treasury });

function flushing(change: Partial<TransferOrder>, call: Partial<Call> = {}): Unsigned {
  const order = { ...sweepOrder(), form: flushOf({}), ...change };
  return transfer(order as TransferOrder, { call: { ...flushCall(treasury, [salt], order.token.address), ...call } });
}

function deploying(change: Partial<TransferOrder>, call: Call = forwarderDeployment(treasury)): Unsigned {
  const { factory } = forwarderAddresses(treasury);
  const form = { kind: 'deploy', contract: 'forwarder' } as const;
  return transfer({ ...usd(0n), receiver: factory, form, ...change }, { call });
}

const rejectsAs = (reason: string, promise: Promise<unknown>) =>
  assert.rejects(promise, (error) => error instanceof SigningRefused && error.reason === reason);
