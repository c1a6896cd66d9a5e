// Helpers to create elements, and requests to the server.

export const $ = (id) => document.getElementById(id);

// element('button', {type: 'button', onclick: f}, 'Text', child...)
export function element(name, attributes = {}, ...children) {
  const out = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) out.addEventListener(key.slice(2), value);
    else if (value === true) out.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) out.setAttribute(key, value);
  }
  out.append(...children.filter((one) => one !== null && one !== undefined));
  return out;
}

export const button = (text, onclick, more = {}) => element('button', {type: 'button', onclick, ...more}, text);

// The server's HTML, in which all foreign text is escaped; the page's policy runs no script in it.
export function fragment(html) {
  return [...new DOMParser().parseFromString(html, 'text/html').body.childNodes];
}

// Fills an element with children given as [name, make, stamp]: a child with the same name and stamp, or, without a stamp, with
// equal content, stays, with its open parts, selection and scroll position; and nothing is redrawn or read aloud again.
const made = new WeakMap();
export function fill(place, parts) {
  const before = made.get(place) ?? new Map(), now = new Map();
  for (const [name, make, stamp] of parts) {
    const old = before.get(name);
    if (old && stamp !== undefined && old.stamp === stamp) {
      now.set(name, old);
      continue;
    }
    const drawn = make();
    if (old && stamp === undefined) now.set(name, {stamp, drawn: merged(old.drawn, drawn)});
    else now.set(name, {stamp, drawn: old ? openedAs(old.drawn, drawn) : drawn});
  }
  made.set(place, now);
  const elements = [...now.values()].map((one) => one.drawn);
  for (const one of [...place.children]) if (!elements.includes(one)) one.remove();
  elements.forEach((one, i) => { if (place.children[i] !== one) place.insertBefore(one, place.children[i] ?? null); });
}

// Puts `drawn` in place of `old`; only children that differ are replaced.
function merged(old, drawn) {
  if (old.tagName !== drawn.tagName || old.className !== drawn.className) return drawn;
  const children = [...drawn.children];
  children.forEach((one, i) => {
    const at = old.children[i];
    if (!at) old.append(one);
    else if (!at.isEqualNode(one)) at.replaceWith(openedAs(at, one));
  });
  while (old.children.length > children.length) old.lastChild.remove();
  return old;
}

function openedAs(old, drawn) {
  const all = (one) => [one, ...one.querySelectorAll('details')].filter((e) => e.tagName === 'DETAILS');
  const were = all(old);
  all(drawn).forEach((one, i) => { if (were[i]) one.open = were[i].open; });
  return drawn;
}

let numbers = 0;
export const fresh = (stem) => `${stem}-${++numbers}`;

// A field preceded by its label; `hint` below.
export function field(label, input, hint) {
  input.id ||= fresh('field');
  const out = element('div', {class: 'field'}, element('label', {for: input.id}, label), input);
  if (hint) {
    const note = element('p', {class: 'note', id: fresh('note')}, hint);
    input.setAttribute('aria-describedby', note.id);
    out.append(note);
  }
  return out;
}

// Options are texts, or [value, text], or {group, options}.
export function select(options, chosen, onchange) {
  const out = element('select', {onchange: () => onchange(out.value)});
  const option = (one) => {
    const [value, text] = Array.isArray(one) ? one : [one, one];
    return element('option', {value, selected: value === chosen}, text);
  };
  for (const one of options) out.append(one.group ? element('optgroup', {label: one.group}, ...one.options.map(option)) : option(one));
  return out;
}

export async function ask(question, body, signal) {
  const response = await fetch(`api/${question}`, {
    method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body), signal});
  const answer = await response.json().catch(() => ({errors: [{text: 'the answer is unreadable'}]}));
  return {ok: response.ok && !answer.errors, answer};
}

// The errors of an answer as one sentence.
export const problem = (answer) => (answer?.errors ?? []).map((e) => e.text).join('; ') || 'it failed';
