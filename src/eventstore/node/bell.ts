/** Tells everyone who listens that something has happened; what, they look up themselves. */
export interface Bell {
  ring(): void;
  /** @returns how to stop listening */
  listen(listener: () => void): () => void;
}

export function createBell(): Bell {
  const listeners = new Set<() => void>();
  return {
    ring() {
      for (const listener of listeners) listener();
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
