// Reloads a page: replaces its changed parts. Focus, scrolling and typed text stay.
import { showCopyButtons } from './copy.js';
import { localTimes } from './localTime.js';
import { say } from './say.js';

const pause_ms = 1000;
/** Longest pause after failed reads, each of which doubles it. */
const pauseMax_ms = 60_000;
/** A read without an answer is given up, or the page would wait for it for ever. */
const unanswered_ms = 30_000;
let busy = false;
let again = false;
let failures = 0;

/**
 * One reload at a time, with a pause after each: a flood of notifications causes one reload per second. A failed one is repeated: its
 * notification may have been the last.
 */
export async function readAgain() {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  again = false;
  let failed = false;
  try {
    const signal = AbortSignal.timeout(unanswered_ms);
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' }, signal });
    // Redirected: the session is over.
    if (answer.redirected) return location.replace(answer.url);
    failed = answer.status === 429 || answer.status >= 500;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    // A form's answer may have the address of another page.
    if (answer.ok && page.body.dataset.liveFrom === document.body.dataset.liveFrom) put(page);
  } catch {
    failed = true;
  }
  failures = failed ? failures + 1 : 0;
  setTimeout(
    () => {
      busy = false;
      if (again || failed) readAgain();
    },
    Math.min(pause_ms * 2 ** failures, pauseMax_ms),
  );
}

/** The page as the server sent it, before other modules changed it, for comparison. */
const sent = new Map();

function put(page) {
  for (const part of document.querySelectorAll('[data-live="part"][id]')) {
    const next = page.getElementById(part.id);
    if (!next) continue;
    const known = sent.get(part.id);
    sent.set(part.id, next.innerHTML);
    if (next.innerHTML === known || isTypedIn(part)) continue;
    replace(part, document.importNode(next, true));
  }
  document.title = page.title;
  document.dispatchEvent(new Event('renewed'));
  const told = document.querySelector('[data-say]');
  const next = page.querySelector('[data-say]')?.dataset.say;
  if (!told || !next || told.dataset.say === next) return;
  told.dataset.say = next;
  say(next);
}

const isTypedIn = (part) => part.contains(document.activeElement) && document.activeElement.matches('input, select, textarea');

function replace(part, next) {
  const places = 'a[href], button, summary, [tabindex]';
  const focused = [...part.querySelectorAll(places)].indexOf(document.activeElement);
  const open = [...part.querySelectorAll('details')].map((details) => details.open);
  localTimes(next);
  showCopyButtons(next);
  next.querySelectorAll('details').forEach((details, place) => {
    details.open = open[place] ?? details.open;
  });
  part.replaceWith(next);
  if (focused < 0) return;
  const place = next.querySelectorAll(places)[focused] ?? document.querySelector('main');
  place.focus({ preventScroll: true });
}
