// A payment's open page: counts down by the server's clock, and stays current through sleep, lost connections and closed streams.
import './localTime.js';
import './copy.js';
import './framed.js';
import { readAgain } from './parts.js';

const second_ms = 1000;
/** Pause between ticks after which the page has slept. */
const slept_ms = 20_000;
/** Poll interval without notifications. */
const poll_ms = 5_000;
/** Retry interval after a refused stream: the service may have been full, or unavailable behind its proxy. */
const refused_ms = 60_000;

let news = listen();
let ticked = Date.now();
let polled = ticked;
let asked = ticked;
let known = {};

/** A notification has the page's current version: an equal one is ignored. */
function listen() {
  const line = new EventSource(document.body.dataset.liveFrom);
  line.onmessage = ({ data }) => {
    if (data !== document.getElementById('version')?.textContent) readAgain();
  };
  return line;
}

/** A stream after sleep may look open and be dead. */
function listenAgain() {
  news.close();
  news = listen();
  asked = Date.now();
  readAgain();
}

/** Difference between our clock and the server's, from the newest part of the page. */
function ahead_ms(now) {
  if (known.now !== now) known = { now, ahead: Date.now() - Date.parse(now) };
  return known.ahead;
}

/** @param {number} left_s */
function lengthText(left_s) {
  const parts = [Math.floor(left_s / 3600), Math.floor(left_s / 60) % 60, left_s % 60];
  const shown = parts[0] > 0 ? parts : parts.slice(1);
  return shown.map((part) => String(part).padStart(2, '0')).join(':');
}

/** A hidden page counts as sleeping. */
function tick() {
  if (document.hidden) return;
  const now_ms = Date.now();
  // A clock change has the same effect as sleep.
  const slept = Math.abs(now_ms - ticked) > slept_ms;
  ticked = now_ms;
  const refused = news.readyState === EventSource.CLOSED && now_ms - asked > refused_ms;
  if (slept || refused) listenAgain();
  else if (news.readyState !== EventSource.OPEN && now_ms - polled > poll_ms) {
    polled = now_ms;
    readAgain();
  }
  count(now_ms);
}

function count(now_ms) {
  const left = document.querySelector('[data-until]');
  if (!left) return;
  const { now, until } = left.dataset;
  const left_s = Math.max(0, Math.ceil((Date.parse(until) - now_ms + ahead_ms(now)) / second_ms));
  const timer = left.querySelector('[role="timer"]');
  const shown = lengthText(left_s);
  if (timer.dataset.shown === shown) return;
  timer.dataset.shown = shown;
  const time = Object.assign(document.createElement('bdi'), { dir: 'ltr', textContent: shown });
  const [before, after] = left.dataset.left.split('%');
  timer.replaceChildren(before, time, after);
  left.querySelector('progress').value = left_s;
  if (left_s === 0) readAgain();
}

setInterval(tick, second_ms);
tick();
// Renewed parts are counted before they become visible.
document.addEventListener('renewed', () => count(Date.now()));
document.addEventListener('visibilitychange', tick);
window.addEventListener('online', listenAgain);
window.addEventListener('pagehide', () => news.close());
window.addEventListener('pageshow', (event) => {
  if (event.persisted) listenAgain();
});
