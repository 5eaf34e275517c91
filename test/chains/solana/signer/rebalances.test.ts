/** The key on Solana burns for the treasury's own account on another chain and mints such burns, and nothing else. */
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { ComputeBudgetProgram, SystemProgram, TransactionMessage, VersionedMessage } from 'solana-web3-v1';
import type { ChainFamily } from '../../../../domain/chains.ts';
import { type BurnMessage, parseBurnMessage } from '../../../../domain/rebalance/burnMessage.ts';
import { domainOf, fast, routeContracts, solanaCctp, standard } from '../../../../domain/rebalance/cctp.ts';
import type { Form } from '../../../../domain/transfer/shapes.ts';
import { type CheckSpending, createSpending } from '../../../../src/chains/money/spending.ts';
import {
  type Signer,
  type SigningPurpose,
  SigningRefused,
  type TransferOrder,
  type Unsigned,
} from '../../../../src/chains/ports.ts';
import { parseBase58 } from '../../../../src/chains/solana/addresses.ts';
import { solanaFees } from '../../../../src/chains/solana/config.ts';
import {
  burnMessage,
  messageIn,
  mintMessage,
  type TransactionTerms,
  transferMessage,
} from '../../../../src/chains/solana/payouts/transaction.ts';
import { eventKey, referenceKey, solanaKey } from '../../../../src/chains/solana/signer/keys.ts';
import { createSolanaSigner } from '../../../../src/chains/solana/signer/signer.ts';
import { tokenAccountOf } from '../../../../src/chains/solana/tokenProgram.ts';
import { baseUsdc, treasuryAccount } from '../../../support/payments.ts';
import { attestation, messageOf, move } from '../../../support/rebalances.ts';
import { depositSeed, limits, usdcToken as token } from '../world.ts';

const key = solanaKey(Buffer.alloc(32, 7));
const account = key.address;
const stranger = solanaKey(Buffer.alloc(32, 8)).address;
const thief = '0xE27316fFF4839576802e8bFB695810C153bFcB92';
const stellarAccount = 'GCX2EQXSPCHMBSEGYZRVTZWOIDRXWRWYEFRTCNVOZPYXE4QEFPKNUF3V';
const terms: TransactionTerms = { blockhash: stranger, units: 150_000, price_microLamports: 1_000n };
const purposes = {
  burn: { kind: 'burn', reference: 'rebalance-r1/burn' },
  mint: { kind: 'mint', reference: 'rebalance-r1/mint' },
} as const satisfies Readonly<Record<string, SigningPurpose>>;
const event = eventKey(referenceKey(depositSeed), purposes.burn.reference).address;
const feeAccount = tokenAccountOf(stranger, token.address);

const own = { chainId: 501, token, receiverMemo: null } as const;
const burnForm = {
  ...{ kind: 'burn', destinationDomain: 6, mintRecipient: treasuryAccount, feeMax: '200000', finality: standard },
} as const;
const burn = (change: Partial<TransferOrder> = {}, form: Partial<typeof burnForm> | object = {}): TransferOrder => ({
  ...{ ...own, receiver: solanaCctp.minter, amount: 1_000_000_000n, form: { ...burnForm, ...form } as Form },
  ...change,
});
const order = move({
  from: { chainId: 8453, account: treasuryAccount, token: baseUsdc.token },
  to: { chainId: 501, account, token },
  route: {
    ...{ kind: 'cctp', sourceDomain: 6, destinationDomain: 5, ...routeContracts(8453, 501) },
    ...{ finality: standard, feeMax: '200000' },
  },
});
const mint = (change: Partial<TransferOrder> = {}, message: Partial<BurnMessage> | string = {}): TransferOrder => ({
  ...{ ...own, receiver: account, amount: 1_000_000_000n },
  form: { kind: 'mint', message: typeof message === 'string' ? message : messageOf(order, message), attestation },
  ...change,
});

const clock = { now: () => '2026-01-01T00:00:00.000Z' as const } as never;
const accountOf = (family: ChainFamily) => ({ evm: treasuryAccount, stellar: stellarAccount, solana: account })[family];
const open = (spending: CheckSpending = () => () => {}): Signer =>
  createSolanaSigner({ key, depositSeed, fees: solanaFees(), spending, accountOf });

const messageFor = (ordered: TransferOrder): Uint8Array =>
  ordered.form?.kind === 'mint'
    ? mintMessage(account, ordered, feeAccount, terms)
    : burnMessage(account, ordered, event, terms);
const unsignedOf = (ordered: TransferOrder, message: Uint8Array): Unsigned => ({
  ...{ chainId: 501, account, nonce: null, order: ordered, validUntil: '150', fee: {} },
  payload: { message: Buffer.from(message).toString('base64'), feeAccount },
});
const sign = async (
  ordered: TransferOrder,
  as: SigningPurpose,
  message: Uint8Array = messageFor(ordered),
  signer: Signer = open(),
) => signer.sign(unsignedOf(ordered, message), as);
const refuses = (reason: string, ordered: TransferOrder, as: SigningPurpose, message?: Uint8Array, signer?: Signer) =>
  assert.rejects(
    // A message that cannot be built for the order is replaced by that of an honest one.
    async () => sign(ordered, as, message ?? built(ordered, as), signer),
    (error) => error instanceof SigningRefused && error.reason === reason,
  );
function built(ordered: TransferOrder, { kind }: SigningPurpose): Uint8Array {
  try {
    return messageFor(ordered);
  } catch {
    return messageFor(kind === 'mint' ? mint() : burn());
  }
}
const publicKey = (address: string) =>
  createPublicKey({
    ...{ format: 'jwk' as const },
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(parseBase58(address, 32) ?? []).toString('base64url') },
  });
const decompiled = (message: Uint8Array) => TransactionMessage.decompile(VersionedMessage.deserialize(message));
/** The message with changes of its instructions. */
function changed(message: Uint8Array, change: (made: TransactionMessage) => void): Uint8Array {
  const made = decompiled(message);
  change(made);
  return made.compileToV0Message().serialize();
}

describe('the Solana signer of rebalances', () => {
  it('signs a burn for its own account on another chain, with the key of the message’s account', async () => {
    const signed = await sign(burn(), purposes.burn);
    assert.deepEqual(await sign(burn(), purposes.burn), signed);
    const wire = Buffer.from(signed.bytes, 'base64');
    assert.equal(wire[0], 2);
    for (const [at, address] of [account, event].entries())
      assert.ok(verify(null, messageIn(signed.bytes), publicKey(address), wire.subarray(1 + 64 * at, 65 + 64 * at)));
    await sign(burn({}, { finality: fast, feeMax: '0' }), purposes.burn);
    await sign(burn({}, { destinationDomain: domainOf(1500), mintRecipient: stellarAccount }), purposes.burn);
  });

  it('burns with one account for each reference, whatever the attempt', async () => {
    const other = { ...terms, blockhash: account };
    const [first, second] = [terms, other].map((each) => decompiled(burnMessage(account, burn(), event, each)));
    assert.deepEqual(first?.instructions.at(-1)?.keys, second?.instructions.at(-1)?.keys);
    const elsewhere = eventKey(referenceKey(depositSeed), 'rebalance-r2/burn').address;
    assert.notEqual(elsewhere, event);
    await refuses('mismatch', burn(), purposes.burn, burnMessage(account, burn(), elsewhere, terms));
    await refuses('mismatch', burn(), { kind: 'burn', reference: 'rebalance-r2/burn' });
  });

  it('signs the mint of its own burn', async () => {
    const signed = await sign(mint(), purposes.mint);
    assert.ok(Buffer.from(signed.bytes, 'base64').length <= 1_232);
    await sign(mint({ amount: 999_900_000n }, { feeExecuted: 100_000n, finalityExecuted: fast }), purposes.mint);
    assert.equal(parseBurnMessage(messageOf(order))?.mintRecipient, hex(tokenAccountOf(account, token.address)));
  });

  const strangeBurns: readonly (readonly [string, TransferOrder])[] = [
    ['to another recipient', burn({}, { mintRecipient: thief })],
    ['to a domain that is no chain of ours', burn({}, { destinationDomain: 17 })],
    ['to another account on Stellar', burn({}, { destinationDomain: 27, mintRecipient: treasuryAccount })],
    ['to its own chain', burn({}, { destinationDomain: 5, mintRecipient: account })],
    ['of a finality that the protocol does not have', burn({}, { finality: 1_500 })],
    ['of nothing', burn({ amount: 0n })],
    ['of a token that is not in the catalogue', burn({ token: { ...token, address: stranger } })],
    ['with other decimals', burn({ token: { ...token, decimals: 9 } })],
    ['that pays somebody by its receiver', burn({ receiver: stranger })],
    ['with a memo', burn({ receiverMemo: '7' })],
    ['that is a plain transfer', { ...own, receiver: stranger, amount: 50n }],
  ];
  for (const [what, ordered] of strangeBurns)
    it(`refuses a burn ${what}`, () => refuses('mismatch', ordered, purposes.burn));

  it('refuses every burn and mint without its own account on the other chain', async () => {
    const alone = createSolanaSigner({ key, depositSeed, fees: solanaFees(), spending: () => () => {} });
    await refuses('mismatch', burn(), purposes.burn, undefined, alone);
    await refuses('mismatch', mint(), purposes.mint, undefined, alone);
  });

  it('refuses a fee limit above the bound, and more compute units than it pays for', async () => {
    await sign(burn({}, { feeMax: '2000000' }), purposes.burn);
    await refuses('fee', burn({}, { feeMax: '2000001' }), purposes.burn);
    await refuses('fee', burn({ amount: 1n }, { feeMax: '1' }), purposes.burn);
    await refuses('fee', burn(), purposes.burn, burnMessage(account, burn(), event, { ...terms, units: 1_400_000 }));
  });

  it('refuses a burn whose transaction differs from its order, or does more', async () => {
    const honest = messageFor(burn());
    const from = decompiled(honest).payerKey;
    for (const other of [
      messageFor(burn({ amount: 999_999_999n })),
      messageFor(burn({}, { mintRecipient: thief })),
      messageFor(burn({}, { destinationDomain: 3 })),
      messageFor(burn({}, { feeMax: '200001' })),
      messageFor(burn({}, { finality: fast })),
      burnMessage(stranger, burn(), event, terms),
      changed(honest, ({ instructions }) =>
        instructions.push(SystemProgram.transfer({ fromPubkey: from, toPubkey: from, lamports: 1 })),
      ),
      changed(honest, ({ instructions }) =>
        instructions.push(ComputeBudgetProgram.requestHeapFrame({ bytes: 65_536 })),
      ),
      transferMessage(account, { ...own, receiver: stranger, amount: 1n }, stranger, terms),
    ])
      await refuses('mismatch', burn(), purposes.burn, other);
    // A mint has more units than a burn may use.
    await refuses('fee', burn(), purposes.burn, messageFor(mint()));
  });

  const strangeMints: readonly (readonly [string, TransferOrder])[] = [
    ['for its wallet instead of its token account', mint({}, { mintRecipient: hex(account) })],
    ['for another recipient', mint({}, { mintRecipient: '11'.repeat(32) })],
    ['that another caller may mint', mint({}, { destinationCaller: '11'.repeat(32) })],
    ['of a foreign burn', mint({}, { messageSender: '11'.repeat(32) })],
    ['of a message for another chain', mint({}, { destinationDomain: 3 })],
    ['of a message from a domain that is no chain of ours', mint({}, { sourceDomain: 17 })],
    ['of a message from its own chain', mint({}, { sourceDomain: 5 })],
    ['of another token', mint({}, { burnToken: '11'.repeat(32) })],
    ['of a message of another sender contract', mint({}, { sender: '11'.repeat(32) })],
    ['of a message of another recipient program', mint({}, { recipient: '11'.repeat(32) })],
    ['with a hook', mint({}, { hookData: 'ff' })],
    ['of a message that is not attested', mint({}, { nonce: '00'.repeat(32) })],
    ['whose fee is above the limit of the burn', mint({ amount: 999_799_999n }, { feeExecuted: 200_001n })],
    ['of another amount than the message states', mint({ amount: 1_000_000_001n })],
    ['that forgets the fee', mint({}, { feeExecuted: 100_000n })],
    ['of no message', mint({}, '0x00')],
    ['to somebody else', mint({ receiver: stranger })],
    ['of a token that is not in the catalogue', mint({ token: { ...token, address: stranger } })],
  ];
  for (const [what, ordered] of strangeMints)
    it(`refuses a mint ${what}`, () => refuses('mismatch', ordered, purposes.mint));

  it('refuses a mint whose transaction differs from its order, or does more', async () => {
    const honest = messageFor(mint());
    const payer = decompiled(honest).payerKey;
    for (const other of [
      messageFor(mint({}, { nonce: '11'.repeat(32) })),
      mintMessage(stranger, mint(), feeAccount, terms),
      mintMessage(account, mint(), tokenAccountOf(account, token.address), terms),
      messageFor(burn()),
      changed(honest, ({ instructions }) => void instructions.pop()),
      changed(honest, ({ instructions }) =>
        instructions.push(SystemProgram.transfer({ fromPubkey: payer, toPubkey: payer, lamports: 1 })),
      ),
    ])
      await refuses('mismatch', mint(), purposes.mint, other);
  });

  it('refuses a burn or a mint for any other purpose', async () => {
    for (const kind of ['payout', 'refund', 'withdrawal', 'sweep', 'anchor', 'deployment'] as const)
      for (const ordered of [burn(), mint()])
        await assert.rejects(async () => sign(ordered, { kind, reference: 'a' }), SigningRefused);
  });

  it('counts burns towards the limits, and mints not', async () => {
    const counting = open(createSpending(limits, clock));
    const large = burn({ amount: 1_000_000_001n });
    await refuses('perTransfer', large, purposes.burn, undefined, counting);
    await sign(burn(), purposes.burn, undefined, counting);
    await sign(mint(), purposes.mint, undefined, counting);
  });
});

function hex(address: string): string {
  return Buffer.from(parseBase58(address, 32) ?? []).toString('hex');
}
