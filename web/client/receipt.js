// Static pages: times in the reader's zone, copy and print buttons.
import './copy.js';
import './localTime.js';
import './framed.js';

for (const button of document.querySelectorAll('[data-print]')) {
  button.hidden = false;
  button.addEventListener('click', () => window.print());
}
