// A page that could not be shown: it is requested until the service answers, and then loaded, so that nobody has to.

/** Longest pause between two requests. Each pause doubles the one before. */
const pauseMax_ms = 60_000;
/** A request without an answer is given up. */
const unanswered_ms = 30_000;

let pause_ms = 1_000 * Number(document.querySelector('[data-after]').dataset.after);

async function look() {
  const signal = AbortSignal.timeout(unanswered_ms);
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' }, signal }).catch(() => null);
  // Not `reload`, which after a form would send the form again; and without a fragment, to which a browser only scrolls.
  if (answer !== null && answer.status !== 429 && answer.status < 500) return location.replace(location.pathname + location.search);
  pause_ms = Math.min(2 * pause_ms, pauseMax_ms);
  setTimeout(look, pause_ms);
}

setTimeout(look, pause_ms);
