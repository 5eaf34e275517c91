/**
 * How long specs wait for what has to come. It bounds a hang and nothing else: a machine that has a third of the usual pace, with
 * a whole run on it, is still waited for. Below mocha's own limit, so that what is missing is told.
 */
export const patience_ms = 600_000;
