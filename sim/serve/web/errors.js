// Errors of a scenario, with a link to where they can be corrected: the field that caused it, or its line.

import {button, element} from './dom.js';

// Names of the panel's fields, and the part of the drawing to select for each.
const FIELDS = {rtt: 'round-trip time', bandwidth: 'bandwidth', loss: 'loss', gpus: 'GPUs', type: 'machine type', site: 'site', batch: 'Batch',
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

// Drops the place at an error's beginning, which the field already shows.
export function shortText(text, path) {
  const place = path.join('.');
  return text.startsWith(place) ? text.slice(place.length).replace(/^:? /, '') : text;
}

// With a link to the field and one to the line; only to the line where no field shows the error.
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

// As a line that links to its place in the text.
export function errorLine(app, design, error, before = '') {
  const at = error.own && error.line > 0 ? `line ${error.line}, column ${error.column}: ` : error.file ? `${error.file}: ` : '';
  const text = `${before}${at}${error.text}`;
  if (!error.own || !(error.line > 0)) return element('p', {class: 'wrong'}, text);
  return button(text, () => app.showLine(design, error), {class: 'wrong'});
}
