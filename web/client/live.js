// News: the page is read again, and the parts of it that have changed are put in their places. Focus, scrolling and what is being typed stay.
import { showCopyButtons } from './copy.js';
import { localTimes } from './localTime.js';
import { say } from './say.js';

const pause_ms = 1000;
/** Reading a page keeps its session awake: nobody's page is read for so long only. */
const alone_ms = 60 * 60 * 1000;
let busy = false;
let again = false;
let missed = false;
let touched = Date.now();

const news = new EventSource(document.body.dataset.liveFrom);
news.onmessage = renew;
// What happened between the page and its line to the news, or while that was cut, is in the page that is read now.
news.onopen = renew;
window.addEventListener('pagehide', () => news.close());
window.addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload();
});

for (const touch of ['pointermove', 'keydown', 'visibilitychange']) {
  document.addEventListener(touch, () => {
    if (document.hidden) return;
    touched = Date.now();
    if (!missed) return;
    missed = false;
    paused.remove();
    renew();
  });
}

const paused = Object.assign(document.createElement('p'), {
  className: 'notice wait',
  textContent: 'News are paused: nobody has been here for an hour. Move the pointer or press a key, and they go on.',
});

/** One reading at a time, and a pause behind each: a flood of news is one reading a second. */
async function renew() {
  const alone = Date.now() - touched > alone_ms;
  if (alone || document.hidden) {
    missed = true;
    if (alone) document.querySelector('main').prepend(paused);
    return;
  }
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
    if (again) renew();
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
  if (focused >= 0) next.querySelectorAll(places)[focused]?.focus({ preventScroll: true });
}
