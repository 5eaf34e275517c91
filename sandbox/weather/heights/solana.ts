/** A Solana node as it was some slots ago. The local Solana keeps the states that this takes, and answers as such a node would. */
import type { CallEffect } from '../quirk.ts';

export const solanaBehind =
  (slots: number): CallEffect =>
  ({ method, params }, next) =>
    slots === 0 ? next(method, params) : next('sandbox_behind', [{ slots, method, params }]);
