// A scenario's tree, as the server reads it from text, and text from a tree. Nodes are {k: 'map', l, c, e: [[key, l, c,
// node]...]}, {k: 'list', l, c, i: [...]}, {k: 'text', l, c, v} and {k: 'null', l, c}; l and c are line and column, 0 for a
// node that is in no text.

const WIDTH = 100;  // longer maps and lists are written over several lines
const PLAIN = /^[A-Za-z0-9_./+][A-Za-z0-9_./+ ()%^=-]*$|^-[0-9.][0-9.eE+-]*$/;

export const text = (v) => ({k: 'text', l: 0, c: 0, v: String(v)});
export const list = (items) => ({k: 'list', l: 0, c: 0, i: items});
export const map = (entries) => ({k: 'map', l: 0, c: 0, e: entries.map(([key, node]) => [key, 0, 0, node])});

// Makes a tree from plain values.
export function tree(value) {
  if (value === null || value === undefined) return {k: 'null', l: 0, c: 0};
  if (Array.isArray(value)) return list(value.map(tree));
  if (typeof value === 'object') return map(Object.entries(value).map(([key, one]) => [key, tree(one)]));
  return text(value);
}

export const entry = (node, key) => (node && node.k === 'map' ? node.e.find((e) => e[0] === key) : undefined);
export const child = (node, key) => entry(node, key)?.[3];
export const at = (node, path) => path.reduce((n, key) => (n && n.k === 'list' ? n.i[Number(key)] : child(n, key)), node);
export const keys = (node) => (node && node.k === 'map' ? node.e.map((e) => e[0]) : []);

// The value of a node that may state its provenance, {value: 28 ms, provenance: ...}; undefined where there is none.
export function value(node) {
  if (node?.k === 'text') return node.v;
  const inner = child(node, 'value');
  return inner?.k === 'text' ? inner.v : undefined;
}

// One value or a list of them.
export const values = (node) => (node?.k === 'list' ? node.i.map(value) : node ? [value(node)] : []);

export function put(node, key, what) {
  const found = entry(node, key);
  if (found) found[3] = what;
  else node.e.push([key, 0, 0, what]);
}

export function drop(node, key) {
  if (node?.k === 'map') node.e = node.e.filter((e) => e[0] !== key);
}

export function scalar(v) {
  const plain = PLAIN.test(v) && !v.endsWith(' ') && !['null', 'Null', 'NULL', '~'].includes(v);
  return plain ? v : JSON.stringify(v);
}

function flow(node) {
  if (node.k === 'text') return scalar(node.v);
  if (node.k === 'list') return `[${node.i.map(flow).join(', ')}]`;
  if (node.k === 'map') return `{${node.e.map((e) => `${scalar(e[0])}: ${flow(e[3])}`).join(', ')}}`;
  return '~';
}

// Maps of maps are written over several lines, for readability.
const isNested = (node) => node.k === 'map' && node.e.some((e) => e[3].k === 'map' && e[3].e.length > 0);

export function entryLines(key, node, indent = 0) {
  const head = `${' '.repeat(indent)}${scalar(key)}:`;
  const line = `${head} ${flow(node)}`;
  const short = line.length <= WIDTH && !isNested(node);
  if (short || node.k === 'text' || node.k === 'null' || (node.e ?? node.i).length === 0) return [line];
  if (node.k === 'map') return [head, ...node.e.flatMap((e) => entryLines(e[0], e[3], indent + 2))];
  return [head, ...node.i.map((one) => `${' '.repeat(indent)}- ${flow(one)}`)];
}

export const textOf = (root) => root.e.flatMap((e) => entryLines(e[0], e[3])).join('\n') + '\n';

// The path of the node at a line and a column. Where a map begins with its first key, both are there: the one named in `said`
// is returned, else the map.
export function pathTo(root, line, column, said = '') {
  const found = [];
  const visit = (node, path) => {
    if (node.l === line && node.c === column) found.push(path);
    for (const [key, l, c, one] of node.e ?? []) {
      if (l === line && c === column) found.push([...path, key]);
      visit(one, [...path, key]);
    }
    (node.i ?? []).forEach((one, i) => visit(one, [...path, String(i)]));
  };
  if (root) visit(root, []);
  return found.findLast((path) => path.length > 0 && said.includes(path.join('.'))) ?? found[0];
}

export const copy = (node) => structuredClone(node);

export function walk(node, visit) {
  visit(node);
  for (const one of node.i ?? []) walk(one, visit);
  for (const e of node.e ?? []) walk(e[3], visit);
}
