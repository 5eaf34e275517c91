// Pages that do not change by themselves: times of the reader's own zone, buttons that copy and print.
import './copy.js';
import './localTime.js';
import './framed.js';

for (const button of document.querySelectorAll('[data-print]')) {
  button.hidden = false;
  button.addEventListener('click', () => window.print());
}
