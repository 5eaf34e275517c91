// The receipt: times of the reader's own zone, and a button that prints.
import './localTime.js';
import './framed.js';

for (const button of document.querySelectorAll('[data-print]')) {
  button.hidden = false;
  button.addEventListener('click', () => window.print());
}
