// What is wrong with a scenario, in words that lead to where it is mended: the field that it came from, or its line.

import {button, element} from './dom.js';

// What people call the fields of the panel, and the part of the drawing that must be chosen for each.
const FIELDS = {rtt: 'round-trip time', bandwidth: 'bandwidth', loss: 'loss', gpus: 'GPUs', type: 'kind of machine', site: 'site', batch: 'Batch',
                epochs: 'Epochs', blocks_per_epoch: 'Sequences in an epoch'};
const PARTS = {sites: 'site', vms: 'vm', links: 'link'}, CALLED = {sites: 'Site', vms: 'VM', links: 'Link'};

function placeOf([section, list, name, key]) {
  if (section === 'platform' && PARTS[list] && name && FIELDS[key]) {
    return {name: `${CALLED[list]} ${name}, ${FIELDS[key]}`, part: {kind: PARTS[list], name}};
  }
  if (section === 'training' && FIELDS[list]) return {name: FIELDS[list]};
  if (section === 'models' && list) return {name: 'Model'};
  return section === 'techniques' && name === 'inner_steps' ? {name: `H of ${list}`} : undefined;
}

// The place that such an error begins with, its field has said.
export function shortText(text, path) {
  const place = path.join('.');
  return text.startsWith(place) ? text.slice(place.length).replace(/^:? /, '') : text;
}

// With a way to the field, and one to the line; where no field shows what is wrong, only this.
export function errorWords(app, design, error, before = '') {
  const path = design === app.design ? design.pathOf(error) : undefined, known = path && placeOf(path);
  if (!known) return errorLine(app, design, error, before);
  const toField = () => {
    if (known.part) app.choose(known.part);
    else app.tab('figures');
    const input = app.panel.fieldOf(path);
    if (input) input.focus();
    else app.showLine(design, error);
  };
  return element('div', {class: 'error'}, button(`${before}${known.name}: ${shortText(error.text, path)}`, toField, {class: 'wrong'}),
                 button(`YAML, line ${error.line}`, () => app.showLine(design, error), {class: 'place'}));
}

// As a line that leads to its place in the text.
export function errorLine(app, design, error, before = '') {
  const at = error.own && error.line > 0 ? `line ${error.line}, column ${error.column}: ` : error.file ? `${error.file}: ` : '';
  const text = `${before}${at}${error.text}`;
  if (!error.own || !(error.line > 0)) return element('p', {class: 'wrong'}, text);
  return button(text, () => app.showLine(design, error), {class: 'wrong'});
}
