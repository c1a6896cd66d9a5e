// The page: designs, the selection, and the path of an edit: into the text, to the server, and back as a verdict.

import {$, ask, button, element, problem} from './dom.js';
import {Canvas} from './canvas.js';
import {Design} from './design.js';
import {Editor} from './editor.js';
import {errorLine, errorWords} from './errors.js';
import {Panel} from './panel.js';
import {Results} from './results.js';
import {startForm} from './start.js';
import {Work} from './work.js';
import * as cluster from './cluster.js';
import * as files from './files.js';
import * as yaml from './yaml.js';

class App {
  constructor() {
    this.designs = [new Design(), null];
    this.active = 0;
    this.selected = null;
    this.catalog = {models: [], gpus: [], vms: [], techniques: [], scenarios: []};
    this.waiting = new Map();  // by design: whether a question is open, and whether the design changed since
    this.canvas = new Canvas($('canvas'), {
      choose: (what, byKey) => {
        this.choose(what);
        if (byKey) $('selection').querySelector('input, select, button')?.focus();
        else this.showFigures();
      },
      moved: () => { this.drawCanvas(); this.keep(); },
      moveVm: (name, site) => this.moveVm(name, site),
      join: (a, b) => this.join(a, b),
      remove: (what) => this.remove(what),
    });
    this.editor = new Editor($('yaml'), $('lines'), $('errors'), this);
    this.panel = new Panel($('selection'), $('scenario'), this);
    this.results = new Results($('verdict'), $('results'), this);
  }

  get design() {
    return this.designs[this.active];
  }

  async start() {
    const {ok, answer} = await ask('catalog', {});
    if (!ok) return this.notice(problem(answer));
    this.catalog = answer;
    $('made-by').textContent = `slmsim ${answer.version}. Predicted by simulation, on this machine; nothing is sent elsewhere.`;
    this.work = new Work($('work'), this);
    const state = await files.fromFragment(location.hash);
    if (state) return this.restore(state);
    if (answer.open) {
      const read = await ask('files/read', {path: answer.open});
      if (read.ok) return this.load({name: read.answer.path, text: read.answer.text});
      this.notice(problem(read.answer));
    }
    this.restore({designs: [{name: 'three-sites.yaml', text: cluster.EXAMPLE}]});
  }

  // --- events

  state() {
    return {designs: this.designs.map((one) => one?.state() ?? null), active: this.active};
  }

  restore(state) {
    this.designs = [0, 1].map((i) => (state.designs[i] ? new Design(state.designs[i]) : null));
    this.designs[0] ??= new Design();
    this.active = state.active === 1 && this.designs[1] ? 1 : 0;
    this.selected = null;
    this.draw();
    this.designs.forEach((design) => design && this.refresh(design));
  }

  load(state) {
    const lost = ![state.text, cluster.EXAMPLE].includes(this.design.text) && !this.design.isEmpty;
    this.design.replace(state);
    this.selected = null;
    this.edited(true);
    if (lost) this.notice(state.text ? `${state.name} is open.` : 'The page is empty now.', 'Restore the previous scenario', () => this.undo());
  }

  // Called when the design's text has changed; `anew` where its tree does not match the text.
  edited(anew = false) {
    this.editor.draw();
    if (!anew || this.design.isEmpty) this.drawCanvas();
    if (anew || this.design.isEmpty) this.panel.draw();
    this.buttons();
    this.keep();
    if (this.design.isEmpty) this.results.draw();
    else this.refresh(this.design);
  }

  isAsked(design) {
    return this.waiting.has(design);
  }

  // Whether all results of an edit have arrived, for tests.
  still() {
    document.documentElement.dataset.state = this.waiting.size > 0 || this.results.isBusy ? 'busy' : 'still';
  }

  // One open question per design; of changes meanwhile, only the last is sent next.
  async refresh(design) {
    if (this.waiting.get(design)) {
      this.waiting.set(design, 'again');
      this.results.edited(design);
      return;
    }
    this.waiting.set(design, 'asked');
    this.results.edited(design);
    this.still();
    const text = design.text;
    let got;
    try {
      got = await ask('view', {scenario: text, name: design.name});
    } catch {
      got = {ok: false, answer: {errors: [{text: 'slmsim serve no longer answers; start it again'}]}};
    }
    const again = this.waiting.get(design) === 'again';
    this.waiting.delete(design);
    if (design.text === text) this.answered(design, got);
    else if (got.ok) design.view = got.answer;
    if (design.text !== text && got.ok) this.results.draw();
    if (again || design.text !== text) this.refresh(design);
  }

  answered(design, {ok, answer}) {
    const typed = this.editor.hasFocus, before = design.stamp;
    design.answered(answer, ok);
    if (design === this.design) {
      this.editor.drawErrors();
      this.panel.drawErrors();
    }
    if (design === this.design && design.stamp !== before) {
      this.drawCanvas();
      this.buttons();
      if (typed || !$('selection').parentNode.contains(document.activeElement)) this.panel.draw();
    }
    this.results.draw();
    document.documentElement.dataset.answered = String(Number(document.documentElement.dataset.answered ?? 0) + 1);
  }

  typed(text) {
    this.design.remember('typed');
    this.design.setText(text);
    this.keep();
    this.buttons();
    if (this.design.isEmpty) this.draw();
    else this.refresh(this.design);
  }

  choose(what) {
    this.selected = what;
    this.knowsLinks ||= what.kind === 'link';
    if ($('figures').hidden) this.tab('figures');
    this.drawCanvas();
    this.panel.draw();
    $('selection').closest('.panel').scrollTop = 0;
    this.buttons();
  }

  // On a narrow screen the figures are below the drawing; the verdict stays above them.
  showFigures() {
    if (!matchMedia('(max-width: 900px)').matches) return;
    $('selection').style.scrollMarginTop = `${$('verdict').offsetHeight + 8}px`;
    $('selection').scrollIntoView();
  }

  change(edit) {
    if (this.design.broken) {
      this.notice('The text is not valid YAML; correct it, or undo, before you change the drawing.');
      return;
    }
    if (!this.design.isWritten) {
      this.notice('The cluster was copied from another file into this text, so that it can be changed.');
      this.design.takeWhole();
    } else {
      this.design.remember();
    }
    const chosen = edit(this.design);
    if (chosen) this.selected = chosen;
    this.edited();
    this.panel.draw();
  }

  addSite() {
    const like = this.selected?.kind === 'site' ? this.selected.name : undefined;
    this.change((design) => cluster.addSite(design, like));
  }

  drawSites(what) {
    this.change((design) => cluster.drawSites(design, what));
    $('undo').focus({preventScroll: true});
    scrollTo(0, 0);  // the form may be below the drawing
  }

  undo() {
    if (!this.design.undo()) return;
    this.selected = null;
    $('notice').hidden = true;
    this.edited(true);
  }

  addVm(site) {
    this.change((design) => cluster.addVm(design, site));
  }

  join(a, b) {
    this.change((design) => cluster.addLink(design, a, b));
  }

  moveVm(name, site) {
    this.selected = {kind: 'vm', name};
    this.change((design) => design.set(['platform', 'vms', name, 'site'], site));
  }

  remove(what) {
    this.selected = null;
    this.change((design) => cluster.remove(design, what));
    $('add-site').focus();
  }

  links() {
    return cluster.cluster(this.design.drawn).links.map((link) => link.name);
  }

  pickModel() {
    const input = element('input', {type: 'file', accept: '.json,application/json', onchange: () => this.takeModel(input.files[0])});
    input.click();
  }

  // Takes the cluster that this text names into it, so that it can be changed.
  takeCluster() {
    this.design.takeWhole();
    this.edited();
    this.panel.draw();
    this.notice('The cluster is now in this text and can be changed.');
  }

  async takeModel(file) {
    if (!file) return;
    const model = await files.modelOf(file);
    if (model.wrong) {
      this.notice(model.wrong);
      return;
    }
    this.change((design) => design.change('models', (root) => yaml.put(root, 'models', yaml.list([model.node]))));
    this.notice(`${model.name} is the model.`);
  }

  example() {
    this.load({name: 'three-sites.yaml', text: cluster.EXAMPLE});
  }

  // Selects one of the two ways to edit.
  tab(name) {
    for (const one of ['figures', 'text']) {
      $(one).hidden = one !== name;
      $(`tab-${one}`).setAttribute('aria-selected', one === name);
      $(`tab-${one}`).tabIndex = one === name ? 0 : -1;
    }
    if (name === 'text') this.editor.draw();
    else this.panel.draw();
  }

  compare() {
    if (this.designs[1]) {
      this.designs[1] = null;
      this.active = 0;
    } else {
      this.designs[1] = new Design(this.designs[0].state());
      this.designs[1].tree = yaml.copy(this.designs[0].tree);
      this.designs[1].whole = yaml.copy(this.designs[0].whole);
      this.designs[1].view = this.designs[0].view;
      this.active = 1;
    }
    this.draw();
    this.keep();
  }

  turn(active) {
    this.active = active;
    this.selected = null;
    this.draw();
  }

  // --- display

  draw() {
    this.editor.draw();
    this.drawCanvas();
    this.panel.draw();
    this.results.draw();
    this.buttons();
  }

  drawCanvas() {
    const drawn = cluster.cluster(this.design.drawn);
    this.canvas.draw(this.design, drawn, this.selected);
    const {sites, links} = drawn;
    $('begin')?.remove();
    if (sites.length === 0 && this.design.errors.length === 0) {
      $('canvas').prepend(startForm(this.catalog, {draw: (what) => this.drawSites(what), addSite: () => this.addSite(), example: () => this.example()}));
    }
    $('hint').textContent = sites.length === 0 ? 'To open a link or a file: “Open”.'
      : sites.length === 1 ? 'Choose its GPUs under “Figures”. Add another site, a copy of this one, to see whether it is worth the distance.'
      : links.length > 0 && !this.knowsLinks ? 'Select a site to choose its GPUs, and a link to change its round-trip time; the verdict is updated.'
      : 'Drag to move; drag the dot of a site to another site to link them. With the keyboard: Tab, Enter, arrows, Delete.';
  }

  buttons() {
    const {design} = this, drawn = cluster.cluster(design.drawn), sites = drawn.sites.map((s) => s.name);
    $('add-site').classList.toggle('primary', sites.length > 0);  // before that the form below is
    $('add-vm').disabled = sites.length === 0;
    $('add-link').disabled = sites.length < 2 || !sites.some((name) => cluster.unlinked(design, name).length > 0);
    $('delete').disabled = this.selected === null;
    $('undo').disabled = design.past.length === 0;
    $('redo').disabled = design.future.length === 0;
    $('save').disabled = $('link').disabled = $('compare').disabled = design.isEmpty;
    $('work').closest('section').hidden = $('compare').parentNode.hidden = design.isEmpty && !this.designs[1];
    const both = this.designs[1] !== null;
    $('design-b').hidden = $('design-a').hidden = !both;
    $('design-a').setAttribute('aria-pressed', this.active === 0);
    $('design-b').setAttribute('aria-pressed', this.active === 1);
    $('compare').textContent = both ? 'Close design B' : 'Compare with a copy';
  }

  errorWords(design, error, before) {
    return errorWords(this, design, error, before);
  }

  errorLine(design, error, before) {
    return errorLine(this, design, error, before);
  }

  // Shows the place of an error in the text.
  showLine(design, error) {
    if (design !== this.design) this.turn(this.designs.indexOf(design));
    this.tab('text');
    this.editor.show(error.line, error.column);
  }

  // The address holds the page's content, so that a reload loses nothing.
  keep() {
    clearTimeout(this.keeping);
    this.keeping = setTimeout(async () => history.replaceState(null, '', await files.toFragment(this.state())), 400);
  }

  // With a button that stays as long as the notice.
  notice(text, offer, act) {
    $('notice').replaceChildren(text, ...(offer ? [' ', button(offer, act)] : []));
    $('notice').hidden = false;
    clearTimeout(this.noticing);
    this.noticing = setTimeout(() => { $('notice').hidden = true; }, offer ? 20000 : 8000);
  }
}

const app = new App();
const otherSite = (site) => cluster.unlinked(app.design, site)[0];

$('new').addEventListener('click', () => app.load({name: 'mine.yaml', text: ''}));
$('example').addEventListener('click', () => app.example());
for (const [name, other] of [['figures', 'text'], ['text', 'figures']]) {
  $(`tab-${name}`).addEventListener('click', () => app.tab(name));
  $(`tab-${name}`).addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    app.tab(other);
    $(`tab-${other}`).focus();
  });
}
$('open').addEventListener('click', () => files.openDialog(app));
$('save').addEventListener('click', () => files.saveDialog(app));
$('link').addEventListener('click', () => files.linkDialog(app));
$('undo').addEventListener('click', () => app.undo());
$('redo').addEventListener('click', () => app.design.redo() && app.edited(true));
$('design-a').addEventListener('click', () => app.turn(0));
$('design-b').addEventListener('click', () => app.turn(1));
$('compare').addEventListener('click', () => app.compare());
$('add-site').addEventListener('click', () => app.addSite());
$('add-vm').addEventListener('click', () => {
  const {sites, vms} = cluster.cluster(app.design.drawn);
  const chosen = app.selected?.kind === 'site' ? app.selected.name : vms.find((vm) => vm.name === app.selected?.name)?.site;
  app.addVm(chosen ?? sites[0].name);
});
$('add-link').addEventListener('click', () => {
  const names = cluster.cluster(app.design.drawn).sites.map((s) => s.name);
  const chosen = app.selected?.kind === 'site' && otherSite(app.selected.name) ? app.selected.name : names.find(otherSite);
  app.join(chosen, otherSite(chosen));
});
$('delete').addEventListener('click', () => app.selected && app.remove(app.selected));
window.addEventListener('dragover', (event) => event.preventDefault());
window.addEventListener('drop', (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer.files;
  if (file?.name.endsWith('.json')) app.takeModel(file);
  else if (file) file.text().then((text) => app.load({name: file.name, text}));
});
app.start();
