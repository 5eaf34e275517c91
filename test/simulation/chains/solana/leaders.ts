/** Producer of blocks: includes transactions that arrive in time, skips slots, and sometimes undoes blocks that are not final. */
import { base58 } from '@scure/base';
import type { Submitted } from '../../../../sandbox/solana/chain/transaction.ts';
import type { Kernel } from '../../kernel/ports.ts';
import { execute, payIn, type State, stateOver } from './execution.ts';
import { blockhashAge_blocks } from './methods.ts';
import { final_slots } from './node.ts';
import type { Landed, Slots } from './slots.ts';

export interface CustomerTransfer {
  readonly signature: string;
  readonly from: string;
  readonly to: string;
  readonly mint: string;
  readonly amount: bigint;
}

export interface Leaders {
  /** Makes the slots that are due. */
  tick(): void;
  /** A forwarded transaction: the next blocks include it, or it is lost. */
  take(submitted: Submitted): void;
  put(transfer: CustomerTransfer, wait_slots: number): void;
  calm(): void;
}

interface LeadersOptions {
  readonly kernel: Kernel;
  readonly slots: Slots;
  readonly slot_ms: number;
  readonly together: number;
}

export function createLeaders({ kernel, slots, slot_ms, together }: LeadersOptions): Leaders {
  const { fails, random, now_ms } = kernel;
  let heard: Submitted[] = [];
  let others: { readonly transfer: CustomerTransfer; readonly from: number }[] = [];
  let standsUntil_ms = 0;
  const payments = new Map<string, CustomerTransfer>();
  const bytes = new Map<string, Submitted>();

  function landedIn(slot: number, height: number, state: State): readonly Landed[] {
    const landed: Landed[] = [];
    for (const { transfer } of others.filter(({ from }) => from <= slot)) {
      const { accounts, effect } = payIn(state, transfer);
      payments.set(transfer.signature, transfer);
      landed.push({ ...effect, signature: transfer.signature, slot, accounts });
    }
    others = others.filter(({ from }) => from > slot);
    for (const submitted of heard) {
      const { signature, message } = submitted;
      const hash = slots.byHash(message.lifetimeToken);
      const isOver = slots.find(signature) !== undefined || landed.some((each) => each.signature === signature);
      if (isOver || !hash || height - hash.height > blockhashAge_blocks || fails('solana.leader.drops', 0.2)) continue;
      const effect = execute(state, submitted);
      bytes.set(signature, submitted);
      if (effect) landed.push({ ...effect, signature, slot, accounts: message.staticAccounts });
    }
    heard = [];
    return landed;
  }

  function makeSlot(time_s: number): void {
    const parent = slots.newestAt(slots.head());
    const [slot, height] = [slots.head() + 1, parent.height + 1];
    if (fails('solana.slot.skipped', 0.08)) {
      slots.skip();
      return;
    }
    const state = stateOver((address) => slots.accountAt(slot, address));
    const landed = landedIn(slot, height, state);
    const hash = base58.encode(random.bytes(32));
    slots.add({ slot, height, hash, parentSlot: parent.slot, parentHash: parent.hash, time_s, landed }, state.changes);
  }

  /** Undone transactions return, or are lost. */
  function fork(): void {
    const head = slots.head();
    const gone = slots.rollBack(head - 1 - random.below(final_slots - 2));
    kernel.note(`a fork takes back ${head - slots.head()} slots and ${gone.length} transactions`);
    for (const { signature } of gone) {
      if (fails('solana.fork.forgets', 0.3)) continue;
      const [transfer, submitted] = [payments.get(signature), bytes.get(signature)];
      if (transfer) others.push({ transfer, from: slots.head() + 1 + random.below(6) });
      if (submitted) heard.push(submitted);
    }
    for (let missing = head - slots.head(); missing > 0; missing -= 1) makeSlot(Math.floor(now_ms() / 1_000));
  }

  return {
    take: (submitted) => void heard.push(submitted),
    put: (transfer, wait_slots) => void others.push({ transfer, from: slots.head() + 1 + wait_slots }),
    tick() {
      if (now_ms() < standsUntil_ms) return;
      if (fails('solana.chain.stalls', 0.002)) {
        standsUntil_ms = now_ms() + (10 + random.below(60)) * 1_000;
        return;
      }
      if (fails('solana.fork', 0.01)) fork();
      for (let left = together - 1; left >= 0; left -= 1) makeSlot(Math.floor((now_ms() - left * slot_ms) / 1_000));
    },
    calm() {
      standsUntil_ms = 0;
    },
  };
}
