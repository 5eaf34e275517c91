/** An invariant is broken. */
export class Violation extends Error {
  override readonly name = 'Violation';
  /** Stable name of the broken invariant. */
  readonly invariant: string;
  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`);
    this.invariant = invariant;
  }
}
