/**
 * Timeout of specs. It bounds only a hang: it allows for a machine at a third of the usual pace with a whole run on it. Below mocha's own
 * limit, so that the missing condition is reported. `SPEC_PATIENCE_S` shortens it for runs that are expected to fail.
 */
export const patience_ms = Number(process.env['SPEC_PATIENCE_S'] ?? 600) * 1_000;
