/** Signatures on Stellar for rebalances: burns for the treasury's own account, mints of its own burns, one allowance, and nothing else. */
import assert from 'node:assert/strict';
import { Address, Contract, Keypair, Memo, nativeToScVal, StrKey, xdr } from '@stellar/stellar-sdk';
import { type BurnMessage, parseBurnMessage } from '../../../../domain/rebalance/burnMessage.ts';
import { fast, routeContracts, standard, stellarCctp } from '../../../../domain/rebalance/cctp.ts';
import { instant } from '../../../../domain/time.ts';
import type { Form } from '../../../../domain/transfer/shapes.ts';
import { createSpending } from '../../../../src/chains/money/spending.ts';
import { type SigningPurpose, SigningRefused, type TransferOrder } from '../../../../src/chains/ports.ts';
import { cctpOperation } from '../../../../src/chains/stellar/cctp.ts';
import { defaultStellarConfig, publicNetwork } from '../../../../src/chains/stellar/config.ts';
import { buildTransaction, unsignedOf } from '../../../../src/chains/stellar/payouts/transaction.ts';
import { createStellarSigner } from '../../../../src/chains/stellar/signer/signer.ts';
import { assetContractOf } from '../../../../src/chains/stellar/tokens.ts';
import { accountOf, treasury } from '../../../support/anvil.ts';
import { baseUsdc } from '../../../support/payments.ts';
import { attestation, messageOf, move } from '../../../support/rebalances.ts';

const now = instant(1_750_000_000_000);
const key = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 7));
const account = key.publicKey();
const thief = accountOf(3);
const stranger = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 8)).publicKey();
const token = {
  symbol: 'USDC',
  address: 'USDC:GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN',
  decimals: 7,
} as const;
const order = move({
  from: { chainId: 8453, account: treasury, token: baseUsdc.token },
  to: { chainId: 1500, account, token },
  route: {
    ...{ kind: 'cctp', sourceDomain: 6, destinationDomain: 27, ...routeContracts(8453, 1500) },
    ...{ finality: standard, feeMax: '200000' },
  },
});

const purposes = {
  burn: { kind: 'burn', reference: 'rebalance-1/burn' },
  mint: { kind: 'mint', reference: 'rebalance-1/mint' },
  allow: { kind: 'deployment', reference: 'operation-1' },
} as const;

const burnForm = {
  kind: 'burn',
  ...{ destinationDomain: 6, mintRecipient: treasury as string, feeMax: '2000000', finality: standard as number },
} as const;
const own = { chainId: 1500, token, receiverMemo: null } as const;
const burn = (change: Partial<TransferOrder> = {}, form: object = {}): TransferOrder => ({
  ...{ ...own, receiver: stellarCctp.minter, amount: 10_000_000_000n, form: { ...burnForm, ...form } as Form },
  ...change,
});
const mint = (change: Partial<TransferOrder> = {}, message: Partial<BurnMessage> | string = {}): TransferOrder => ({
  ...{ ...own, receiver: account, amount: 10_000_000_000n },
  form: { kind: 'mint', message: typeof message === 'string' ? message : messageOf(order, message), attestation },
  ...change,
});
const allow = (change: Partial<TransferOrder> = {}): TransferOrder => ({
  ...{ ...own, receiver: stellarCctp.messenger, amount: 0n },
  form: { kind: 'allow', contract: 'tokenMessenger', most: '50000000000' },
  ...change,
});

describe('the Stellar signer of rebalances', () => {
  const open = (evmAccount: string | undefined = treasury) =>
    createStellarSigner({
      secret: key.secret(),
      config: defaultStellarConfig({
        ...{ rpcUrls: [], networkPassphrase: publicNetwork, treasury: account, payinContract: null },
      }),
      clock: { now: () => now },
      spending: createSpending(
        {
          ...{ perTransfer_usd: 1_000n, perHour_usd: 2_500n },
          coinPrices: new Map([[1500 as const, { price_microUsd: 1_000_000n, decimals: 7 }]]),
        },
        { now: () => now },
      ),
      evmAccount,
    });
  const sign = (
    ordered: TransferOrder,
    as: SigningPurpose,
    operation = cctpOperation(ordered, account, 1_000n),
    { memo = Memo.none(), signer = open() }: { memo?: Memo; signer?: ReturnType<typeof open> } = {},
  ) => {
    assert.ok(operation);
    const building = {
      ...{ account, nonce: 8n, networkPassphrase: publicNetwork, inclusion: 1_000n },
      validUntil_s: 1_750_000_300,
    };
    const transaction = buildTransaction({ operation, memo }, building);
    return signer.sign(unsignedOf(ordered, building, transaction, { inclusion: 1_000n, resources: 0n }), as);
  };
  const refuses = (reason: string, ...args: Parameters<typeof sign>) =>
    assert.rejects(
      async () => sign(...args),
      (error) => error instanceof SigningRefused && error.reason === reason,
    );

  it('signs a burn for its own account on an EVM chain, a mint of its own burn, and the allowance', async () => {
    await sign(burn(), purposes.burn);
    await sign(burn({}, { feeMax: '0' }), purposes.burn);
    await sign(mint(), purposes.mint);
    await sign(mint({ amount: 9_999_000_000n }, { feeExecuted: 100_000n, finalityExecuted: fast }), purposes.mint);
    await sign(allow(), purposes.allow);
  });

  it('builds the call of a burn as the protocol’s interface has it', () => {
    const burned = cctpOperation(burn(), account, 1_000n)
      ?.body()
      .invokeHostFunctionOp()
      .hostFunction()
      .invokeContract();
    assert.equal(burned?.functionName().toString(), 'deposit_for_burn');
    const [caller, amount, domain, recipient, burnToken, only, feeMax, threshold] = burned?.args() ?? [];
    assert.equal(caller && Address.fromScVal(caller).toString(), account);
    assert.deepEqual(amount?.toXDR(), nativeToScVal(10_000_000_000n, { type: 'i128' }).toXDR());
    assert.equal(domain?.u32(), 6);
    assert.equal(recipient?.bytes().toString('hex'), treasury.slice(2).toLowerCase().padStart(64, '0'));
    assert.equal(burnToken && Address.fromScVal(burnToken).toString(), stellarCctp.token);
    assert.equal(only?.bytes().toString('hex'), '00'.repeat(32));
    assert.deepEqual(feeMax?.toXDR(), nativeToScVal(2_000_000n, { type: 'i128' }).toXDR());
    assert.equal(threshold?.u32(), 2_000);
  });

  const strangeBurns: readonly (readonly [string, TransferOrder])[] = [
    ['to another recipient', burn({}, { mintRecipient: thief })],
    ['to a domain that is none of our EVM chains', burn({}, { destinationDomain: 17 })],
    ['of fast finality', burn({}, { finality: fast })],
    ['of nothing', burn({ amount: 0n })],
    ['with a seventh decimal', burn({ amount: 10_000_000_001n })],
    ['whose fee has a seventh decimal', burn({}, { feeMax: '1999999' })],
    ['of a token that is not in the catalogue', burn({ token: { ...token, address: `USDC:${stranger}` } })],
    ['with other decimals', burn({ token: { ...token, decimals: 6 } })],
    ['that pays somebody by its receiver', burn({ receiver: stranger })],
    ['with a memo', burn({ receiverMemo: '7' })],
  ];
  for (const [what, ordered] of strangeBurns)
    it(`refuses a burn ${what}`, () => refuses('mismatch', ordered, purposes.burn));

  it('refuses a burn to Stellar itself, and every burn and mint without its own account on EVM chains', async () => {
    const operation = cctpOperation(burn(), account, 1_000n);
    const toItself = burn({}, { destinationDomain: 27, mintRecipient: account });
    await refuses('mismatch', toItself, purposes.burn, operation);
    const signer = createStellarSigner({
      ...{ secret: key.secret(), clock: { now: () => now }, spending: () => () => {} },
      config: defaultStellarConfig({
        ...{ rpcUrls: [], networkPassphrase: publicNetwork, treasury: account, payinContract: null },
      }),
    });
    await refuses('mismatch', burn(), purposes.burn, operation, { signer });
    await refuses('mismatch', mint(), purposes.mint, undefined, { signer });
  });

  it('refuses a fee limit above the bound', async () => {
    await sign(burn({}, { feeMax: '20000000' }), purposes.burn);
    await refuses('fee', burn({}, { feeMax: '20000010' }), purposes.burn);
    await refuses('fee', burn({ amount: 10n }, { feeMax: '10' }), purposes.burn);
  });

  const i128 = (value: bigint) => nativeToScVal(value, { type: 'i128' });

  it('refuses a transaction that differs from its order', async () => {
    for (const other of [
      cctpOperation(burn({ amount: 10_000_000_010n }), account, 1n),
      cctpOperation(burn({}, { mintRecipient: thief }), account, 1n),
      cctpOperation(burn({}, { destinationDomain: 3 }), account, 1n),
      cctpOperation(burn({}, { feeMax: '2000010' }), account, 1n),
      cctpOperation(burn({}, { finality: fast }), account, 1n),
      cctpOperation(burn(), stranger, 1n),
      cctpOperation(mint(), account, 1n),
      new Contract(stellarCctp.token).call(
        ...(['transfer', new Address(account).toScVal(), new Address(stranger).toScVal(), i128(1n)] as const),
      ),
    ])
      await refuses('mismatch', burn(), purposes.burn, other);
    await refuses('mismatch', burn(), purposes.burn, undefined, { memo: Memo.text('7') });
    for (const other of [
      cctpOperation(mint({}, { messageSender: '11'.repeat(32) }), account, 1n),
      new Contract(stellarCctp.transmitter).call('mint_and_forward', ...[0, 1].map(() => xdr.ScVal.scvVoid())),
    ])
      await refuses('mismatch', mint(), purposes.mint, other);
  });

  const to = (text: string) => `${'00'.repeat(28)}00000038${Buffer.from(text).toString('hex')}`;
  const strangeMints: readonly (readonly [string, TransferOrder])[] = [
    [
      'for another recipient than the forwarder',
      mint({}, { mintRecipient: StrKey.decodeEd25519PublicKey(account).toString('hex') }),
    ],
    ['that another caller may mint', mint({}, { destinationCaller: '00'.repeat(32) })],
    ['that the forwarder sends to somebody else', mint({}, { hookData: to(stranger) })],
    ['without a hook', mint({}, { hookData: '' })],
    ['of a foreign burn', mint({}, { messageSender: '11'.repeat(32) })],
    ['of a message for another chain', mint({}, { destinationDomain: 3 })],
    ['of a message from a domain that is none of our EVM chains', mint({}, { sourceDomain: 17 })],
    ['of another token', mint({}, { burnToken: '11'.repeat(32) })],
    ['of a message of another sender contract', mint({}, { sender: '11'.repeat(32) })],
    ['of a message of another recipient contract', mint({}, { recipient: '11'.repeat(32) })],
    ['of a message that is not attested', mint({}, { nonce: '00'.repeat(32) })],
    ['whose fee is above the limit of the burn', mint({ amount: 9_997_999_990n }, { feeExecuted: 200_001n })],
    ['of another amount than the message states', mint({ amount: 10_000_000_001n })],
    ['that forgets the fee', mint({}, { feeExecuted: 100_000n })],
    ['of no message', mint({}, '0x00')],
    ['to somebody else', mint({ receiver: stranger })],
    ['of a token that is not in the catalogue', mint({ token: { ...token, address: `USDC:${stranger}` } })],
  ];
  for (const [what, ordered] of strangeMints)
    it(`refuses a mint ${what}`, () => refuses('mismatch', ordered, purposes.mint));

  it('lets the burning contract spend USDC, and no other contract', async () => {
    await refuses('mismatch', allow({ receiver: stranger }), purposes.allow);
    await refuses('mismatch', allow({ amount: 1n }), purposes.allow);
    await refuses('mismatch', allow({ token: { ...token, address: `USDC:${stranger}` } }), purposes.allow);
    const spend = (spender: string, most: bigint) =>
      new Contract(stellarCctp.token).call(
        ...(['approve', new Address(account).toScVal(), new Address(spender).toScVal(), i128(most)] as const),
        xdr.ScVal.scvU32(5_000),
      );
    await sign(allow(), purposes.allow, spend(stellarCctp.messenger, 50_000_000_000n));
    await refuses('mismatch', allow(), purposes.allow, spend(stranger, 50_000_000_000n));
    await refuses('mismatch', allow(), purposes.allow, spend(stellarCctp.messenger, 50_000_000_001n));
  });

  it('refuses a transfer that claims to be a burn or a mint, and the reverse', async () => {
    const plain: TransferOrder = { ...own, receiver: stranger, amount: 50n };
    for (const as of [purposes.burn, purposes.mint, purposes.allow])
      await refuses('mismatch', plain, as, cctpOperation(burn(), account, 1n));
    for (const kind of ['payout', 'refund', 'withdrawal', 'anchor', 'sweep'] as const)
      for (const ordered of [burn(), mint(), allow()])
        await assert.rejects(async () => sign(ordered, { kind, reference: 'a' }), SigningRefused);
  });

  it('knows the contracts’ 32 bytes as the SDK does', () => {
    const message = parseBurnMessage(messageOf(order));
    const forwarder = StrKey.decodeContract(stellarCctp.forwarder).toString('hex');
    assert.deepEqual([message?.mintRecipient, message?.destinationCaller], [forwarder, forwarder]);
    assert.equal(message?.recipient, StrKey.decodeContract(stellarCctp.messenger).toString('hex'));
    assert.equal(stellarCctp.token, assetContractOf(token, publicNetwork));
    for (const address of Object.values(stellarCctp)) assert.ok(StrKey.isValidContract(address), address);
  });
});
