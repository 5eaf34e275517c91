// Copy buttons: displayed if the browser can copy.
import { say } from './say.js';

/** @param {ParentNode} part */
export function showCopyButtons(part) {
  if (!navigator.clipboard) return;
  for (const button of part.querySelectorAll('button[data-copy][hidden]')) button.hidden = false;
}

document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element && target.closest('button[data-copy]');
  if (!button) return;
  const word = button.querySelector('span');
  button.dataset.word ??= word.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    word.textContent = button.dataset.told ?? 'Copied';
    word.className = 'told';
    say(button.dataset.copied);
  } catch {
    word.textContent = button.dataset.failed ?? 'Mark it by hand';
  }
  setTimeout(() => {
    word.textContent = button.dataset.word;
    word.className = '';
  }, 2000);
});

showCopyButtons(document);
