/** Divides the places of one process between the networks of its callers, so that a few networks cannot hold all of them. */
import { networksOf } from './clients.ts';

export interface PlaceShares {
  /** Takes a place until the returned function is called. Null if a network of the caller holds its share. */
  take(client: string): (() => void) | null;
}

/** One network may hold as much as a quarter of the places that are free. */
const freeParts = 4;
/** Places that a network may hold however few are free. */
const least = 10;

/** @param perCallerMax of one IPv4 address or /64, however many places are free */
export function createPlaceShares({
  placesMax,
  perCallerMax,
}: {
  readonly placesMax: number;
  readonly perCallerMax: number;
}): PlaceShares {
  const held = new Map<string, number>();
  let taken = 0;

  const change = (network: string, by: 1 | -1): void => {
    const count = (held.get(network) ?? 0) + by;
    if (count > 0) held.set(network, count);
    else held.delete(network);
  };

  return {
    take(client) {
      const networks = networksOf(client);
      const fair = Math.floor((placesMax - taken) / freeParts);
      const isFull = networks.some(
        ({ network, callers }) =>
          (held.get(network) ?? 0) >= Math.min(perCallerMax * callers, Math.max(least * callers, fair)),
      );
      if (isFull) return null;
      taken += 1;
      for (const { network } of networks) change(network, 1);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        taken -= 1;
        for (const { network } of networks) change(network, -1);
      };
    },
  };
}
