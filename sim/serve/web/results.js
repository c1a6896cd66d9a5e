// The verdict and what it rests on, in the sections of slmsim's report; of two designs side by side.

import {ask, element, fragment, select} from './dom.js';
import {duration} from './units.js';

const QUIET = 180;  // ms without a change until what takes longer is asked

// What two designs are compared by.
const FIGURES = [['Time of the job', (p) => p.minutes, duration], ['An iteration', (p) => p.iteration_s, (v) => `${v.toPrecision(3)} s`],
                 ['GPUs', (p) => p.gpus, String], ['GPU-hours', (p) => p.gpu_hours, (v) => v.toPrecision(3)],
                 ['Energy', (p) => p.energy_kwh, (v) => `${v.toPrecision(3)} kWh`],
                 ['Tokens per second', (p) => p.tokens_per_second, (v) => v.toPrecision(3)],
                 ['Memory of the fullest GPU', (p) => p.memory_share, (v) => `${Math.round(100 * v)} %`]];

export class Results {
  // `app` has designs, active, show(place of an error).
  constructor(verdict, place, app) {
    this.verdict = verdict;
    this.place = place;
    this.app = app;
    this.model = 0;
    this.open = {comparison: true, memory: true, iteration: true, timeline: true, rtt: true, job: true};
    this.late = new WeakMap();   // of a design: what came later, as elements, and of which view it is
    this.asked = new WeakSet();  // views
  }

  draw() {
    const designs = this.app.designs.filter(Boolean);
    this.verdict.replaceChildren(...designs.map((design) => this.told(design, designs.length > 1)));
    if (designs.length > 1) this.verdict.append(this.compared(designs));
    const columns = designs.map((design) => this.column(design, designs.length > 1));
    this.place.className = designs.length > 1 ? 'two' : 'one';
    this.place.replaceChildren(...columns);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => designs.forEach((design) => this.ask(design)), QUIET);
  }

  letter(design) {
    return this.app.designs.indexOf(design) === 0 ? 'A' : 'B';
  }

  told(design, several) {
    const out = element('div', {class: 'verdict'});
    const title = several ? `Design ${this.letter(design)}: ` : '';
    if (design.isEmpty) {
      out.append(element('p', {class: 'first'}, `${title}the verdict will stand here.`.replace(/^t/, 'T')),
                 element('p', {}, 'Which technique to train with, on which of the GPUs, and how long that takes.'));
      return out;
    }
    for (const error of design.errors.slice(0, 5)) out.append(this.app.errorLine(design, error, title));
    const model = design.view?.models[this.model] ?? design.view?.models[0];
    if (design.errors.length > 0 || !model) {
      if (design.errors.length === 0) out.append(element('p', {}, 'predicting…'));
      return out;
    }
    out.append(element('p', {class: 'first'}, title + model.verdict));
    const assumed = design.view.assumed;
    if (assumed.length > 0) {
      out.append(element('details', {class: 'assumed'},
                         element('summary', {}, `Rests on ${assumed.length === 1 ? 'one assumption' : `${assumed.length} assumptions`} that nobody stated or measured`),
                         element('ul', {}, ...assumed.map((one) => element('li', {}, one.text)))));
    }
    return out;
  }

  compared(designs) {
    const picks = designs.map((design) => (design.view?.models[this.model] ?? design.view?.models[0])?.pick);
    const cells = (read, write) => {
      const both = picks.map((pick) => (pick ? read(pick) : null));
      const ratio = both.every((v) => typeof v === 'number' && v > 0) ? (both[1] / both[0]).toPrecision(3) : '';
      return [...both.map((v) => (v === null || v === undefined ? '–' : write(v))), ratio];
    };
    const rows = FIGURES.map(([name, read, write]) => [name, ...cells(read, write)]).filter((row) => row[1] !== '–' || row[2] !== '–');
    const pick = ['Pick', ...picks.map((p) => (p ? `${p.technique} on ${p.group.join('+')}` : 'nothing fits')), ''];
    const table = element('table', {}, element('thead', {}, element('tr', {}, ...['', 'Design A', 'Design B', 'B / A'].map((word) =>
      element('th', {scope: 'col'}, word)))), element('tbody', {}, ...[pick, ...rows].map((row) => element('tr', {},
      element('th', {scope: 'row'}, row[0]), ...row.slice(1).map((cell) => element('td', {}, cell))))));
    return element('div', {class: 'wide compared', tabindex: 0, role: 'region', 'aria-label': 'Both designs compared'}, table);
  }

  column(design, several) {
    const out = element('div', {class: 'column'});
    const models = design.view?.models ?? [];
    if (models.length === 0 || design.isEmpty) return out;
    const model = models[this.model] ?? models[0];
    if (several) out.append(element('h2', {class: 'which'}, `Design ${this.letter(design)}`));
    if (models.length > 1) {
      const choose = select(models.map((one, i) => [String(i), one.name]), String(models.indexOf(model)), (i) => {
        this.model = Number(i);
        this.asked = new WeakSet();
        this.draw();
        this.place.querySelector('select')?.focus();
      });
      choose.setAttribute('aria-label', 'Model that is shown');
      out.append(choose);
    }
    out.append(...model.sections.map((section) => this.section(section)));
    const late = this.late.get(design);
    for (const one of late?.elements ?? []) {
      one.classList.toggle('stale', late.view !== design.view);
      out.append(one);
    }
    return out;
  }

  section({name, title, html}) {
    const out = element('details', {class: 'model section', open: this.open[name] !== false}, element('summary', {}, title));
    out.append(...fragment(html));
    out.addEventListener('toggle', () => { this.open[name] = out.open; });
    return out;
  }

  // The timeline and the curve over the round-trip time, once the hand rests.
  async ask(design) {
    const {view} = design;
    if (!view || design.isEmpty || design.errors.length > 0 || this.asked.has(view)) return;
    this.asked.add(view);
    const body = {scenario: design.text, name: design.name, model: Math.min(this.model, view.models.length - 1)};
    const answers = await Promise.all(['timeline', 'curve'].map((question) => ask(question, body)));
    if (design.view !== view) {
      this.asked.delete(view);
      return;
    }
    const sections = answers.filter(({ok}) => ok).flatMap(({answer}) => answer.sections);
    this.late.set(design, {view, elements: sections.map((section) => this.section(section))});
    this.draw();
  }
}
