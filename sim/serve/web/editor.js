// The scenario as text, with line numbers and with errors at their places.

const PAUSE = 250;  // ms without a key press until the typed text is sent

export class Editor {
  constructor(area, lines, errors, app) {
    this.area = area;
    this.lines = lines;
    this.errors = errors;
    this.app = app;
    area.addEventListener('input', () => {
      this.drawLines();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => app.typed(area.value), PAUSE);
    });
    area.addEventListener('scroll', () => { lines.scrollTop = area.scrollTop; });
    // Inserts two spaces for a tab, which YAML does not allow; Escape gives Tab back to the page.
    area.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.free = true;
      if (event.key !== 'Tab' || event.shiftKey || this.free) return;
      event.preventDefault();
      area.setRangeText('  ', area.selectionStart, area.selectionEnd, 'end');
      area.dispatchEvent(new Event('input'));
    });
    area.addEventListener('focus', () => { this.free = true; });
    area.addEventListener('beforeinput', () => { this.free = false; });
  }

  get hasFocus() {
    return document.activeElement === this.area;
  }

  draw() {
    if (this.area.value !== this.app.design.text) this.area.value = this.app.design.text;
    this.drawErrors();
  }

  drawLines() {
    const wrong = new Set(this.app.design.errors.filter((one) => one.own).map((one) => one.line));
    const count = this.area.value.split('\n').length, stamp = `${count} ${[...wrong]}`;
    if (stamp === this.numbered) return;
    this.numbered = stamp;
    const numbers = Array.from({length: count}, (_, i) => {
      const line = document.createElement('span');
      line.textContent = `${wrong.has(i + 1) ? '▸' : ''}${i + 1}\n`;
      if (wrong.has(i + 1)) line.className = 'bad';
      return line;
    });
    this.lines.replaceChildren(...numbers);
    this.lines.scrollTop = this.area.scrollTop;
  }

  drawErrors() {
    const {design} = this.app;
    this.drawLines();
    this.area.setAttribute('aria-invalid', design.errors.length > 0);
    if (design.errors.length > 0 || this.errors.firstChild) this.errors.replaceChildren(...design.errors.map((error) => this.app.errorLine(design, error)));
  }

  // Puts the cursor at a line and a column, counted in characters.
  show(line, column) {
    const rows = this.area.value.split('\n');
    const before = rows.slice(0, line - 1).reduce((sum, row) => sum + row.length + 1, 0);
    const start = before + [...(rows[line - 1] ?? '')].slice(0, column - 1).join('').length;
    const word = /^[^\s,:[\]{}]+/.exec(this.area.value.slice(start))?.[0].length ?? 1;
    this.area.focus();
    this.area.setSelectionRange(start, start + word);
    const height = this.area.scrollHeight / Math.max(1, rows.length);
    this.area.scrollTop = Math.max(0, (line - 5) * height);
  }
}
