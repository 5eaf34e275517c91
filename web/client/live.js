// Live updates: an open page of the dashboard is reloaded after a notification.
import { readAgain } from './parts.js';

/** Reading a page keeps its session alive: an unattended page stops after this time. */
const alone_ms = 60 * 60 * 1000;
let missed = false;
let touched = Date.now();

const news = new EventSource(document.body.dataset.liveFrom);
news.onmessage = renew;
// The reloaded page contains events between the page's rendering and its connection, and those of an interruption.
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

function renew() {
  const alone = Date.now() - touched > alone_ms;
  if (!alone && !document.hidden) return readAgain();
  missed = true;
  if (alone) document.querySelector('main').prepend(paused);
}
