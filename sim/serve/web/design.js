// A design: the scenario's text, its tree, and edits that keep both in step. A value is changed in place; where keys are added
// or removed, the section of the text (a key of the scenario, such as platform) is rewritten, and the rest stays unchanged.

import * as yaml from './yaml.js';

const KEPT = 200;   // steps of undo
const PAUSE = 1500;  // ms

export class Design {
  constructor(state = {}) {
    this.name = state.name ?? 'mine.yaml';
    this.text = state.text ?? '';
    this.positions = state.positions ?? {};  // of sites, as shares of the canvas
    this.tree = null;    // of the text, if it is valid YAML
    this.whole = null;   // if the text builds on other files: the scenario in one piece
    this.view = null;    // the last answer for this text
    this.errors = [];
    this.broken = false;  // the text is invalid YAML: the tree is an older one's
    this.past = [];
    this.future = [];
  }

  state() {
    return {name: this.name, text: this.text, positions: this.positions};
  }

  get isEmpty() {
    return this.text.trim() === '';
  }

  // The drawn platform: the text's own, or that of the files on which it builds, which cannot be edited.
  get drawn() {
    const own = yaml.child(this.tree, 'platform');
    return own?.k === 'map' ? this.tree : this.whole ?? this.tree;
  }

  // Changes whenever the drawing does.
  get stamp() {
    return [this.tree, this.whole].map((root) => (root?.k === 'map' ? yaml.textOf(root) : root?.k)).concat(this.broken).join('\0');
  }

  get isWritten() {
    return this.whole === null && !this.broken;
  }

  // Records an undo step before an edit; edits of one kind in quick succession are one step.
  remember(kind = '') {
    const now = Date.now(), goesOn = kind !== '' && kind === this.kind && now - this.when < PAUSE;
    this.kind = kind;
    this.when = now;
    if (goesOn || this.past.at(-1)?.text === this.text) return;
    this.past.push({text: this.text});
    if (this.past.length > KEPT) this.past.shift();
    this.future = [];
  }

  // Replaces this scenario by another, with an undo step that restores its name and the positions of its sites.
  replace({name, text}) {
    this.remember();
    Object.assign(this.past.at(-1) ?? {}, {whole: true, name: this.name, positions: this.positions});
    this.name = name;
    this.positions = {};
    this.tree = this.whole = this.view = null;
    this.broken = false;
    this.setText(text);
  }

  undo() {
    return this.step(this.past, this.future);
  }

  redo() {
    return this.step(this.future, this.past);
  }

  step(from, to) {
    const then = from.pop();
    if (!then) return false;
    to.push({text: this.text, whole: then.whole, name: this.name, positions: this.positions});
    if (then.whole) [this.name, this.positions] = [then.name, then.positions];
    this.setText(then.text);
    return true;
  }

  setText(text) {
    this.text = text;
    if (text.trim() === '') {
      this.tree = this.whole = this.view = null;
      this.errors = [];
      this.broken = false;
    }
  }

  // Stores the server's answer for the text.
  answered(answer, ok) {
    this.broken = answer.tree === undefined;
    if (!this.broken) {
      this.tree = answer.tree;
      this.whole = answer.whole ?? null;
    }
    this.errors = answer.errors ?? [];
    if (ok) this.view = answer;
  }

  // The path of the value that an error is about; nothing where it is elsewhere.
  pathOf(error) {
    return error.own && error.line > 0 && this.isWritten ? yaml.pathTo(this.tree, error.line, error.column, error.text) : undefined;
  }

  // Takes the scenario in one piece as the text, so that all of it can be edited.
  takeWhole() {
    if (!this.whole) return;
    this.remember();
    this.tree = yaml.copy(this.whole);
    yaml.walk(this.tree, (node) => { node.l = 0; });
    this.text = yaml.textOf(this.tree);
    this.whole = null;
  }

  // Sets the value at a path to this text; missing maps on the way are created.
  set(path, value) {
    const node = yaml.at(this.tree, path);
    if (node?.k === 'text' && this.replaceWord(node, value)) return;
    this.change(path[0], (root) => {
      const parent = path.slice(0, -1).reduce((at, key) => {
        if (at.k === 'list') return at.i[Number(key)];
        if (yaml.child(at, key)?.k !== 'map' && yaml.child(at, key)?.k !== 'list') yaml.put(at, key, yaml.map([]));
        return yaml.child(at, key);
      }, root);
      const last = path.at(-1);
      if (parent.k === 'list') parent.i[Number(last)] = yaml.text(value);
      else yaml.put(parent, last, yaml.text(value));
    });
  }

  // `edit` changes the tree under `section`, whose lines are then rewritten.
  change(section, edit) {
    if (!this.tree || this.tree.k !== 'map') this.tree = yaml.map([]);
    const root = this.tree, before = yaml.entry(root, section);
    edit(root);
    const after = yaml.entry(root, section);
    // Anchors may be referenced from elsewhere, and a map in braces has no lines of its own.
    const inBlocks = root.e.every((e) => e === after || (e[1] > 0 && e[2] === 1));
    if (!inBlocks || /(^|[\s[{,])[&*][A-Za-z]/m.test(this.text) || (before && !(before[1] > 0))) {
      this.text = yaml.textOf(root);
      this.placeless();
      return;
    }
    const lines = this.text.split('\n');
    if (lines.at(-1) === '') lines.pop();
    const start = before ? before[1] : lines.length + 1;
    const next = Math.min(...root.e.filter((e) => e !== after && e[1] > start).map((e) => e[1]), lines.length + 1);
    let end = before ? next - 1 : lines.length;
    while (end > start && /^\s*(#|$)/.test(lines[end - 1])) --end;
    const written = after ? yaml.entryLines(section, after[3]) : [];
    lines.splice(start - 1, before ? end - start + 1 : 0, ...written);
    this.text = lines.length > 0 ? lines.join('\n') + '\n' : '';
    const moved = written.length - (before ? end - start + 1 : 0);
    for (const e of root.e) {
      if (e === after || e[1] <= start) continue;
      e[1] += moved;
      yaml.walk(e[3], (node) => this.shift(node, moved));
    }
    if (!after) return;
    after[1] = start;
    after[2] = 1;
    yaml.walk(after[3], (node) => { node.l = 0; });
  }

  shift(node, by) {
    if (node.l > 0) node.l += by;
    for (const e of node.e ?? []) if (e[1] > 0) e[1] += by;
  }

  placeless() {
    yaml.walk(this.tree, (node) => { node.l = 0; });
    let line = 1;
    for (const e of this.tree.e) {
      e[1] = line;
      e[2] = 1;
      line += yaml.entryLines(e[0], e[3]).length;
    }
  }

  // Replaces the old value in place, where the text has it as one word. Columns count characters.
  replaceWord(node, value) {
    if (!(node.l > 0)) return false;
    const lines = this.text.split('\n');
    const letters = [...(lines[node.l - 1] ?? '')];
    const rest = letters.slice(node.c - 1).join('');
    const old = [node.v, JSON.stringify(node.v), `'${node.v}'`].find((word) => rest.startsWith(word));
    if (!old || node.v === '') return false;
    // A plain word that continues after it is another word.
    if (old === node.v && !/^\s*($|[,\]}#\r])/.test(rest.slice(old.length))) return false;
    const word = yaml.scalar(value);
    lines[node.l - 1] = letters.slice(0, node.c - 1).join('') + word + rest.slice(old.length);
    this.text = lines.join('\n');
    node.v = value;
    const moved = [...word].length - [...old].length;
    yaml.walk(this.tree, (one) => {
      if (one !== node && one.l === node.l && one.c > node.c) one.c += moved;
      for (const e of one.e ?? []) if (e[1] === node.l && e[2] > node.c) e[2] += moved;
    });
    return true;
  }
}
