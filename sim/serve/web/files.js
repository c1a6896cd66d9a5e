// Opening and saving, and links that contain the whole scenario.

import {$, ask, button, element, field, problem, select} from './dom.js';
import * as yaml from './yaml.js';

// --- links: the contents of both designs, deflated, in the address after "#s=", which browsers do not send to a server.

const stream = async (bytes, through) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(through)).arrayBuffer());

export async function toFragment(state) {
  const bytes = await stream(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream('deflate-raw'));
  let letters = '';
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return `#s=${btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

const MOST = 4 << 20;  // largest link in bytes; a scenario has at most 1 MiB

// Nothing where the fragment has none.
export async function fromFragment(hash) {
  const match = /^#s=([A-Za-z0-9_-]+)$/.exec(hash);
  if (!match) return null;
  try {
    const bytes = Uint8Array.from(atob(match[1].replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
    const parts = [];
    let size = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length;
      if (size > MOST) throw new Error('too large');
      parts.push(part.value);
    }
    const state = JSON.parse(await new Blob(parts).text());
    const sound = Array.isArray(state?.designs) && state.designs.every((one) => one === null || typeof one.text === 'string');
    return sound ? state : null;
  } catch {
    return null;
  }
}

// --- dialogs

function dialog(title, ...children) {
  const box = $('dialog');
  box.replaceChildren(element('h2', {id: 'dialog-title'}, title), ...children,
                      element('div', {class: 'tools'}, button('Close', () => box.close())));
  box.showModal();
  return box;
}

const wrongLine = () => element('p', {class: 'wrong', role: 'alert'});

export async function openDialog(app) {
  const {answer} = await ask('files/list', {});
  const wrong = wrongLine();
  const read = async (question, body) => {
    const {ok, answer: got} = await ask(question, body);
    if (!ok) {
      wrong.textContent = problem(got);
      return;
    }
    $('dialog').close();
    app.load({name: got.path, text: got.text ?? yaml.textOf(got.whole)});
  };
  const own = select([['', 'choose…'], ...(answer.files ?? [])], '', (path) => path && read('files/read', {path}));
  const shipped = select([['', 'choose…'], ...app.catalog.scenarios], '', (name) => name && read('files/shipped', {name}));
  const file = element('input', {type: 'file', accept: '.yaml,.yml', onchange: async () => {
    const [one] = file.files;
    if (!one) return;
    if (one.size > 1 << 20) {
      wrong.textContent = 'A scenario has at most 1 MiB.';
      return;
    }
    $('dialog').close();
    app.load({name: one.name, text: await one.text()});
  }});
  const link = element('input', {type: 'text', autocomplete: 'off', onchange: async () => {
    const state = await fromFragment(link.value.slice(link.value.indexOf('#')));
    if (!state) {
      wrong.textContent = 'This link holds no scenario.';
      return;
    }
    $('dialog').close();
    app.restore(state);
  }});
  dialog('Open', field('A scenario of this folder', own, answer.folder), field('A scenario of slmsim', shipped),
         field('A file on this computer', file), field('A link', link), wrong);
}

export function saveDialog(app) {
  const {design} = app, wrong = wrongLine();
  const path = element('input', {type: 'text', value: design.name, autocomplete: 'off'});
  const replace = element('input', {type: 'checkbox', id: 'replace'});
  const save = async () => {
    const {ok, answer} = await ask('files/write', {path: path.value.trim(), text: design.text, replace: replace.checked});
    if (!ok) {
      wrong.textContent = problem(answer);
      return;
    }
    design.name = answer.path;
    $('dialog').close();
    app.notice(`Saved as ${answer.path}: slmsim run ${answer.path} predicts it on the command line.`);
  };
  const download = () => {
    const link = element('a', {href: URL.createObjectURL(new Blob([design.text], {type: 'application/yaml'})),
                               download: design.name.split('/').at(-1)});
    link.click();
    URL.revokeObjectURL(link.href);
  };
  dialog('Save', field('File, from the folder that slmsim serve was started in', path),
         element('div', {class: 'check'}, replace, element('label', {for: 'replace'}, 'Replace an existing file')),
         element('div', {class: 'tools'}, button('Save there', save, {class: 'primary'}), button('Download', download)), wrong);
}

// Puts a text on the clipboard; without the permission, what is selected, as Ctrl-C does.
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);  // absent on pages of other machines without TLS
    return true;
  } catch {
    return document.execCommand('copy');
  }
}

export async function linkDialog(app) {
  const url = `${location.origin}/${await toFragment(app.state())}`;
  const shown = element('input', {type: 'text', readonly: true, value: url});
  const told = element('p', {class: 'note', role: 'status'});
  const copy = async () => {
    shown.select();
    const done = await copied(url);
    told.textContent = done ? 'Copied.' : 'The browser forbids copying; the link is selected: press Ctrl-C.';
  };
  dialog('A link that holds the scenario', element('p', {class: 'note'}, 'The scenario itself is in the link, behind the #. To open it, ' +
    'start slmsim serve and choose “Open”, “A link”. The token of this page is not in it.'),
         field('Link', shown), element('div', {class: 'tools'}, button('Copy', copy, {class: 'primary'})), told);
}

// --- a model's config.json, as a model of the scenario

const KEPT = 40;  // keys; no model's file has more

export async function modelOf(file) {
  if (file.size > 1 << 20) return {wrong: 'A config.json has at most 1 MiB.'};
  let config;
  try {
    config = JSON.parse(await file.text());
  } catch {
    return {wrong: `${file.name} is not JSON.`};
  }
  if (typeof config?.model_type !== 'string') return {wrong: `${file.name} has no “model_type”: it is not the config.json of a model.`};
  const stem = String(config._name_or_path || config.name || config.model_type).split('/').filter(Boolean).at(-1) ?? 'model';
  const name = stem.replaceAll(/[^A-Za-z0-9_.-]/g, '-').replace(/^\.+/, '').slice(0, 64) || 'model';
  const plain = Object.entries(config).filter(([key, value]) => ['string', 'number', 'boolean'].includes(typeof value) && !key.startsWith('_') && key !== 'name');
  const words = plain.slice(0, KEPT).map(([key, value]) => [key, yaml.text(value)]);
  return {name, node: yaml.map([['name', yaml.text(name)], ...words])};
}
