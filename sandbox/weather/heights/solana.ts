/** A Solana node as of some slots ago. The local Solana keeps the necessary states, and answers as such a node would. */
import type { CallEffect } from '../quirk.ts';

export const solanaBehind =
  (slots: number): CallEffect =>
  ({ method, params }, next) =>
    slots === 0 ? next(method, params) : next('sandbox_behind', [{ slots, method, params }]);
