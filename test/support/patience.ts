/**
 * Timeout of specs. It bounds only a hang: it allows for a machine at a third of the usual pace with a whole run on it. Below mocha's own
 * limit, so that the missing condition is reported.
 */
export const patience_ms = 600_000;
