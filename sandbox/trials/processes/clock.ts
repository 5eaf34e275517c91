/** Loaded before a program (`node --import`): its clock is ahead by `CLOCK_AHEAD_MS`, as if that time had passed. */
const ahead_ms = Number(process.env['CLOCK_AHEAD_MS'] ?? 0);
const SystemDate = Date;

class LaterDate extends SystemDate {
  constructor(...given: readonly unknown[]) {
    if (given.length === 0) super(LaterDate.now());
    else super(...(given as [number]));
  }
  static override now(): number {
    return SystemDate.now() + ahead_ms;
  }
}

if (ahead_ms !== 0) globalThis.Date = LaterDate as DateConstructor;
