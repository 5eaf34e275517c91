/** Signatures for rebalances: the key signs burns for the treasury's own account and mints of its own burns, and refuses everything else. */
import assert from 'node:assert/strict';
import { StrKey } from '@stellar/stellar-sdk';
import { decodeFunctionData, encodeFunctionData, type Hex, parseTransaction } from 'viem';
import type { BurnMessage } from '../../../../domain/rebalance/burnMessage.ts';
import { cctpContracts, fast, routeContracts, standard, stellarCctp } from '../../../../domain/rebalance/cctp.ts';
import { instant } from '../../../../domain/time.ts';
import type { Form } from '../../../../domain/transfer/shapes.ts';
import { allowanceCall, burnCall, messengerAbi, mintCall } from '../../../../src/chains/evm/cctp.ts';
import { buildUnsigned, type Call, callFor } from '../../../../src/chains/evm/payouts/transaction.ts';
import { createEvmSigner } from '../../../../src/chains/evm/signer/signer.ts';
import { createSpending } from '../../../../src/chains/money/spending.ts';
import { type SigningPurpose, SigningRefused, type TransferOrder } from '../../../../src/chains/ports.ts';
import { accountOf, treasury, treasuryKey } from '../../../support/anvil.ts';
import { baseUsdc, bnbUsdc, ethereumUsdc, ethereumUsdt } from '../../../support/payments.ts';
import { attestation, messageOf, move } from '../../../support/rebalances.ts';

const thief = accountOf(3);
const price = { maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 8n };
const purpose = {
  burn: { kind: 'burn', reference: 'rebalance-1/burn' },
  mint: { kind: 'mint', reference: 'rebalance-1/mint' },
} as const;
const limits = { perTransfer_usd: 1_000n, perHour_usd: 2_500n };

const order = move({
  from: { chainId: 8453, account: treasury, token: baseUsdc.token },
  to: { chainId: 1, account: treasury, token: ethereumUsdc.token },
});

const burnForm = {
  kind: 'burn',
  ...{ destinationDomain: 0, mintRecipient: treasury as string, feeMax: '200000', finality: standard as number },
} as const;
const burn = (change: Partial<TransferOrder> = {}, form: Partial<typeof burnForm> | object = {}): TransferOrder => ({
  chainId: 8453,
  token: baseUsdc.token,
  receiver: cctpContracts.minter,
  receiverMemo: null,
  amount: 1_000_000_000n,
  form: { ...burnForm, ...form } as Form,
  ...change,
});

const mint = (change: Partial<TransferOrder> = {}, message: Partial<BurnMessage> | string = {}): TransferOrder => ({
  chainId: 1,
  token: ethereumUsdc.token,
  receiver: treasury,
  receiverMemo: null,
  amount: 1_000_000_000n,
  form: { kind: 'mint', message: typeof message === 'string' ? message : messageOf(order, message), attestation },
  ...change,
});

describe('the treasury signer of rebalances', () => {
  const open = (most = limits) =>
    createEvmSigner({
      privateKey: treasuryKey,
      spending: createSpending(most, { now: () => instant(1_750_000_000_000) }),
    });
  const sign = (ordered: TransferOrder, as: SigningPurpose, call: Call = callFor(ordered, treasury), signer = open()) =>
    signer.sign(buildUnsigned({ account: treasury, nonce: 7n, order: ordered, call, gas: 200_000n, price }), as);
  const refuses = (reason: string, ...args: Parameters<typeof sign>) =>
    assert.rejects(
      async () => sign(...args),
      (error) => error instanceof SigningRefused && error.reason === reason,
    );

  it('signs a burn for its own account on another chain, and the mint of it', async () => {
    const burned = parseTransaction((await sign(burn(), purpose.burn)).bytes as Hex);
    assert.equal(burned.to, cctpContracts.messenger.toLowerCase());
    await sign(burn({}, { finality: fast, feeMax: '0' }), purpose.burn);
    const minted = parseTransaction((await sign(mint(), purpose.mint)).bytes as Hex);
    assert.equal(minted.to, cctpContracts.transmitter.toLowerCase());
    await sign(mint({ amount: 999_900_000n }, { feeExecuted: 100_000n, finalityExecuted: fast }), purpose.mint);
  });

  it('burns for Stellar through the forwarder, to the account of its own configuration alone', async () => {
    const account = 'GCX2EQXSPCHMBSEGYZRVTZWOIDRXWRWYEFRTCNVOZPYXE4QEFPKNUF3V';
    const other = 'GBBD47IF6LWK7P7MDEVSCWR7DPUWV3NY3DTQEVFL4NAT4AQH3ZLLFLA5';
    const configured = createEvmSigner({ privateKey: treasuryKey, spending: () => () => {}, stellarAccount: account });
    const away = burn({}, { destinationDomain: 27, mintRecipient: account });
    const signed = parseTransaction((await sign(away, purpose.burn, undefined, configured)).bytes as Hex);
    const { functionName, args } = decodeFunctionData({ abi: messengerAbi, data: signed.data as Hex });
    const forwarder = `0x${StrKey.decodeContract(stellarCctp.forwarder).toString('hex')}`;
    const hook = Buffer.concat([Buffer.alloc(28), Buffer.from([0, 0, 0, 56]), Buffer.from(account)]);
    assert.equal(functionName, 'depositForBurnWithHook');
    assert.deepEqual(args, [
      ...[1_000_000_000n, 27, forwarder, baseUsdc.token.address, forwarder, 200_000n, standard],
      `0x${hook.toString('hex')}`,
    ]);
    await refuses('mismatch', away, purpose.burn);
    const stolen = burn({}, { destinationDomain: 27, mintRecipient: other });
    await refuses('mismatch', stolen, purpose.burn, undefined, configured);
    // A plain burn for the account's 32 bytes would be lost: no contract has them.
    const key32 = `0x${StrKey.decodeEd25519PublicKey(account).toString('hex')}` as Hex;
    const zero = `0x${'0'.repeat(64)}` as Hex;
    const call = [1_000_000_000n, 27, key32, baseUsdc.token.address as Hex, zero, 200_000n, standard] as const;
    const lost = encodeFunctionData({ abi: messengerAbi, functionName: 'depositForBurn', args: call });
    await refuses('mismatch', away, purpose.burn, { ...burnCall(away), data: lost }, configured);
  });

  it('mints its own burns on Stellar, and no other account’s', async () => {
    const account = 'GCX2EQXSPCHMBSEGYZRVTZWOIDRXWRWYEFRTCNVOZPYXE4QEFPKNUF3V';
    const configured = createEvmSigner({ privateKey: treasuryKey, spending: () => () => {}, stellarAccount: account });
    const address = 'USDC:GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN';
    const from = { chainId: 1500, account, token: { symbol: 'USDC', address, decimals: 7 } } as const;
    const route = { ...order.route, ...routeContracts(1500, 1), sourceDomain: 27, feeMax: '0' };
    const burned = { ...order, from, amount: '10000000000', route };
    const minted = mint({}, messageOf(burned));
    await sign(minted, purpose.mint, undefined, configured);
    await refuses('mismatch', minted, purpose.mint);
    const foreign = mint({}, messageOf(burned, { messageSender: '11'.repeat(32) }));
    await refuses('mismatch', foreign, purpose.mint, undefined, configured);
  });

  const strangeBurns: readonly (readonly [string, TransferOrder])[] = [
    ['to another recipient', burn({}, { mintRecipient: thief })],
    ['to a domain that is no chain of ours', burn({}, { destinationDomain: 17 })],
    ['to its own chain', burn({}, { destinationDomain: 6 })],
    ['of a finality that the protocol does not have', burn({}, { finality: 1_500 })],
    ['of nothing', burn({ amount: 0n })],
    ['of a token that is not in the catalogue', burn({ token: { ...baseUsdc.token, address: thief } })],
    [
      'of a token that the protocol does not burn',
      burn({ chainId: 1, token: ethereumUsdt.token }, { destinationDomain: 6 }),
    ],
    ['on a chain without the protocol', burn({ chainId: 56, token: bnbUsdc.token })],
    ['with other decimals', burn({ token: { ...baseUsdc.token, decimals: 18 } })],
    ['that pays somebody by its receiver', burn({ receiver: thief })],
    ['with a memo', burn({ receiverMemo: '7' })],
  ];
  for (const [what, ordered] of strangeBurns)
    it(`refuses a burn ${what}`, () => refuses('mismatch', ordered, purpose.burn));

  it('refuses a fee limit above the bound, and one that takes everything', async () => {
    await sign(burn({}, { feeMax: '2000000' }), purpose.burn);
    await refuses('fee', burn({}, { feeMax: '2000001' }), purpose.burn);
    await refuses('fee', burn({ amount: 1n }, { feeMax: '1' }), purpose.burn);
  });

  it('refuses a burn whose transaction differs from its order', async () => {
    for (const other of [
      burnCall(burn({ amount: 999_999_999n })),
      burnCall(burn({}, { mintRecipient: thief })),
      burnCall(burn({}, { destinationDomain: 3 })),
      burnCall(burn({}, { feeMax: '200001' })),
      burnCall(burn({}, { finality: fast })),
      { ...burnCall(burn()), to: thief },
      { ...burnCall(burn()), data: `${burnCall(burn()).data}00` as Hex },
      { ...burnCall(burn()), value: 1n },
    ])
      await refuses('mismatch', burn(), purpose.burn, other);
  });

  const strangeMints: readonly (readonly [string, TransferOrder])[] = [
    ['of a message for another recipient', mint({}, { mintRecipient: '11'.repeat(32) })],
    ['of a foreign burn', mint({}, { messageSender: '11'.repeat(32) })],
    ['of a message for another chain', mint({}, { destinationDomain: 3 })],
    ['of a message from a domain that is none of our EVM chains', mint({}, { sourceDomain: 17 })],
    [
      'of a message from its own chain',
      mint({}, { sourceDomain: 0, burnToken: '00'.repeat(12) + ethereumUsdc.token.address.slice(2).toLowerCase() }),
    ],
    ['of another token', mint({}, { burnToken: '11'.repeat(32) })],
    ['of a message of another sender contract', mint({}, { sender: '11'.repeat(32) })],
    ['of a message of another recipient contract', mint({}, { recipient: '11'.repeat(32) })],
    ['with a hook', mint({}, { hookData: 'ff' })],
    ['of a message that is not attested', mint({}, { nonce: '00'.repeat(32) })],
    ['whose fee is above the limit of the burn', mint({ amount: 999_799_999n }, { feeExecuted: 200_001n })],
    ['of another amount than the message states', mint({ amount: 1_000_000_001n })],
    ['that forgets the fee', mint({}, { feeExecuted: 100_000n })],
    ['of no message', mint({}, '0x00')],
    ['to somebody else', mint({ receiver: thief })],
    ['of a token that is not in the catalogue', mint({ token: { ...ethereumUsdc.token, address: thief } })],
  ];
  for (const [what, ordered] of strangeMints)
    it(`refuses a mint ${what}`, () => refuses('mismatch', ordered, purpose.mint));

  it('refuses a mint whose transaction differs from its order', async () => {
    for (const other of [
      mintCall(mint({}, { mintRecipient: '11'.repeat(32) })),
      mintCall({ form: { kind: 'mint', message: messageOf(order), attestation: '0x11' } }),
      { ...mintCall(mint()), to: thief },
      { ...mintCall(mint()), value: 1n },
    ])
      await refuses('mismatch', mint(), purpose.mint, other);
  });

  it('refuses a transfer that claims to be a burn or a mint, and the reverse', async () => {
    const plain: TransferOrder = {
      chainId: 8453,
      token: baseUsdc.token,
      receiver: thief,
      receiverMemo: null,
      amount: 5n,
    };
    for (const as of [purpose.burn, purpose.mint]) await refuses('mismatch', plain, as);
    for (const kind of ['payout', 'withdrawal', 'sweep', 'deployment'] as const) {
      await assert.rejects(async () => sign(burn(), { kind, reference: 'a' }));
      await assert.rejects(async () => sign(mint(), { kind, reference: 'a' }));
    }
  });

  it('counts burns towards the limits, and mints not', async () => {
    await refuses('perTransfer', burn(), purpose.burn, undefined, open({ ...limits, perTransfer_usd: 999n }));
    const signer = open();
    for (const nonce of [1n, 2n, 3n]) {
      const unsigned = buildUnsigned({
        account: treasury,
        nonce,
        order: burn(),
        call: burnCall(burn()),
        gas: 1n,
        price,
      });
      const signing = async () => signer.sign(unsigned, { kind: 'burn', reference: `rebalance-${nonce}/burn` });
      if (nonce < 3n) await signing();
      else await assert.rejects(signing, (error) => error instanceof SigningRefused && error.reason === 'perHour');
    }
    await sign(mint(), purpose.mint, undefined, signer);
  });

  it('lets the burning contract spend a catalogue token, and no other contract', async () => {
    const form = { kind: 'allow', contract: 'tokenMessenger', most: '5000000000' } as const;
    const allow: TransferOrder = {
      ...{
        chainId: 8453,
        token: baseUsdc.token,
        receiver: cctpContracts.messenger,
        receiverMemo: null,
        amount: 0n,
        form,
      },
    };
    const as = { kind: 'deployment', reference: 'operation-1' } as const;
    await sign(allow, as);
    await refuses('mismatch', { ...allow, receiver: thief }, as);
    await refuses('mismatch', { ...allow, token: { ...baseUsdc.token, address: thief } }, as);
    const toPayMany = allowanceCall({ ...allow, form: { ...form, contract: 'payMany' } });
    await refuses('mismatch', allow, as, toPayMany);
  });
});
