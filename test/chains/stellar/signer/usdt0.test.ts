/** Signatures on Stellar for sends of USDT0: the key signs sends to the treasury's own account on an EVM chain, and refuses everything else. */
import assert from 'node:assert/strict';
import { Address, Asset, Keypair, Memo, Operation, scValToNative, xdr } from '@stellar/stellar-sdk';
import {
  counterpartyOn,
  endpointIdOf,
  messageFeeLimit,
  oftOn,
  sendableOn,
  stellarUsdt0,
} from '../../../../domain/rebalance/usdt0.ts';
import { instant } from '../../../../domain/time.ts';
import type { Form } from '../../../../domain/transfer/shapes.ts';
import { createSpending } from '../../../../src/chains/money/spending.ts';
import { type SigningPurpose, SigningRefused, type TransferOrder } from '../../../../src/chains/ports.ts';
import { defaultStellarConfig, publicNetwork } from '../../../../src/chains/stellar/config.ts';
import {
  addressVal,
  bytesVal,
  type ContractCall,
  callOperation,
  i128Val,
  structVal,
  u32Val,
} from '../../../../src/chains/stellar/contractCall.ts';
import { buildTransaction, unsignedOf } from '../../../../src/chains/stellar/payouts/transaction.ts';
import { createStellarSigner } from '../../../../src/chains/stellar/signer/signer.ts';
import { sendCall } from '../../../../src/chains/stellar/usdt0.ts';
import { accountOf, treasury } from '../../../support/anvil.ts';

const now = instant(1_750_000_000_000);
const key = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 7));
const account = key.publicKey();
const thief = accountOf(3);
const stranger = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 8)).publicKey();
const listed = sendableOn(1500) ?? assert.fail();
const token = { symbol: listed.symbol, address: listed.address, decimals: listed.decimals };
const usdc = 'USDC:GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN';
const fee_stroops = 8_000_000n;
const asBurn = { kind: 'burn', reference: 'rebalance-1/burn' } as const;

const sendForm = {
  kind: 'oftSend',
  ...{ destinationDomain: endpointIdOf(1), recipient: treasury as string, messageFee: fee_stroops.toString() },
} as const;
const send = (change: Partial<TransferOrder> = {}, form: object = {}): TransferOrder => ({
  ...{ chainId: 1500, token, receiver: counterpartyOn(1500), receiverMemo: null, amount: 1_000_000_000n },
  form: { ...sendForm, ...form } as Form,
  ...change,
});

const fields = {
  ...{ dst_eid: u32Val(30_101), to: bytesVal(treasury.slice(2).toLowerCase().padStart(64, '0')) },
  ...{ amount_ld: i128Val(1_000_000_000n), min_amount_ld: i128Val(1_000_000_000n) },
  ...{ extra_options: bytesVal(''), compose_msg: bytesVal(''), oft_cmd: bytesVal('') },
};
const feeVal = (native: bigint, zro = 0n) => structVal({ native_fee: i128Val(native), zro_fee: i128Val(zro) });
/** The honest call, by hand, with changes. */
const callOf = (
  change: Partial<typeof fields> = {},
  { fee = feeVal(fee_stroops), from = account, refundTo = account, contract = oftOn(1500), name = 'send' } = {},
): ContractCall => ({
  ...{ contract, name },
  args: [addressVal(from), structVal({ ...fields, ...change }), fee, addressVal(refundTo)],
});

const lumens = Asset.native().contractId(publicNetwork);
const burnOf = (amount = 1_000_000_000n, contract: string = stellarUsdt0.token): ContractCall => ({
  ...{ contract, name: 'burn' },
  args: [addressVal(account), i128Val(amount)],
});
const payOf = (amount = fee_stroops, to: string = stellarUsdt0.endpoint): ContractCall => ({
  ...{ contract: lumens, name: 'transfer' },
  args: [addressVal(account), addressVal(to), i128Val(amount)],
});

const invocation = ({ contract, name, args }: ContractCall, below: readonly xdr.SorobanAuthorizedInvocation[] = []) =>
  new xdr.SorobanAuthorizedInvocation({
    function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(
      new xdr.InvokeContractArgs({
        ...{ contractAddress: new Address(contract).toScAddress(), functionName: name },
        args: [...args],
      }),
    ),
    subInvocations: [...below],
  });
/** The call with an authorization by the account's own signature. */
const authorized = (root: xdr.SorobanAuthorizedInvocation, call = callOf()): xdr.Operation => {
  const credentials = xdr.SorobanCredentials.sorobanCredentialsSourceAccount();
  const func = callOperation(call).body().invokeHostFunctionOp().hostFunction();
  const auth = [new xdr.SorobanAuthorizationEntry({ credentials, rootInvocation: root })];
  return Operation.invokeHostFunction({ func, auth });
};

describe('the Stellar signer of sends by USDT0', () => {
  const open = ({
    evmAccount = treasury as string | null,
    coinPerHour,
  }: {
    evmAccount?: string | null;
    coinPerHour?: bigint;
  } = {}) =>
    createStellarSigner({
      secret: key.secret(),
      config: defaultStellarConfig({
        ...{ rpcUrls: [], networkPassphrase: publicNetwork, treasury: account, payinContract: null },
      }),
      clock: { now: () => now },
      spending: createSpending(
        {
          ...{ perTransfer_usd: 1_000n, perHour_usd: 2_500n },
          ...(coinPerHour !== undefined && { coinPerHour: new Map([[1500, coinPerHour] as const]) }),
        },
        { now: () => now },
      ),
      evmAccount: evmAccount ?? undefined,
    });
  const sign = (
    ordered: TransferOrder = send(),
    as: SigningPurpose = asBurn,
    operation = callOperation(sendCall(ordered, account)),
    { memo = Memo.none(), signer = open() }: { memo?: Memo; signer?: ReturnType<typeof open> } = {},
  ) => {
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

  it('signs a send to its own account on an EVM chain, as the contract’s interface has it', async () => {
    await sign();
    const { contract, name, args } = sendCall(send(), account);
    assert.deepEqual([contract, name], [oftOn(1500), 'send']);
    const [from, param, fee, refundTo] = args.map(scValToNative);
    assert.deepEqual([from, refundTo, fee], [account, account, { native_fee: fee_stroops, zro_fee: 0n }]);
    const { to, ...rest } = param as { readonly to: Buffer };
    assert.equal(to.toString('hex'), treasury.slice(2).toLowerCase().padStart(64, '0'));
    const empty = Buffer.alloc(0);
    assert.deepEqual(rest, {
      ...{ amount_ld: 1_000_000_000n, compose_msg: empty, dst_eid: 30_101, extra_options: empty },
      ...{ min_amount_ld: 1_000_000_000n, oft_cmd: empty },
    });
  });

  const strange: readonly (readonly [string, TransferOrder])[] = [
    ['to another recipient', send({}, { recipient: thief })],
    ['to an account of Stellar', send({}, { recipient: account })],
    ['with a seventh decimal', send({ amount: 1_000_000_001n })],
    ['of nothing', send({ amount: 0n })],
    ['of another token', send({ token: { ...token, symbol: 'USDC', address: usdc } })],
    ['of the same code by another issuer', send({ token: { ...token, address: `USDT0:${stranger}` } })],
    ['with other decimals', send({ token: { ...token, decimals: 6 } })],
    ['that names another receiver of the tokens', send({ receiver: stranger })],
    ['with a memo', send({ receiverMemo: '1' })],
  ];
  for (const [name, ordered] of strange) it(`refuses a send ${name}`, () => refuses('mismatch', ordered));

  it('refuses a send to Stellar itself, or to an endpoint that is no chain of ours', async () => {
    await refuses('mismatch', send({}, { destinationDomain: endpointIdOf(1500) }));
    await refuses('mismatch', send({}, { destinationDomain: endpointIdOf(1500), recipient: account }));
    const operation = callOperation(sendCall(send(), account));
    for (const destinationDomain of [30_102, 40_600])
      await refuses('mismatch', send({}, { destinationDomain }), asBurn, operation);
  });

  it('refuses a send without its own account on EVM chains', () =>
    refuses('mismatch', send(), asBurn, undefined, { signer: open({ evmAccount: null }) }));

  it('refuses a send for another purpose than a burn, and with a memo in the transaction', async () => {
    for (const kind of ['payout', 'withdrawal', 'mint', 'anchor', 'deployment'] as const)
      await refuses('mismatch', send(), { kind, reference: 'p' });
    await refuses('mismatch', send(), asBurn, undefined, { memo: Memo.text('7') });
  });

  it('signs exactly the call that it rebuilds', async () => {
    await sign(send(), asBurn, callOperation(callOf()));
    const altered: Readonly<Record<string, ContractCall>> = {
      recipient: callOf({ to: bytesVal(thief.slice(2).toLowerCase().padStart(64, '0')) }),
      endpoint: callOf({ dst_eid: u32Val(30_110) }),
      'a call on the destination': callOf({ compose_msg: bytesVal('01') }),
      options: callOf({ extra_options: bytesVal('0003') }),
      command: callOf({ oft_cmd: bytesVal('01') }),
      'a lower minimum': callOf({ min_amount_ld: i128Val(10n) }),
      'a larger amount': callOf({ amount_ld: i128Val(2_000_000_000n) }),
      'another refund address': callOf({}, { refundTo: stranger }),
      'another sender': callOf({}, { from: stranger }),
      contract: callOf({}, { contract: stellarUsdt0.token }),
      function: callOf({}, { name: 'send_all' }),
      'a larger fee': callOf({}, { fee: feeVal(2n * fee_stroops) }),
      'a fee in another token': callOf({}, { fee: feeVal(fee_stroops, 1n) }),
    };
    for (const [name, call] of Object.entries(altered))
      await refuses('mismatch', send(), asBurn, callOperation(call)).catch((error: unknown) =>
        assert.fail(`${name}: ${error}`),
      );
  });

  it('lets the contracts burn the amount and take the fee, and nothing else', async () => {
    const tree = (...below: readonly ContractCall[]) =>
      authorized(
        invocation(
          callOf(),
          below.map((each) => invocation(each)),
        ),
      );
    await sign(send(), asBurn, tree(burnOf(), payOf()));
    await sign(send(), asBurn, tree(payOf(), burnOf()));
    const greedy: Readonly<Record<string, xdr.Operation>> = {
      'more tokens': tree(burnOf(2_000_000_000n), payOf()),
      'tokens twice': tree(burnOf(), burnOf(), payOf()),
      USDC: tree(burnOf(1_000_000_000n, new Asset('USDC', usdc.slice(5)).contractId(publicNetwork)), payOf()),
      'more lumens': tree(burnOf(), payOf(2n * fee_stroops)),
      'lumens twice': tree(burnOf(), payOf(), payOf()),
      'lumens for a stranger': tree(burnOf(), payOf(fee_stroops, stranger)),
      'a call below the burn': authorized(invocation(callOf(), [invocation(burnOf(), [invocation(payOf())])])),
      'another root': authorized(invocation(burnOf(), [invocation(payOf())])),
    };
    for (const [name, operation] of Object.entries(greedy))
      await refuses('mismatch', send(), asBurn, operation).catch((error: unknown) => assert.fail(`${name}: ${error}`));
  });

  it('refuses a message fee above its limit, or none', async () => {
    const most = messageFeeLimit(1500);
    await sign(send({}, { messageFee: most.toString() }));
    await refuses('fee', send({}, { messageFee: (most + 1n).toString() }));
    await refuses('fee', send({}, { messageFee: '0' }));
  });

  it('counts the message fee towards the coin of an hour', async () => {
    await sign(send(), asBurn, undefined, { signer: open({ coinPerHour: fee_stroops + 1_000n }) });
    await refuses('coinPerHour', send(), asBurn, undefined, { signer: open({ coinPerHour: fee_stroops + 999n }) });
  });

  it('pays USDT to others by a withdrawal alone', async () => {
    const order = { ...send({ receiver: stranger }), form: undefined } as unknown as TransferOrder;
    const { form: _, ...plain } = order;
    const operation = Operation.payment({
      ...{ destination: stranger, amount: '100' },
      asset: new Asset('USDT0', stellarUsdt0.issuer),
    });
    await sign(plain, { kind: 'withdrawal', reference: 'operation-1' }, operation);
    for (const kind of ['payout', 'refund'] as const)
      await refuses('mismatch', plain, { kind, reference: 'p' }, operation);
  });
});
