/** A simulated Solana: slots, nodes that report them, and customers who pay. */
import { base58 } from '@scure/base';
import { type Chain, chainOf } from '../../../../domain/chains.ts';
import type { Submitted } from '../../../../sandbox/solana/chain/transaction.ts';
import { solanaKey } from '../../../../src/chains/solana/signer/keys.ts';
import { tokenAccountOf } from '../../../../src/chains/solana/tokenProgram.ts';
import type { CustomerPayment, OpenChain, SimulatedNode } from '../../kernel/ports.ts';
import { createSpells } from '../spells.ts';
import { payIn, stateOver } from './execution.ts';
import { createLeaders } from './leaders.ts';
import { answer } from './methods.ts';
import { createSolanaNode, final_slots, type SolanaNode } from './node.ts';
import { type AccountState, type Changes, createSlots, type Landed } from './slots.ts';
import { createTruth } from './truth.ts';

const secret = Buffer.alloc(32, 0x5e);
const { address: treasury } = solanaKey(secret);
const treasuryKey = base58.encode(Buffer.concat([secret, base58.decode(treasury)]));

const relaySecret = Buffer.alloc(32, 0x5f);
const { address: relayAddress } = solanaKey(relaySecret);
/** Account that pays the fees of payers' transactions, with its coin in lamports. */
export const relayWallet = {
  address: relayAddress,
  key: base58.encode(Buffer.concat([relaySecret, base58.decode(relayAddress)])),
  lamports: 10n ** 15n,
} as const;

/** Slots of a second, some at a time: a transaction is valid for a hundred and fifty of them. */
export const slot_ms = 1_000;
const together = 4;
/** All deposits' keys follow from it. */
export const depositSeed = '5e'.repeat(32);

export const tick_ms = slot_ms * together;
const begunBefore_slots = 40;
const nodesLeast = 2;
const plenty = 10n ** 15n;
const gossipMost_ms = 1_000;
const receiversMost = 20;

export const openSolanaChain: OpenChain = (kernel, chainId) => {
  const chain = chainOf(chainId);
  const { random, fails } = kernel;
  // Wallets lie on the curve, which one key in two does by chance: all of these have a key.
  const receivers = Array.from({ length: receiversMost }, () => solanaKey(random.bytes(32)).address);
  const time_s = Math.floor(kernel.now_ms() / 1_000) - begunBefore_slots;
  const hash = () => base58.encode(random.bytes(32));
  const first = { slot: 0, height: 0, hash: hash(), parentSlot: 0, parentHash: hash(), time_s, landed: [] };
  const slots = createSlots({ ...first, landed: [funding(chain, base58.encode(random.bytes(64)))] }, holdings(chain));
  const leaders = createLeaders({ kernel, slots, slot_ms, together });
  for (let slot = 1; slot < begunBefore_slots; slot += 1) {
    const parent = slots.newestAt(slot);
    slots.add(
      {
        ...first,
        slot,
        height: slot,
        hash: hash(),
        parentSlot: parent.slot,
        parentHash: parent.hash,
        time_s: time_s + slot,
      },
      new Map(),
    );
  }
  const truth = createTruth({ chain, slots });
  const decimals = new Map(chain.tokens.map((token) => [token.address, token.decimals]));
  const forged: Landed[] = [];
  const watched: string[] = [];
  const count = nodesLeast + random.below(2);
  const liar = random.below(count);
  let given = 0;

  const nodes = Array.from({ length: count }, (_, number): SolanaNode => {
    const spells = createSpells(kernel, { family: 'solana', block_ms: tick_ms, isLiar: number === liar });
    return createSolanaNode({ kernel, slots, spells, number, decimals, tell, forged });
  });

  function tell(submitted: Submitted): void {
    if (fails('solana.gossip.drops', 0.1)) return;
    kernel.after(random.below(gossipMost_ms), () => leaders.take(submitted));
  }

  const transferTo = (to: string, mint: string, amount: bigint, from?: string) => ({
    signature: base58.encode(random.bytes(64)),
    from: from ?? solanaKey(random.bytes(32)).address,
    to,
    mint,
    amount,
  });

  function pay({ address, tokenAddress, amount, from }: CustomerPayment): void {
    if (!watched.includes(address)) watched.push(address);
    leaders.put(
      transferTo(address, tokenAddress, amount, from),
      fails('solana.customer.slow', 0.05) ? random.below(90) : random.below(6),
    );
  }

  /** A payment that nobody made, to one who waits for it. */
  function forge(): void {
    const [to, token] = [watched[random.below(watched.length)], chain.tokens[0]];
    if (to === undefined || !token) return;
    const transfer = transferTo(to, token.address, 10n ** 9n);
    const { accounts, effect } = payIn(
      stateOver((address) => slots.accountAt(slots.head(), address)),
      transfer,
    );
    forged.push({
      ...effect,
      signature: transfer.signature,
      slot: slots.newestAt(slots.head() - final_slots - 2).slot,
      accounts,
    });
  }

  function tick(): void {
    leaders.tick();
    truth.changed();
    for (const node of nodes) {
      node.hear(slots.head());
      const begun = node.spells.draw();
      for (const spell of begun) kernel.note(`chain ${chainId} node ${node.number + 1}: ${spell}`);
      if (begun.includes('forges')) forge();
    }
    kernel.after(tick_ms, tick);
  }
  kernel.after(tick_ms, tick);

  const urlOf = (number: number) => `http://solana-${number + 1}.simulated/`;
  return {
    chainId,
    family: 'solana',
    nodes: nodes.map(
      (node): SimulatedNode => ({
        url: urlOf(node.number),
        ask(method, params) {
          if (method === 'sendTransaction') truth.receive(params);
          return answer(node, method, params);
        },
      }),
    ),
    truth,
    treasury,
    pay,
    receiver: () => receivers[given++ % receiversMost] ?? treasury,
    calm() {
      for (const { spells } of nodes) spells.calm();
      leaders.calm();
    },
    variables: {
      [`RPC_URLS_${chainId}`]: nodes.map(({ number }) => urlOf(number)).join(','),
      [`POLL_MS_${chainId}`]: '4000',
      SOLANA_TREASURY_PRIVATE_KEY: treasuryKey,
      SOLANA_TREASURY_ADDRESS: treasury,
      SOLANA_DEPOSIT_SEED: depositSeed,
    },
  };
};

/** Origin of the treasury's float: a node's list of its account leads to its balance. */
function funding({ tokens }: Chain, signature: string): Landed {
  const accounts = [treasury, ...tokens.map(({ address }) => tokenAccountOf(treasury, address))];
  const after = tokens.map(({ address: mint }, at) => ({
    accountIndex: at + 1,
    mint,
    owner: treasury,
    amount: plenty,
  }));
  const lamports = accounts.map(() => plenty);
  const balances = { lamportsBefore: lamports, lamportsAfter: lamports, tokensBefore: [], tokensAfter: after };
  return { signature, slot: 0, accounts, fee: 0n, err: null, ...balances };
}

/** Initial state: the treasury's float, and the coin of the relay account. */
function holdings({ tokens }: Chain): Changes {
  const floats = tokens.map(
    ({ address: mint }) =>
      [tokenAccountOf(treasury, mint), { owner: treasury, mint, amount: plenty, lamports: 2_039_280n }] as const,
  );
  const wallet: AccountState = { owner: treasury, mint: null, amount: 0n, lamports: plenty };
  const relay: AccountState = { ...wallet, owner: relayAddress, lamports: relayWallet.lamports };
  return new Map<string, AccountState>([[treasury, wallet], [relayAddress, relay], ...floats]);
}
