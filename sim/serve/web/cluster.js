// Sites, VMs, GPUs and links of a design: read from its tree, with the user's edits to them.

import * as yaml from './yaml.js';

const LONGEST_NAME = 64;
const GPU = 'rtx3090', VM_TYPE = 'workstation', MODEL = 'gpt2m';
const LINK = {rtt: '20 ms', bandwidth: '1 Gbps', loss: '1e-5'};
const TECHNIQUES = {Data: {}, ZeRO2: {}, Pipeshard: {}, LocalSGD: {inner_steps: '100'}};
const TRAINING = {batch: '16', epochs: '3', blocks_per_epoch: '20000'};

const platform = (root) => yaml.child(root, 'platform');

export function cluster(root) {
  const own = platform(root);
  const sites = yaml.keys(yaml.child(own, 'sites')).map((name) => ({name, vms: []}));
  const vms = (yaml.child(own, 'vms')?.e ?? []).map(([name, , , node]) => {
    const gpus = yaml.values(yaml.child(node, 'gpus')).map((gpu) => gpu ?? 'GPU');
    const type = yaml.child(node, 'type');
    return {name, site: yaml.value(yaml.child(node, 'site')), gpus, count: Number(yaml.value(yaml.child(node, 'count')) ?? 1),
            type: yaml.value(type) ?? yaml.value(yaml.child(type, 'name')) ?? ''};
  });
  for (const vm of vms) sites.find((site) => site.name === vm.site)?.vms.push(vm);
  const links = (yaml.child(own, 'links')?.e ?? []).map(([name, , , node]) => {
    const word = (key) => yaml.value(yaml.child(node, key));
    return {name, between: yaml.values(yaml.child(node, 'between')), rtt: word('rtt'), bandwidth: word('bandwidth'),
            loss: word('loss'), path: yaml.child(node, 'path') !== undefined};
  });
  return {sites, vms, links, editable: own?.k === 'map'};
}

function free(names, stem) {
  let number = 1;
  while (names.includes(`${stem}${number}`)) ++number;
  return `${stem}${number}`;
}

// A link is named after the sites that it joins, and follows their names while it keeps that name.
const between = (a, b) => `${a}-${b}`;

function linkName(names, a, b) {
  const name = between(a, b);
  return names.includes(name) || name.length > LONGEST_NAME ? free(names, 'link') : name;
}

function section(root, key) {
  const own = platform(root);
  if (yaml.child(own, key)?.k !== 'map') yaml.put(own, key, yaml.map([]));
  return yaml.child(own, key);
}

const linkNode = (a, b, figures = LINK) => yaml.tree({between: [a, b], ...figures});

// Content of an empty design: a platform without sites, a model, techniques for near and far GPUs, and a training.
function begin(design) {
  design.change('platform', (root) => {
    if (platform(root)?.k !== 'map') yaml.put(root, 'platform', yaml.tree({name: 'mine'}));
  });
  const missing = (key) => yaml.child(design.tree, key) === undefined;
  if (missing('models')) design.change('models', (root) => yaml.put(root, 'models', yaml.tree([MODEL])));
  if (missing('techniques')) design.change('techniques', (root) => yaml.put(root, 'techniques', yaml.tree(TECHNIQUES)));
  if (missing('training')) design.change('training', (root) => yaml.put(root, 'training', yaml.tree(TRAINING)));
}

// Adds a site with VMs like those of `like`, or of the last site, linked with the first ones, so that there is a verdict at
// once.
export function addSite(design, like, figures = LINK) {
  begin(design);
  const {sites, vms, links} = cluster(design.tree);
  const name = free(sites.map((s) => s.name), 'site'), taken = vms.map((v) => v.name);
  const before = sites.find((s) => s.name === like) ?? sites.at(-1);
  design.change('platform', (root) => {
    section(root, 'sites').e.push([name, 0, 0, yaml.map([])]);
    const first = yaml.tree({site: name, type: VM_TYPE, gpus: [GPU]});
    const nodes = before?.vms.map((vm) => yaml.copy(yaml.child(section(root, 'vms'), vm.name))) ?? [first];
    for (const node of nodes) {
      const vm = free(taken, 'vm');
      taken.push(vm);
      yaml.put(node, 'site', yaml.text(name));
      section(root, 'vms').e.push([vm, 0, 0, node]);
    }
    for (const other of sites.slice(0, 3)) {
      const names = yaml.keys(section(root, 'links'));
      section(root, 'links').e.push([linkName(names, other.name, name), 0, 0, linkNode(other.name, name, figures)]);
    }
  });
  return {kind: 'site', name, links: links.length};
}

// Draws `count` sites with the same GPUs each, linked with this round trip.
export function drawSites(design, {count, gpu, gpus, type, rtt}) {
  const first = addSite(design, '');
  const [vm] = cluster(design.tree).vms;
  design.set(['platform', 'vms', vm.name, 'type'], type);
  setGpus(design, vm.name, gpu, gpus);
  for (let i = 1; i < count; ++i) addSite(design, first.name, {...LINK, rtt});
  return first;
}

export function addVm(design, site) {
  begin(design);
  const {vms} = cluster(design.tree);
  const like = vms.find((vm) => vm.site === site);
  const name = free(vms.map((v) => v.name), 'vm');
  design.change('platform', (root) => {
    const copied = like && yaml.copy(yaml.child(section(root, 'vms'), like.name));
    section(root, 'vms').e.push([name, 0, 0, copied ?? yaml.tree({site, type: VM_TYPE, gpus: [GPU]})]);
  });
  return {kind: 'vm', name};
}

export function addLink(design, a, b) {
  const {links} = cluster(design.tree);
  const found = links.find((link) => link.between.includes(a) && link.between.includes(b));
  if (found) return {kind: 'link', name: found.name};
  const name = linkName(links.map((l) => l.name), a, b);
  design.change('platform', (root) => section(root, 'links').e.push([name, 0, 0, linkNode(a, b)]));
  return {kind: 'link', name};
}

// Sites without a link to this one.
export function unlinked(design, site) {
  const {sites, links} = cluster(design.tree);
  const joined = (other) => links.some((link) => link.between.includes(site) && link.between.includes(other));
  return sites.map((s) => s.name).filter((name) => name !== site && !joined(name));
}

export function remove(design, {kind, name}) {
  design.change('platform', (root) => {
    const own = platform(root);
    const vms = yaml.child(own, 'vms'), links = yaml.child(own, 'links');
    if (kind === 'vm') yaml.drop(vms, name);
    if (kind === 'link') yaml.drop(links, name);
    if (kind === 'site') {
      yaml.drop(yaml.child(own, 'sites'), name);
      if (vms) vms.e = vms.e.filter((e) => yaml.value(yaml.child(e[3], 'site')) !== name);
      if (links) links.e = links.e.filter((e) => !yaml.values(yaml.child(e[3], 'between')).includes(name));
    }
    if (links?.e.length === 0) yaml.drop(own, 'links');
  });
  dropGroups(design);
}

// Groups may name removed VMs; without groups, all VMs together, sites, pairs of sites and each VM are tried.
function dropGroups(design) {
  const groups = yaml.child(design.tree, 'groups');
  if (!groups) return;
  const {vms, sites} = cluster(design.tree);
  const names = [...vms, ...sites].map((one) => one.name);
  const known = (word) => ['all', 'pairs', 'sites', 'each'].includes(word) || names.some((name) => word === name || word?.startsWith(`${name}/`));
  let broken = false;
  yaml.walk(groups, (node) => { broken ||= node.k === 'text' && !known(node.v); });
  if (broken) design.change('groups', (root) => yaml.drop(root, 'groups'));
}

// References to the name follow. False where the name is taken or invalid.
export function rename(design, {kind, name}, to) {
  const key = {site: 'sites', vm: 'vms', link: 'links'}[kind];
  if (to === name) return true;
  if (!/^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/.test(to) || to.length > LONGEST_NAME) return false;
  if (yaml.keys(yaml.child(platform(design.tree), key)).includes(to)) return false;
  design.change('platform', (root) => {
    const own = platform(root);
    yaml.entry(yaml.child(own, key), name)[0] = to;
    if (kind !== 'site') return;
    for (const e of yaml.child(own, 'vms')?.e ?? []) {
      if (yaml.value(yaml.child(e[3], 'site')) === name) yaml.put(e[3], 'site', yaml.text(to));
    }
    const links = yaml.child(own, 'links');
    for (const e of links?.e ?? []) {
      const ends = yaml.values(yaml.child(e[3], 'between')), now = ends.map((s) => (s === name ? to : s));
      if (now.includes(to) && e[0] === between(...ends)) e[0] = linkName(yaml.keys(links), ...now);
      yaml.put(e[3], 'between', yaml.list(now.map(yaml.text)));
    }
  });
  if (kind === 'site') {
    design.positions[to] = design.positions[name];
    delete design.positions[name];
  }
  if (kind !== 'link') dropGroups(design);
  return true;
}

export function setGpus(design, vm, gpu, count) {
  design.change('platform', (root) => {
    yaml.put(yaml.at(root, ['platform', 'vms', vm]), 'gpus', yaml.tree(Array(count).fill(gpu)));
  });
}

// Sets the machine type, with its GPUs where there is only one choice.
export function setType(design, vm, {name, gpus = [], gpu_count: count = 0}) {
  const found = cluster(design.tree).vms.find((one) => one.name === vm);
  design.set(['platform', 'vms', vm, 'type'], name);
  const gpu = gpus.length === 0 || gpus.includes(found.gpus[0]) ? found.gpus[0] : gpus[0];
  if (count > 0 || gpu !== found.gpus[0]) setGpus(design, vm, gpu, count || found.gpus.length);
}

// "site1+site2" where the VMs are all those of sites, as the server names groups; else their names.
export function groupText(root, group) {
  const {sites} = cluster(root);
  const whole = sites.filter(({vms}) => vms.length > 0 && vms.every((vm) => group.includes(vm.name)));
  const covered = whole.flatMap(({vms}) => vms.map((vm) => vm.name));
  return (sites.length > 1 && covered.length === group.length ? whole.map((site) => site.name) : group).join('+');
}

// The keys of a VM or link, as the design's tree has them.
export const pathOf = ({kind, name}) => ['platform', {site: 'sites', vm: 'vms', link: 'links'}[kind], name];

// Three sites on three continents: the scenario of the Example button.
export const EXAMPLE = `# Three sites: is it worth training over the distance between them?
platform:
  name: three-sites
  sites:
    utah: {}
    austin: {}
    boston: {}
  vms:
    lab: {site: utah, type: campus-server, gpus: [a30, a30]}
    desk: {site: austin, type: workstation, gpus: [rtx3090, rtx3090]}
    rented: {site: boston, type: gcp-a2-highgpu-1g, gpus: [a100-40]}
  links:
    west: {between: [utah, austin], rtt: 32 ms, bandwidth: 10 Gbps, loss: 1e-5}
    north: {between: [utah, boston], rtt: 57 ms, bandwidth: 10 Gbps, loss: 1e-5}
    east: {between: [austin, boston], rtt: 41 ms, bandwidth: 1 Gbps, loss: 2e-5}
models: [gpt2m]
techniques:
  Data: {}
  ZeRO2: {}
  Pipeshard: {}
  LocalSGD: {inner_steps: 100}
training: {batch: 20, epochs: 3, blocks_per_epoch: 20000}
`;
