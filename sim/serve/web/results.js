// The verdict and its evidence, in the sections of slmsim's report; for two designs side by side.

import {ask, element, fill, fragment, problem, select} from './dom.js';
import {duration} from './units.js';

const QUIET = 180;  // ms without a change until slower questions are sent
const FIRST_PAUSE = 20, LAST_PAUSE = 300;  // ms between two polls of a job; each pause is twice the one before

// Sections that are open at first.
const OPEN = new Set(['comparison', 'facts', 'sweep']);

// Figures that compare two designs.
const FIGURES = [['Time of the job', (p) => p.minutes, duration], ['An iteration', (p) => p.iteration_s, (v) => `${v.toPrecision(3)} s`],
                 ['GPUs', (p) => p.gpus, String], ['GPU-hours', (p) => p.gpu_hours, (v) => v.toPrecision(3)],
                 ['Energy', (p) => p.energy_kwh, (v) => `${v.toPrecision(3)} kWh`],
                 ['Tokens per second', (p) => p.tokens_per_second, (v) => v.toPrecision(3)],
                 ['Memory of the fullest GPU', (p) => p.memory_share, (v) => `${Math.round(100 * v)} %`]];

export class Results {
  // `app` has designs, active, isAsked(design), errorLine(...), still(): called when all results have arrived.
  constructor(verdict, place, app) {
    this.verdict = verdict;
    this.place = place;
    this.app = app;
    this.model = 0;
    this.open = {};
    this.forget();
  }

  // Later results: for a view its sections and its intervals; and for a design the view whose sections stay until its own
  // arrive.
  forget() {
    this.later = new WeakMap();
    this.shown = new WeakMap();
  }

  get isBusy() {
    return this.timer !== undefined || this.isFollowing === true;
  }

  laterOf(view) {
    if (!this.later.has(view)) this.later.set(view, {});
    return this.later.get(view);
  }

  modelOf(view) {
    return view?.models[this.model] ?? view?.models[0];
  }

  draw() {
    const designs = this.app.designs.filter(Boolean), several = designs.length > 1;
    this.hold(designs.some((design) => design.errors.length > 0));
    fill(this.verdict, [...designs.map((design, i) => [`told ${i}`, () => this.told(design, several)]),
                        ...(several ? [['compared', () => this.compared(designs)]] : [])]);
    this.verdict.classList.toggle('asked', designs.some((design) => this.app.isAsked(design)));
    this.place.className = several ? 'two' : 'one';
    while (this.place.children.length > designs.length) this.place.lastChild.remove();
    while (this.place.children.length < designs.length) this.place.append(element('div', {class: 'column'}));
    designs.forEach((design, i) => fill(this.place.children[i], this.column(design, several)));
    this.rest();
  }

  // Errors take the room of the earlier verdict, so that the drawing does not move.
  hold(wrong) {
    const {style} = this.verdict;
    if (!wrong) style.height = '';
    else if (!style.height && this.verdict.querySelector('.decided')) style.height = `${this.verdict.getBoundingClientRect().height}px`;
    this.verdict.classList.toggle('held', style.height !== '');
  }

  // Sends slower questions once edits pause; an edit postpones them and cancels the running ones.
  rest() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.follow(), QUIET);
    this.app.still();
  }

  edited(design) {
    this.rest();
    if (this.computed?.design === design) this.computed.end();
    if (!design.isEmpty && design.errors.length === 0 && !this.verdict.querySelector('.decided')) this.draw();
    this.verdict.classList.add('asked');  // until the next redraw
  }

  letter(design) {
    return this.app.designs.indexOf(design) === 0 ? 'A' : 'B';
  }

  told(design, several) {
    const out = element('div', {class: 'verdict'});
    const title = several ? `Design ${this.letter(design)}: ` : '';
    if (design.isEmpty) {
      out.append(element('p', {class: 'first'}, `${title}Which technique, on which GPUs, and how long will it take?`),
                 element('p', {}, 'Draw where your GPUs are. The answer appears here with the first site, and is updated at every change.'));
      return out;
    }
    for (const error of design.errors.slice(0, 5)) out.append(this.app.errorWords(design, error, title));
    const model = this.modelOf(design.view);
    if (design.errors.length > 0 || !model) {
      if (design.errors.length === 0) out.append(element('p', {}, 'predicting…'));
      return out;
    }
    const later = this.modelOf({models: this.later.get(design.view)?.spread ?? []});
    out.append(element('p', {class: 'first decided'}, title + model.verdict), ...fragment(later?.tiles ?? model.tiles));
    for (const one of design.view.contradictions) out.append(element('p', {class: 'wrong'}, one));
    out.append(element('p', {class: 'note'}, `${model.workload} Compared: ${design.view.compared}.`));
    const {failed} = this.later.get(design.view) ?? {};
    if (model.pick && failed) out.append(element('p', {class: 'note'}, failed));
    const assumed = design.view.assumed;
    if (assumed.length > 0) {
      out.append(this.details('assumed', `Rests on ${assumed.length === 1 ? 'one unmeasured value' : `${assumed.length} unmeasured values`}`,
                              [element('ul', {}, ...assumed.map((one) => element('li', {}, one.text)))], false));
    }
    return out;
  }

  compared(designs) {
    const picks = designs.map((design) => this.modelOf(design.view)?.pick);
    const cells = (read, write) => {
      const both = picks.map((pick) => (pick ? read(pick) : null));
      const ratio = both.every((v) => typeof v === 'number' && v > 0) ? (both[1] / both[0]).toPrecision(3) : '';
      return [...both.map((v) => (v === null || v === undefined ? '–' : write(v))), ratio];
    };
    const rows = FIGURES.map(([name, read, write]) => [name, ...cells(read, write)]).filter((row) => row[1] !== '–' || row[2] !== '–');
    const pick = ['Pick', ...picks.map((p) => (p ? p.place : 'nothing fits')), ''];
    const table = element('table', {}, element('thead', {}, element('tr', {}, ...['', 'Design A', 'Design B', 'B / A'].map((word) =>
      element('th', {scope: 'col'}, word)))), element('tbody', {}, ...[pick, ...rows].map((row) => element('tr', {},
      element('th', {scope: 'row'}, row[0]), ...row.slice(1).map((cell) => element('td', {}, cell))))));
    return element('div', {class: 'wide compared', tabindex: 0, role: 'region', 'aria-label': 'Both designs compared'}, table);
  }

  // The parts of a design's column, as fill() takes them.
  column(design, several) {
    const models = design.view?.models ?? [];
    if (models.length === 0 || design.isEmpty) return [];
    const model = this.modelOf(design.view), out = [];
    if (several) out.push(['which', () => element('h2', {class: 'which'}, `Design ${this.letter(design)}`)]);
    if (models.length > 1) out.push(['model', () => this.choice(models, model)]);
    const own = this.laterOf(design.view), before = this.shown.get(design);
    const spread = own.spread && this.modelOf({models: own.spread});
    for (const section of model.sections) out.push(this.section(spread?.sections.find((one) => one.name === section.name) ?? section));
    const stale = !own.sections && before !== undefined;
    for (const section of own.sections ?? this.later.get(before)?.sections ?? []) out.push(this.section(section, stale));
    return out;
  }

  choice(models, model) {
    const choose = select(models.map((one, i) => [String(i), one.name]), String(models.indexOf(model)), (i) => {
      this.model = Number(i);
      this.forget();
      this.draw();
      this.place.querySelector('select')?.focus();
    });
    choose.setAttribute('aria-label', 'Model shown');
    return choose;
  }

  section({name, title, html}, stale = false) {
    return [name, () => this.details(`model section${stale ? ' stale' : ''}`, title, fragment(html), OPEN.has(name), name), `${stale} ${html}`];
  }

  // It keeps its open state when it is redrawn.
  details(look, title, content, open, name = look) {
    const out = element('details', {class: look, open: this.open[name] ?? open}, element('summary', {}, title), ...content);
    out.addEventListener('toggle', () => { this.open[name] = out.open; });
    return out;
  }

  // Asks slower questions for one design after the other; those interrupted by an edit are sent again once edits pause.
  async follow() {
    this.timer = undefined;
    if (this.isFollowing) return this.rest();
    this.isFollowing = true;
    for (const design of this.app.designs.filter(Boolean)) {
      await this.followOne(design).catch(() => {});  // the next edit shows whether the server still answers
    }
    this.isFollowing = false;
    return this.app.still();
  }

  async followOne(design) {
    const {view} = design;
    if (!view || design.isEmpty || design.errors.length > 0) return;
    const own = this.laterOf(view), compute = (verb) => this.compute(verb, design, view);
    if (!own.sections) {
      const timeline = await compute('timeline'), curve = timeline && await compute('curve');
      if (!curve) return;
      own.sections = [timeline, curve].filter(({ok}) => ok).flatMap(({answer}) => answer.sections);
      this.shown.set(design, view);
      this.draw();
    }
    const intervals = own.spread || own.failed ? undefined : await compute('intervals');
    if (!intervals) return;
    if (intervals.ok) own.spread = intervals.answer.models;
    else own.failed = `The uncertainty could not be computed: ${problem(intervals.answer)}.`;
    this.draw();
  }

  // A job that ends when its design changes; then it returns nothing.
  async compute(verb, design, view) {
    const body = {scenario: design.text, name: design.name, model: Math.min(this.model, view.models.length - 1)};
    const isCurrent = () => design.view === view && !this.app.isAsked(design) && this.app.designs.includes(design);
    let pause = FIRST_PAUSE, job = null, wake = () => {};
    this.computed = {design, end: () => wake()};
    try {
      while (isCurrent()) {
        const {ok, answer} = job ? await ask('job', {job}) : await ask(verb, body);
        if (!ok) return {ok, answer};
        if (job && answer.state !== 'running') return {ok: answer.state === 'done' && !answer.answer.errors, answer: answer.answer ?? answer};
        job ??= answer.job;  // none while another page's jobs run
        await new Promise((resolve) => { wake = resolve; setTimeout(resolve, pause); });
        pause = Math.min(2 * pause, LAST_PAUSE);
      }
      if (job) await ask('job/cancel', {job});
      return undefined;
    } finally {
      this.computed = undefined;
    }
  }
}
