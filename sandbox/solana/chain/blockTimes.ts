/** Times of blocks. Only times later than the previous one are stored. */

export interface BlockTimes {
  add(slot: number, time_s: number): void;
  /** Unix seconds. */
  at(slot: number): number;
}

const remembered = 20_000;

export function createBlockTimes(): BlockTimes {
  const times: { readonly slot: number; readonly time_s: number }[] = [];
  return {
    add(slot, time_s) {
      const last = times.at(-1);
      if (last && last.time_s >= time_s) return;
      times.push({ slot, time_s });
      if (times.length > 2 * remembered) times.splice(0, remembered);
    },
    at: (wanted) => (times.findLast(({ slot }) => slot <= wanted) ?? times[0])?.time_s ?? 0,
  };
}
