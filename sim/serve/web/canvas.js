// The cluster as a drawing: sites are boxes with VMs, VMs contain GPUs, links connect sites. Everything can be reached by Tab,
// selected by Enter or Space, moved by the arrow keys and removed by Delete; all kinds of pointers drag.

const SVG = 'http://www.w3.org/2000/svg';
const VM_HEIGHT = 46, HEAD = 30, GAP = 8, STEP = 24, SLOP = 5;

function shape(name, attributes = {}, ...children) {
  const out = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) out.setAttribute(key, value);
  out.append(...children);
  return out;
}

const shortened = (word, most) => (word.length > most ? `${word.slice(0, most - 1)}…` : word);

// "2 × rtx3090", or all names where they differ; with a number from `counted` GPUs on.
export function gpusText(gpus, counted = 2) {
  const counts = new Map();
  for (const gpu of gpus) counts.set(gpu, (counts.get(gpu) ?? 0) + 1);
  return [...counts].map(([gpu, n]) => (n >= counted ? `${n} × ${gpu}` : gpu)).join(', ');
}

const linkText = (link) => [link.rtt, link.bandwidth].filter(Boolean).join(' · ') || (link.path ? 'measured path' : 'no figures');

export class Canvas {
  // `act` has choose(what), moved(), moveVm(name, site), join(site, site), remove(what).
  constructor(place, act) {
    this.place = place;
    this.act = act;
    this.boxes = new Map();
    this.svg = shape('svg', {role: 'group', 'aria-label': 'Sites, VMs and links; Tab goes from one to the next'});
    place.append(this.svg);
    new ResizeObserver(() => this.last && this.draw(...this.last)).observe(place);
    // A press on the drawing also ends typing elsewhere. The resulting change is drawn once the press is over: drawn sooner, it
    // would remove the pressed element.
    this.svg.addEventListener('pointerdown', () => { this.pressed = true; }, true);
    for (const over of ['pointerup', 'pointercancel'])
      window.addEventListener(over, () => this.pressed && setTimeout(() => this.released()), true);
  }

  released() {
    this.pressed = false;
    if (this.isLate) this.draw(...this.last);
  }

  draw(design, cluster, selected) {
    this.last = [design, cluster, selected];
    this.isLate = this.pressed;
    if (this.isLate) return;
    this.design = design;
    const width = Math.max(300, this.place.clientWidth);
    const wide = width < 520 ? Math.min(168, (width - 44) / 2) : 196;
    this.lay(cluster, width, wide);
    const focused = this.svg.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    this.svg.toggleAttribute('hidden', cluster.sites.length === 0);
    this.svg.setAttribute('viewBox', `0 0 ${width} ${this.height}`);
    this.svg.setAttribute('height', this.height);
    this.svg.replaceChildren(shape('g', {class: 'links'}, ...cluster.links.map((l) => this.line(l, selected)).filter(Boolean)),
                             ...cluster.sites.map((site) => this.site(site, wide, selected)),
                             shape('g', {class: 'labels'}, ...this.labels));
    if (focused) [...this.svg.querySelectorAll('[data-key]')].find((one) => one.dataset.key === focused)?.focus();
  }

  // Rows of sites unless the user moved them; on a phone one below the other, left and right in turn, so that links have room.
  lay({sites}, width, wide) {
    const narrow = width < 520;
    const columns = narrow ? 1 : Math.max(1, Math.min(Math.ceil(Math.sqrt(sites.length)), Math.floor(width / (wide + 130))));
    this.labels = [];
    this.boxes.clear();
    let top = 16, lowest = 0;
    for (let first = 0; first < sites.length; first += columns) {
      const row = sites.slice(first, first + columns);
      const heights = row.map((site) => HEAD + GAP + Math.max(1, site.vms.length) * (VM_HEIGHT + GAP));
      row.forEach((site, i) => {
        let x = narrow ? (first % 2 === 0 ? 4 : width - wide - 12) : ((i + 0.5) / row.length) * width - wide / 2, y = top;
        const moved = this.design.positions[site.name];
        if (moved) [x, y] = [moved.x * (width - wide), moved.y];
        x = Math.min(Math.max(4, x), width - wide - 12);
        y = Math.max(4, y);
        this.boxes.set(site.name, {x, y, w: wide, h: heights[i]});
        lowest = Math.max(lowest, y + heights[i]);
      });
      top += Math.max(...heights) + (narrow ? 44 : 64);
    }
    this.width = width;
    this.wide = wide;
    this.height = Math.max(200, lowest + 24);
  }

  part(what, label, selected, ...children) {
    const chosen = selected?.kind === what.kind && selected.name === what.name;
    const group = shape('g', {class: `part ${what.kind}${chosen ? ' chosen' : ''}`, role: 'button', tabindex: 0,
                              'aria-pressed': chosen, 'aria-label': label}, ...children);
    group.dataset.key = `${what.kind} ${what.name}`;
    group.addEventListener('keydown', (event) => this.key(event, what));
    return group;
  }

  site(site, wide, selected) {
    const box = this.boxes.get(site.name);
    const head = shape('text', {x: 12, y: 20, class: 'site-name'}, shortened(site.name, Math.floor(wide / 11)));
    const frame = shape('rect', {width: box.w, height: box.h, rx: 6, class: 'frame'});
    const group = this.part({kind: 'site', name: site.name}, `site ${site.name}, ${site.vms.length} VMs`, selected, frame, head);
    if (site.vms.length === 0) group.append(shape('text', {x: 12, y: HEAD + 30, class: 'quiet'}, 'no VM yet'));
    const outer = shape('g', {transform: `translate(${box.x} ${box.y})`}, group,
                        ...site.vms.map((vm, i) => this.vm(vm, i, wide, selected)), this.handle(site, wide));
    this.drag(group, {
      moved: (dx, dy) => outer.setAttribute('transform', `translate(${box.x + dx} ${box.y + dy})`),
      dropped: (dx, dy) => this.moveSite(site.name, dx, dy),
      chosen: () => this.act.choose({kind: 'site', name: site.name}),
    });
    return outer;
  }

  moveSite(name, dx, dy) {
    const box = this.boxes.get(name);
    const x = Math.min(Math.max(0, box.x + dx), this.width - box.w), y = Math.max(4, box.y + dy);
    for (const [other, at] of this.boxes) {
      this.design.positions[other] ??= {x: at.x / (this.width - at.w), y: at.y};
    }
    this.design.positions[name] = {x: x / (this.width - box.w), y};
    this.act.moved();
  }

  vm(vm, index, wide, selected) {
    const w = wide - 2 * GAP, most = Math.floor(w / 8);
    const many = vm.count > 1 ? `${vm.count} × ` : '';
    const group = this.part({kind: 'vm', name: vm.name},
                            `VM ${vm.name} at ${vm.site}: ${many}${gpusText(vm.gpus)}${vm.type ? `, ${vm.type}` : ''}`, selected,
                            shape('rect', {width: w, height: VM_HEIGHT, rx: 4, class: 'frame'}),
                            shape('text', {x: 8, y: 17, class: 'vm-name'}, shortened(many + vm.name, most)),
                            shape('text', {x: 8, y: 36, class: 'quiet'}, shortened(gpusText(vm.gpus), most)));
    const shown = Math.min(vm.gpus.length, 8);
    for (let i = 0; i < shown; ++i) {
      group.append(shape('rect', {x: w - 14 - 11 * i, y: 8, width: 8, height: 10, class: 'gpu'}));
    }
    const y = HEAD + index * (VM_HEIGHT + GAP);
    group.setAttribute('transform', `translate(${GAP} ${y})`);
    this.drag(group, {
      moved: (dx, dy) => {
        group.setAttribute('transform', `translate(${GAP + dx} ${y + dy})`);
        group.parentNode.parentNode.append(group.parentNode);  // above the others
      },
      dropped: (dx, dy, x, at) => this.act.moveVm(vm.name, this.siteAt(x, at) ?? vm.site),
      chosen: () => this.act.choose({kind: 'vm', name: vm.name}),
    });
    return group;
  }

  // Dragging it to another site makes a link. The keyboard equivalent is the button "Add a link".
  handle(site, wide) {
    const box = this.boxes.get(site.name);
    const dot = shape('circle', {cx: wide, cy: HEAD / 2, r: 9, class: 'handle'});
    dot.append(shape('title', {}, 'drag to another site to link them'));
    const thread = shape('line', {x1: box.x + wide, y1: box.y + HEAD / 2, class: 'thread'});
    this.drag(dot, {
      moved: (dx, dy) => {
        thread.setAttribute('x2', box.x + wide + dx);
        thread.setAttribute('y2', box.y + HEAD / 2 + dy);
        this.svg.append(thread);
      },
      dropped: (dx, dy, x, y) => {
        thread.remove();
        const other = this.siteAt(x, y);
        if (other && other !== site.name) this.act.join(site.name, other);
      },
      chosen: () => this.act.choose({kind: 'site', name: site.name}),
    });
    return dot;
  }

  siteAt(x, y) {
    const hit = ([, box]) => x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h;
    return [...this.boxes].find(hit)?.[0];
  }

  line(link, selected) {
    const [a, b] = link.between.map((name) => this.boxes.get(name));
    if (!a || !b) return null;
    const from = [a.x + a.w / 2, a.y + a.h / 2], to = [b.x + b.w / 2, b.y + b.h / 2];
    const [x1, y1] = edge(a, from, to), [x2, y2] = edge(b, to, from);
    const [x, y] = this.freePlace([(x1 + x2) / 2, (y1 + y2) / 2]);
    const words = linkText(link), name = shortened(link.name, 16), half = Math.max(54, 3.5 * words.length, 4.4 * name.length);
    const ends = {x1, y1, x2, y2};
    const label = this.part({kind: 'link', name: link.name}, `link ${link.name} between ${link.between.join(' and ')}: ${words}`, selected,
                            shape('rect', {x: x - half, y: y - 17, width: 2 * half, height: 34, rx: 4, class: 'frame'}),
                            shape('text', {x, y: y - 3, class: 'link-name'}, name),
                            shape('text', {x, y: y + 12, class: 'quiet middle'}, words));
    label.addEventListener('click', () => this.act.choose({kind: 'link', name: link.name}));
    this.labels.push(label);
    const chosen = selected?.kind === 'link' && selected.name === link.name;
    const wire = shape('g', {class: `wire${chosen ? ' chosen' : ''}`}, shape('line', {...ends, class: 'seen'}),
                       shape('line', {...ends, class: 'touched'}));
    wire.addEventListener('click', () => this.act.choose({kind: 'link', name: link.name}));
    return wire;
  }

  // Labels do not overlap.
  freePlace([x, y]) {
    const half = 70;
    x = Math.min(Math.max(half, x), this.width - half);
    const taken = this.labels.map((one) => one.querySelector('rect')).map((r) => [Number(r.getAttribute('x')) + Number(r.getAttribute('width')) / 2,
                                                                                  Number(r.getAttribute('y')) + 17]);
    while (taken.some(([tx, ty]) => Math.abs(tx - x) < 120 && Math.abs(ty - y) < 38)) y += 40;
    this.height = Math.max(this.height, y + 30);
    return [x, y];
  }

  key(event, what) {
    const step = {ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP]}[event.key];
    if (event.key === 'Enter' || event.key === ' ') this.act.choose(what, true);
    else if (event.key === 'Delete' || event.key === 'Backspace') this.act.remove(what);
    else if (step && what.kind === 'site') this.moveSite(what.name, ...step);
    else return;
    event.preventDefault();
  }

  // A press that moves is a drag, any other press selects.
  drag(target, {moved, dropped, chosen}) {
    // Otherwise the browser takes a finger's move for scrolling, whatever touch-action says about parts of a drawing.
    target.addEventListener('touchstart', (event) => event.preventDefault(), {passive: false});
    target.addEventListener('pointerdown', (down) => {
      if (down.button !== 0) return;
      down.stopPropagation();
      let far = false;
      const scale = this.width / this.svg.getBoundingClientRect().width;
      const by = (event) => [(event.clientX - down.clientX) * scale, (event.clientY - down.clientY) * scale];
      target.setPointerCapture(down.pointerId);
      const move = (event) => {
        const [dx, dy] = by(event);
        far ||= Math.hypot(dx, dy) > SLOP;
        if (far) moved(dx, dy);
      };
      const up = (event) => {
        end();
        if (!far) return chosen();
        const corner = this.svg.getBoundingClientRect();
        dropped(...by(event), (event.clientX - corner.left) * scale, (event.clientY - corner.top) * scale);
      };
      const lost = () => { end(); this.draw(...this.last); };
      const end = () => {
        target.removeEventListener('pointermove', move);
        target.removeEventListener('pointerup', up);
        target.removeEventListener('pointercancel', lost);
      };
      target.addEventListener('pointermove', move);
      target.addEventListener('pointerup', up);
      target.addEventListener('pointercancel', lost);
    });
  }
}

// Where the line from the centre of a box to another point leaves the box.
function edge(box, [x, y], [tx, ty]) {
  const dx = tx - x, dy = ty - y;
  const share = Math.min(1, dx ? box.w / 2 / Math.abs(dx) : Infinity, dy ? box.h / 2 / Math.abs(dy) : Infinity);
  return [x + share * dx, y + share * dy];
}
