import assert from 'node:assert/strict';
import { encodeFunctionData, erc20Abi, type Hex, parseTransaction, recoverTransactionAddress } from 'viem';
import { evmDeposits } from '../../../../src/chains/evm/addresses.ts';
import { authorizationCall } from '../../../../src/chains/evm/authorization.ts';
import { feesOf } from '../../../../src/chains/evm/config.ts';
import { buildUnsigned, type Call, type EvmPayload } from '../../../../src/chains/evm/payouts/transaction.ts';
import { createEvmRelaySigner, createEvmSigner } from '../../../../src/chains/evm/signer/signer.ts';
import { createSpending } from '../../../../src/chains/money/spending.ts';
import { type RelayOrder, SigningRefused, type TransferOrder, type Unsigned } from '../../../../src/chains/ports.ts';
import { systemClock } from '../../../../src/process/system.ts';
import { accountOf, keyOf, treasury, treasuryKey } from '../../../support/anvil.ts';
import { relayOrder, usdcOf } from '../../../support/relays.ts';
import { anyPayer } from '../../../support/x402.ts';

const relayKey = keyOf(0x2e1a);
const relay = accountOf(0x2e1a);
const payer = anyPayer();
const price = { maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 8n };
const purpose = { kind: 'relay', reference: 'relay-1' } as const;
const spending = () => createSpending({ perTransfer_usd: 0n, perHour_usd: 0n }, systemClock);
const open = () =>
  createEvmRelaySigner({ privateKey: relayKey, treasury, feesOn: (id) => feesOf(id, {}), spending: spending() });

const unsignedOf = (order: TransferOrder, call: Call, account: string = relay): Unsigned =>
  buildUnsigned({ account, nonce: 3n, order, call, gas: 100_000n, price });
const unsigned = (order: RelayOrder): Unsigned => unsignedOf(order, authorizationCall(order));
const withForm = (order: RelayOrder, form: Partial<RelayOrder['form']>): RelayOrder => ({
  ...order,
  form: { ...order.form, ...form },
});

const refused = (reason: string, signing: Promise<unknown>) =>
  assert.rejects(signing, (error) => error instanceof SigningRefused && error.reason === reason);

describe('relay signer', () => {
  let good: RelayOrder;
  before(async () => {
    good = await relayOrder(payer);
  });

  it('signs a payer’s authorization to a deposit of ours, the same bytes each time', async () => {
    const signer = open();
    const signed = await signer.sign(unsigned(good), purpose);
    assert.deepEqual(await signer.sign(unsigned(good), purpose), signed);
    const { to, value, nonce, data } = parseTransaction(signed.bytes as Hex);
    assert.equal(await recoverTransactionAddress({ serializedTransaction: signed.bytes as never }), relay);
    const sent = [to, value, nonce, data];
    assert.deepEqual(sent, [good.token.address.toLowerCase(), undefined, 3, authorizationCall(good).data]);
  });

  it('on each chain whose USDC has authorizations, and on no other', async () => {
    for (const chainId of [8453, 1, 42161, 137] as const)
      await open().sign(unsigned(await relayOrder(payer, { chainId })), purpose);
    await refused('mismatch', open().sign(unsigned(await relayOrder(payer, { chainId: 56 })), purpose));
  });

  it('cancels a nonce by an empty transaction to itself, and by nothing else', async () => {
    const cancel = { kind: 'cancel', reference: 'nonce 3' } as const;
    await open().sign(unsignedOf(good, { to: relay, data: '0x' }), cancel);
    await refused('mismatch', open().sign(unsignedOf(good, { to: treasury, data: '0x' }), cancel));
    await refused('mismatch', open().sign(unsignedOf(good, { to: relay, data: '0x', value: 1n }), cancel));
    await refused('mismatch', open().sign(unsigned(good), cancel));
  });

  describe('refuses', () => {
    const elsewhere = accountOf(5);
    const cases: Readonly<Record<string, () => Promise<Unsigned> | Unsigned>> = {
      'coin that goes with it': () => unsignedOf(good, { ...authorizationCall(good), value: 1n }),
      'even no coin that is said aloud': () => unsignedOf(good, { ...authorizationCall(good), value: 0n }),
      'a receiver that is no deposit': async () => unsigned(await relayOrder(payer, {}, { to: elsewhere })),
      'a deposit of another treasury': async () => {
        const { address, salt } = evmDeposits(elsewhere)('0198f3c2-0000-8000-8000-000000000001');
        const order = await relayOrder(payer, {}, { to: address as Hex });
        return unsigned(withForm(order, { deposit: { address, salt } }));
      },
      'a salt that derives another deposit': () =>
        unsigned(withForm(good, { deposit: { ...good.form.deposit, salt: `0x${'11'.repeat(32)}` } })),
      'a salt that is none': () => unsigned(withForm(good, { deposit: { ...good.form.deposit, salt: '0x' } })),
      'another deposit than the receiver': () =>
        unsigned(withForm(good, { deposit: evmDeposits(treasury)('0198f3c2-0000-8000-8000-000000000002') })),
      'another token': () => {
        const other = { ...good, token: { ...good.token, address: accountOf(7) } };
        return unsigned(other as RelayOrder);
      },
      'USDT, which has no authorizations': async () => {
        const order = await relayOrder(payer, { chainId: 1 });
        const usdt = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
        return unsigned({ ...order, token: { ...order.token, symbol: 'USDT', address: usdt } });
      },
      'another contract than the order’s token': () => unsignedOf(good, { ...authorizationCall(good), to: elsewhere }),
      'other decimals': () => unsigned({ ...good, token: { ...usdcOf(8453), decimals: 18 } }),
      nothing: async () => unsigned(await relayOrder(payer, { amount: 0n })),
      'another amount than the payer signed': () => unsigned({ ...good, amount: good.amount + 1n }),
      'another payer than the signature’s': () => unsigned(withForm(good, { payer: elsewhere })),
      'a memo': () => unsigned({ ...good, receiverMemo: '1' }),
      'a forged signature': () => unsigned(withForm(good, { signature: `0x${'11'.repeat(64)}1b` })),
      'a signature for another chain': async () => {
        const elsewhereSigned = await relayOrder(payer, { chainId: 1 });
        return unsigned(withForm(good, { signature: elsewhereSigned.form.signature }));
      },
      'another call': () => {
        const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [elsewhere, 1n] });
        return unsignedOf(good, { to: good.token.address as Hex, data });
      },
      'a call with more behind it': () => {
        const call = authorizationCall(good);
        return unsignedOf(good, { ...call, data: `${call.data}00` });
      },
      'an order without an authorization': () => {
        const { form: _, ...plain } = good;
        return unsignedOf(plain, authorizationCall(good));
      },
    };
    for (const [what, made] of Object.entries(cases))
      it(what, async () => refused('mismatch', open().sign(await made(), purpose)));

    for (const kind of ['payout', 'refund', 'withdrawal', 'sweep', 'deployment', 'batch', 'anchor'] as const)
      it(`a ${kind}`, () => refused('mismatch', open().sign(unsigned(good), { kind, reference: '1' })));

    it('another account’s nonce, another chain’s order, and a fee above the limit', async () => {
      await refused('account', open().sign(unsignedOf(good, authorizationCall(good), treasury), purpose));
      await refused('chain', open().sign({ ...unsigned(good), chainId: 1 }, purpose));
      const dear = unsigned(good);
      const payload = { ...(dear.payload as EvmPayload), gas: String(10n ** 12n) };
      await refused('fee', open().sign({ ...dear, payload }, purpose));
    });
  });

  it('and the treasury’s key signs no relay', async () => {
    const signer = createEvmSigner({ privateKey: treasuryKey, spending: spending() });
    const own = unsignedOf(good, authorizationCall(good), treasury);
    assert.throws(() => signer.check(own, purpose), { reason: 'mismatch' });
    await refused('mismatch', signer.sign(own, purpose));
  });
});
