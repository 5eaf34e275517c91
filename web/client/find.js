// Finding from anywhere: `/` focuses the search of the page, or opens the dialog; Ctrl-K or Cmd-K opens the dialog on every page of an app.
import { localTimes } from './localTime.js';

const address = document.body.dataset.find;
const pause_ms = 150;
const isTyping = (target) => target.closest('input, textarea, select, [contenteditable]') !== null;

document.addEventListener('keydown', (event) => {
  const opens = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  const slash = event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target);
  if (!opens && !slash) return;
  event.preventDefault();
  const field = document.querySelector('main [type="search"]');
  if (slash && field) return field.select();
  open();
});

for (const link of document.querySelectorAll('[data-finds]')) {
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
}

let dialog;
let timer;
let asked = 0;

function open() {
  dialog ??= made();
  if (dialog.open) return;
  dialog.showModal();
  const field = dialog.querySelector('input');
  field.select();
  find(field.value);
}

function made() {
  const own = document.createElement('dialog');
  own.className = 'finder';
  own.setAttribute('aria-label', 'Find');
  own.innerHTML = `<form role="search" method="get"><label class="visually-hidden" for="find">Find a payment, page or app</label>
    <input id="find" name="q" type="search" maxlength="128" autocomplete="off" placeholder="Payment, page or app" spellcheck="false">
    </form><div class="found" aria-live="polite"></div>`;
  own.querySelector('form').action = address;
  own.addEventListener('input', ({ target }) => {
    clearTimeout(timer);
    timer = setTimeout(() => find(target.value), pause_ms);
  });
  own.addEventListener('keydown', (event) => {
    // A search field with text takes the first Escape to clear itself.
    if (event.key === 'Escape') own.close();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      const places = [own.querySelector('input'), ...own.querySelectorAll('.found a')];
      const next = places.indexOf(document.activeElement) + step;
      places[Math.max(0, Math.min(next, places.length - 1))].focus();
    }
  });
  // Enter opens the first match once it belongs to the typed text; before that, the page of the search.
  own.querySelector('form').addEventListener('submit', (event) => {
    const list = own.querySelector('.found');
    const first = list.querySelector('a');
    if (!first || list.dataset.q !== own.querySelector('input').value.trim()) return;
    event.preventDefault();
    location.assign(first.href);
  });
  own.addEventListener('click', ({ target }) => target === own && own.close());
  document.body.append(own);
  return own;
}

async function find(text) {
  const q = text.trim();
  asked += 1;
  const mine = asked;
  try {
    const answer = await fetch(`${address}?${new URLSearchParams({ q })}`, { headers: { Accept: 'text/html' } });
    if (answer.redirected) return location.replace(answer.url);
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const found = page.getElementById('found');
    // A later search has its own answer.
    if (mine !== asked || !answer.ok || !found) return;
    localTimes(found);
    const list = dialog.querySelector('.found');
    list.dataset.q = q;
    list.replaceChildren(...[...found.childNodes].map((node) => document.importNode(node, true)));
  } catch {
    // The line is cut: Enter opens the page of the search.
  }
}
