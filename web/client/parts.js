// A page that is read again: the parts of it that have changed are put in their places. Focus, scrolling and what is being typed stay.
import { showCopyButtons } from './copy.js';
import { localTimes } from './localTime.js';
import { say } from './say.js';

const pause_ms = 1000;
let busy = false;
let again = false;

/** One reading at a time, and a pause behind each: a flood of news is one reading a second. */
export async function readAgain() {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  again = false;
  try {
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
    // Somewhere else: the session is over.
    if (answer.redirected) return location.replace(answer.url);
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    // What a form answered may stand at the address of another page.
    if (answer.ok && page.body.dataset.liveFrom === document.body.dataset.liveFrom) put(page);
  } catch {
    // The line is cut: `onopen` reads the page when it is back.
  }
  setTimeout(() => {
    busy = false;
    if (again) readAgain();
  }, pause_ms);
}

/** The page as the server sends it, before other modules changed it: what is compared. */
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
