// The side panel: figures of the selection, and the scenario's training.

import {button, element, field, fresh, select} from './dom.js';
import {gpuChoices, usualVm} from './start.js';
import * as cluster from './cluster.js';
import {gpusText} from './canvas.js';
import {shortText} from './errors.js';
import * as units from './units.js';
import * as yaml from './yaml.js';

const SHOWN_VMS = 4;  // of a site; the others can be selected on the drawing

// A field's reference to the value that it shows.
const pathText = (path) => path?.join('/');

// A slider with a field for the exact value. `set` receives the text for the scenario.
function slider(label, kind, text, set, hint, path) {
  const {read, write} = units.kinds[kind];
  const known = () => Number.isFinite(read(text));
  const id = fresh('slider');
  const range = element('input', {type: 'range', id, min: 0, max: 1000, step: 1});
  const exact = element('input', {type: 'text', 'aria-label': `${label}, exactly`, class: 'exact', inputmode: 'text',
                                  autocomplete: 'off', value: text ?? '', 'data-path': pathText(path)});
  const show = () => {
    if (known()) range.value = units.toSlider(kind, read(text));
    range.setAttribute('aria-valuetext', text ?? 'not stated');
  };
  range.addEventListener('input', () => {
    text = exact.value = write(units.fromSlider(kind, Number(range.value)));
    range.setAttribute('aria-valuetext', text);
    set(text);
  });
  // An arrow key makes a visible change: a slider of counts moves by at least one.
  range.addEventListener('keydown', (event) => {
    const by = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1}[event.key];
    if (!by || kind !== 'count' || !known()) return;
    event.preventDefault();
    text = exact.value = String(Math.max(1, read(text) + by));
    show();
    set(text);
  });
  exact.addEventListener('change', () => {
    text = exact.value = units.withUnit(kind, exact.value.trim(), text);
    show();
    set(text);
  });
  show();
  const out = element('div', {class: 'field slider'}, element('label', {for: id}, label), exact, range);
  if (hint) out.append(element('p', {class: 'note'}, hint));
  return out;
}

export class Panel {
  // `app` has design, catalog, selected, edited(tag), choose(what), pickFile().
  constructor(selection, scenario, app) {
    this.selection = selection;
    this.scenario = scenario;
    this.app = app;
  }

  draw() {
    const {app} = this, {design} = app;
    const drawn = cluster.cluster(design.drawn);
    this.selection.replaceChildren(...this.selected(drawn));
    this.scenario.replaceChildren(...(design.isEmpty || design.broken ? [] : this.whole()));
    this.drawErrors();
  }

  // The field that shows the value at a path, or a value that contains it.
  fieldOf(path) {
    for (let end = path.length; end > 0; --end) {
      const found = this.selection.parentNode.querySelector(`[data-path="${CSS.escape(pathText(path.slice(0, end)))}"]`);
      if (found) return found;
    }
    return null;
  }

  // Shows errors at the fields that caused them, too.
  drawErrors() {
    const panel = this.selection.parentNode, {design} = this.app;
    for (const note of panel.querySelectorAll('.at-field')) note.remove();
    for (const input of panel.querySelectorAll('[aria-invalid]')) {
      input.removeAttribute('aria-invalid');
      input.removeAttribute('aria-errormessage');
    }
    for (const error of design.errors) {
      const path = design.pathOf(error), input = path && this.fieldOf(path);
      if (!input) continue;
      const note = element('p', {class: 'wrong at-field', id: fresh('wrong')}, shortText(error.text, path));
      input.setAttribute('aria-invalid', true);
      input.setAttribute('aria-errormessage', note.id);
      input.closest('.field').append(note);
    }
  }

  // An edit with its undo step; a slider's moves are one step.
  edit(tag, change) {
    this.app.design.remember(tag);
    change(this.app.design);
    this.app.edited();
  }

  selected(drawn) {
    const {app} = this, what = app.selected;
    if (!what) {
      const text = drawn.sites.length === 0 ? 'Nothing is drawn yet.' : 'Choose a site, a VM or a link to change it.';
      return [element('h2', {}, 'Selected'), element('p', {class: 'note'}, text)];
    }
    if (app.design.broken) {
      return [element('h2', {}, 'Selected'), element('p', {class: 'note'}, 'The text is not valid YAML; correct it under “YAML”, or undo.')];
    }
    if (!app.design.isWritten) {
      return [element('h2', {}, `${{site: 'Site', vm: 'VM', link: 'Link'}[what.kind]} ${what.name}`),
              element('p', {class: 'note'}, 'The cluster is in another file, which this text names.'),
              button('Copy it into this text, to change it', () => app.takeCluster())];
    }
    const found = drawn[`${what.kind}s`].find((one) => one.name === what.name);
    return found ? this[what.kind](found, drawn) : [];
  }

  head(what, title) {
    const name = element('input', {type: 'text', value: what.name, autocomplete: 'off', maxlength: 64});
    const wrong = element('p', {class: 'wrong', role: 'status'});
    name.addEventListener('change', () => {
      this.app.design.remember('');
      if (!cluster.rename(this.app.design, what, name.value.trim())) {
        wrong.textContent = 'Names are unique, and have only letters, digits, - _ and . characters.';
        return;
      }
      this.app.choose({kind: what.kind, name: name.value.trim()});
      this.app.edited();
    });
    return [element('h2', {}, title), field('Name', name), wrong];
  }

  site(site, drawn) {
    const what = {kind: 'site', name: site.name};
    const others = cluster.unlinked(this.app.design, site.name);
    const rtt = yaml.value(yaml.at(this.app.design.tree, ['platform', 'sites', site.name, 'rtt']));
    const out = [...this.head(what, 'Site'), ...site.vms.slice(0, SHOWN_VMS).flatMap((vm) => [...this.gpus(vm, ` of ${vm.name}`), this.machine(vm, ` of ${vm.name}`)])];
    if (site.vms.length > SHOWN_VMS) out.push(element('p', {class: 'note'}, `And ${site.vms.length - SHOWN_VMS} more; select them on the drawing.`));
    out.push(slider('Round trip inside it', 'time', rtt, (text) => this.edit(`rtt ${site.name}`, (design) =>
      design.set(['platform', 'sites', site.name, 'rtt'], text)), rtt ? '' : 'Not stated: the usual value inside a site.',
                    ['platform', 'sites', site.name, 'rtt']));
    const tools = element('div', {class: 'tools'}, button('Add a VM here', () => this.app.addVm(site.name)));
    if (others.length > 0) {
      tools.append(element('label', {for: 'link-to'}, 'Link to'),
                   Object.assign(select([['', 'a site…'], ...others], '', (other) => other && this.app.join(site.name, other)), {id: 'link-to'}));
    }
    out.push(tools, button('Delete this site', () => this.app.remove(what), {class: 'danger'}));
    if (drawn.sites.length > 1 && others.length === drawn.sites.length - 1) {
      out.push(element('p', {class: 'note'}, 'No link leads here, so it cannot train with the others.'));
    }
    return out;
  }

  // Their type and number. The machine type follows while it is the usual one for them.
  gpus(vm, of = '') {
    const {catalog} = this.app, gpu = vm.gpus[0] ?? '', names = gpuChoices(catalog);
    if (gpu && !names.some(([name]) => name === gpu)) names.unshift([gpu, gpu]);
    const set = () => {
      const many = Math.min(64, Math.max(1, Math.round(Number(count.value)) || 1));
      const usual = usualVm(catalog, kind.value, many), was = usualVm(catalog, gpu, vm.gpus.length);
      this.edit(`gpus ${vm.name}`, (design) => {
        cluster.setGpus(design, vm.name, kind.value, many);
        if (vm.type === was && usual !== was) cluster.setType(design, vm.name, {name: usual});
      });
      this.drawKeeping();
    };
    const kind = select(names, gpu, set);
    const count = element('input', {type: 'number', min: 1, max: 64, value: vm.gpus.length, onchange: set});
    count.dataset.path = kind.dataset.path = pathText(['platform', 'vms', vm.name, 'gpus']);
    const mixed = vm.gpus.some((one) => one !== gpu);
    return [field(`GPU${of}`, kind, mixed ? `Of several kinds: ${vm.gpus.join(', ')}. A choice here replaces them all.` : ''),
            field(`How many GPUs${of}`, count)];
  }

  // The machine type by its full name, with its description and any mismatch with its GPUs.
  machine(vm, of = '') {
    const {catalog} = this.app, type = catalog.vms.find((one) => one.name === vm.type);
    const choices = (rented) => catalog.vms.filter((one) => /^(aws|azure|gcp|cloud)-/.test(one.name) === rented)
      .map((one) => [one.name, one.title]).sort((a, b) => a[1].localeCompare(b[1]));
    const options = [{group: 'Own or shared', options: choices(false)}, {group: 'Rented', options: choices(true)}];
    if (!type) options.unshift([vm.type, vm.type || 'of its own']);
    const chosen = select(options, vm.type, (name) => {
      this.edit(`type ${vm.name}`, (design) => cluster.setType(design, vm.name, catalog.vms.find((one) => one.name === name) ?? {name}));
      this.drawKeeping();
    });
    chosen.dataset.path = pathText(['platform', 'vms', vm.name, 'type']);
    const out = field(`Machine type${of}`, chosen, type?.about ?? 'A type of its own.');
    const wrong = type && this.contradiction(vm, type);
    if (wrong) {
      out.append(element('p', {class: 'wrong'}, wrong),
                 button(`Put ${this.offer(type)} in`, () => {
                   this.edit('', (design) => cluster.setType(design, vm.name, type));
                   this.drawKeeping();
                 }));
    }
    return out;
  }

  title(gpu) {
    return this.app.catalog.gpus.find((one) => one.name === gpu)?.title ?? gpu;
  }

  offer({gpus, gpu_count: count}) {
    return [count > 0 ? `${count} ×` : '', gpus.map((gpu) => this.title(gpu)).join(' or ') || 'GPUs'].filter(Boolean).join(' ');
  }

  contradiction({gpus}, type) {
    const others = type.gpus.length > 0 && gpus.some((gpu) => !type.gpus.includes(gpu));
    const count = type.gpu_count > 0 && (gpus.length > type.gpu_count || (type.fixed && gpus.length < type.gpu_count));
    return others || count ? `This machine comes with ${this.offer(type)}; here it has ${gpusText(gpus.map((gpu) => this.title(gpu)), 1)}.` : '';
  }

  // Redraws the panel and restores the focus.
  drawKeeping() {
    const at = document.activeElement, label = at?.labels?.[0]?.textContent;
    this.draw();
    if (!label || at.isConnected) return;
    [...this.selection.querySelectorAll('label')].find((one) => one.textContent === label)?.control?.focus();
  }

  vm(vm, drawn) {
    const what = {kind: 'vm', name: vm.name};
    const move = select(drawn.sites.map((s) => s.name), vm.site, (site) => this.edit(`site ${vm.name}`, (design) =>
      design.set(['platform', 'vms', vm.name, 'site'], site)));
    move.dataset.path = pathText(['platform', 'vms', vm.name, 'site']);
    return [...this.head(what, 'VM'), ...this.gpus(vm), this.machine(vm), field('Site', move),
            button('Delete this VM', () => this.app.remove(what), {class: 'danger'})];
  }

  link(link) {
    const what = {kind: 'link', name: link.name};
    const path = (key) => ['platform', 'links', link.name, key];
    const set = (key) => (text) => this.edit(`${key} ${link.name}`, (design) => design.set(path(key), text));
    return [...this.head(what, 'Link'), element('p', {class: 'note'}, `Between ${link.between.join(' and ')}.`),
            slider('Round-trip time', 'time', link.rtt, set('rtt'), 'Measured by ping: 1 ms in a city, 30 ms in a country, 100 ms over an ocean.', path('rtt')),
            slider('Bandwidth', 'rate', link.bandwidth, set('bandwidth'), '', path('bandwidth')),
            slider('Loss', 'loss', link.loss, set('loss'), 'Share of lost packets; it limits one TCP connection. 1e-5 is usual.', path('loss')),
            button('Delete this link', () => this.app.remove(what), {class: 'danger'})];
  }

  whole() {
    const {app} = this, {tree} = app.design, source = app.design.drawn;
    const out = [element('h2', {}, 'Training')];
    out.push(this.models(source));
    const number = (path, label, hint) => slider(label, 'count', yaml.value(yaml.at(source, path)), (text) =>
      this.edit(path.join('.'), (design) => design.set(path, text)), hint, path);
    if (yaml.at(source, ['training', 'batch']) || !yaml.child(source, 'training')) out.push(number(['training', 'batch'], 'Batch', 'Sequences per optimizer step, over all GPUs.'));
    for (const [key, label, hint] of [['epochs', 'Epochs', ''], ['blocks_per_epoch', 'Sequences in an epoch', 'Each has the sequence length of the model.']]) {
      const node = yaml.at(source, ['training', key]);
      if (yaml.value(node) === undefined) continue;
      const input = element('input', {type: 'text', inputmode: 'numeric', autocomplete: 'off', value: yaml.value(node), 'data-path': pathText(['training', key])});
      input.addEventListener('change', () => this.edit(key, (design) => design.set(['training', key], input.value.trim())));
      out.push(field(label, input, hint));
    }
    out.push(this.techniques(source));
    for (const name of yaml.keys(yaml.child(source, 'techniques'))) {
      const known = app.catalog.techniques.find((one) => one.name === name);
      if (known?.options.includes('inner_steps')) {
        out.push(number(['techniques', name, 'inner_steps'], `H of ${name}`, 'Steps that each replica makes between two exchanges.'));
      }
    }
    if (!app.design.isWritten && !app.design.broken) {
      out.push(element('p', {class: 'note'}, 'This text extends another file; changes are written to this text.'));
    }
    return tree ? out : [];
  }

  // A choice for each model: one of the catalog's, or a map in the text.
  models(source) {
    const {app} = this, {catalog} = app, node = yaml.child(source, 'models');
    const items = node?.k === 'list' ? node.i : node ? [node] : [];
    const names = items.map((one) => yaml.value(one) ?? yaml.value(yaml.child(one, 'name')) ?? 'model');
    const put = (change) => {
      this.edit('', (design) => design.change('models', (root) => yaml.put(root, 'models', yaml.list(change([...items])))));
      this.draw();
    };
    const one = (name, i) => {
      const options = catalog.models.filter((m) => m.name === name || !names.includes(m.name))
        .map((m) => [m.name, `${m.name} (${units.count(m.parameters)})`]);
      if (!catalog.models.some((m) => m.name === name)) options.unshift([name, name]);
      const choice = select(options, name, (to) => put((all) => all.with(i, yaml.text(to))));
      choice.dataset.path = pathText(['models', String(i)]);
      const out = field(i === 0 ? 'Model' : `Model ${i + 1}`, choice);
      if (names.length > 1) out.append(button('Leave out', () => put((all) => all.toSpliced(i, 1)), {'aria-label': `Leave out ${name}`}));
      return out;
    };
    const next = catalog.models.find((m) => !names.includes(m.name));
    return element('div', {class: 'models'}, ...names.map(one), element('div', {class: 'tools'},
      button('Another model', () => put((all) => [...all, yaml.text(next.name)])),
      button('A config.json…', () => app.pickModel())),
                   element('p', {class: 'note'}, 'Or drop the config.json of a Hugging Face model on this page.'));
  }

  techniques(source) {
    const {catalog} = this.app, node = yaml.child(source, 'techniques');
    const chosen = node ? (node.k === 'map' ? yaml.keys(node) : yaml.values(node)) : catalog.techniques.filter((t) => t.usual).map((t) => t.name);
    const box = (technique) => {
      const input = element('input', {type: 'checkbox', id: fresh('technique'), checked: chosen.includes(technique.name)});
      input.addEventListener('change', () => {
        this.edit('', (design) => design.change('techniques', (root) => {
          const map = node?.k === 'map' ? yaml.copy(node) : yaml.map(chosen.map((name) => [name, yaml.map([])]));
          if (input.checked) yaml.put(map, technique.name, yaml.map([]));
          else yaml.drop(map, technique.name);
          yaml.put(root, 'techniques', map);
        }));
        this.draw();
        this.scenario.querySelector(`[data-technique="${technique.name}"]`)?.focus();
      });
      input.dataset.technique = technique.name;
      return element('div', {class: 'check'}, input, element('label', {for: input.id, title: technique.summary}, technique.name));
    };
    const all = element('fieldset', {class: 'techniques'}, element('legend', {}, 'Techniques to compare'), ...catalog.techniques.map(box));
    const out = element('details', {open: this.open}, element('summary', {class: 'chosen-techniques'}, `Techniques: ${chosen.join(', ')}`), all);
    out.addEventListener('toggle', () => { this.open = out.open; });
    return out;
  }
}
