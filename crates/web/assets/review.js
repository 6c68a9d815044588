/* The author's desk: decisions without loading the page anew, keys, choosing passages. Without it every button still works. */
(() => {
  "use strict";
  const one = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const made = (name, text, attributes = {}) => {
    const element = document.createElement(name);
    if (text) element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const parsed = (html) => new DOMParser().parseFromString(html, "text/html");
  const status = made("p", "", { id: "status", role: "status" });
  document.body.append(status);
  let fading;
  const say = (text, stays = false) => {
    status.className = "";
    status.textContent = text;
    clearTimeout(fading);
    if (!stays) fading = setTimeout(() => { status.textContent = ""; }, 4000);
  };
  const sayStale = (text) => {
    say(text, true);
    status.className = "stale";
    const again = made("button", "Show how it stands", { type: "button" });
    again.addEventListener("click", () => location.reload());
    status.append(again);
    again.focus();
  };
  const copy = async (text) => { try { await navigator.clipboard.writeText(text); say("Copied"); } catch { say("The browser does not let this page copy"); } };
  const readyCopies = () => { for (const button of all("[data-copy]")) { button.hidden = false; button.onclick = () => copy(button.dataset.copy); } };
  readyCopies();

  // The list: found as one types.
  const find = one("form[data-live=list]");
  if (find) {
    let last = 0, waiting;
    const look = async () => {
      const mine = ++last;
      const query = new URLSearchParams(new FormData(find)).toString();
      try {
        const page = parsed(await (await fetch(`/?${query}`)).text());
        const list = one("#list", page);
        if (mine !== last || !list) return;
        one("#list").replaceWith(document.adoptNode(list));
        history.replaceState(null, "", `/?${query}`);
      } catch { find.submit(); }
    };
    const soon = (ms) => { clearTimeout(waiting); waiting = setTimeout(look, ms); };
    find.addEventListener("input", () => soon(120));
    find.addEventListener("submit", (event) => { event.preventDefault(); soon(0); });
    const reading = () => { if (one("#list [role=status]")?.textContent.includes("still being read") && !document.hidden) look().then(() => setTimeout(reading, 1500)); };
    setTimeout(reading, 1000);
  }

  // A run, as it goes on.
  const follow = async () => {
    const job = one("#job[data-goes-on]");
    if (!job) return;
    try {
      const next = one("#job", parsed(await (await fetch(location.href)).text()));
      if (next && next.innerHTML !== job.innerHTML) job.replaceWith(document.adoptNode(next));
    } catch { /* asked again */ }
    readyCopies();
    setTimeout(follow, 500);
  };
  setTimeout(follow, 400);

  const form = one("#decide");
  const keysButton = one(".keys");
  const KEYS = [
    ["j k", "the next turn, the turn before"], ["J K", "the same of what you said"], ["n p", "the next thing to decide, the one before"],
    ["c", "cover it everywhere"], ["a", "allow it"], ["w", "hold its turn back"], ["x", "the switch of this turn"],
    ["[ ]", "hold back everything before this turn, after it"], ["u U", "undo, redo"], ["o", "what is for your eyes, of this turn"],
    ["h e", "with a passage chosen: cover it here, or everywhere"], ["t", "title and description"], ["v", "as the reader will see it"],
    ["P", "the plan for publishing"], ["/", "search"], ["Esc", "close"], ["?", "these keys"],
  ];
  let help;
  const showHelp = () => {
    if (!help) {
      help = made("dialog", "", { "aria-labelledby": "keys-title" });
      const list = made("dl", "");
      for (const [keys, what] of KEYS) {
        const row = made("div", "");
        const name = made("dt", "");
        for (const key of keys.split(" ")) name.append(made("kbd", key), " ");
        row.append(name, made("dd", what));
        list.append(row);
      }
      const close = made("form", "", { method: "dialog" });
      close.append(made("button", "Close"));
      help.append(made("h2", "Keys", { id: "keys-title" }), list, close);
      document.body.append(help);
    }
    if (help.open) help.close(); else help.showModal();
  };
  if (keysButton) { keysButton.hidden = false; keysButton.addEventListener("click", showHelp); }
  const go = (href) => { location.href = href; };

  // Decisions.
  const key = form ? form.action.replace(/.*\/c\/([^/]+)\/.*/, "$1") : "";
  const field = (name) => form.elements.namedItem(name);
  let sending = Promise.resolve();
  const decide = (act, more = {}) => {
    sending = sending.then(() => send(act, more));
    return sending;
  };
  const send = async (act, more) => {
    const body = new URLSearchParams({ csrf: field("csrf").value, revision: field("revision").value, page: field("page").value, of: field("of").value, act, ...more });
    let answer;
    try {
      answer = await fetch(form.action, { method: "POST", body, headers: { accept: "application/json" } });
      const said = await answer.json();
      if (answer.status === 409) return sayStale(said.say);
      if (!answer.ok) { say(said.say, true); return false; }
      apply(said);
      return true;
    } catch {
      say("The review does not answer. If it was ended, start it again: what you decided is kept.", true);
      return false;
    }
  };
  const apply = (said) => {
    for (const input of all("input[name=revision]")) input.value = said.revision;
    const focused = document.activeElement;
    const turn = focused?.closest?.(".turn,#panel,#head");
    const path = turn && focused !== turn ? pathOf(turn, focused) : null;
    const open = new Set(all("details[open]").map(nameOf));
    for (const { id, html } of said.parts) {
      const old = document.getElementById(id);
      const next = one(`#${CSS.escape(id)}`, parsed(html));
      if (!old || !next) continue;
      const top = old.scrollTop;
      old.replaceWith(document.adoptNode(next));
      next.scrollTop = top;
      for (const details of all("details", next)) if (open.has(nameOf(details)) && !details.closest(".menu,.allow")) details.open = true;
      ready(next);
    }
    mark();
    if (turn && !turn.isConnected) {
      const again = document.getElementById(turn.id);
      const target = (path && again && followPath(again, path)) || again;
      if (target) { if (target === again) target.tabIndex = -1; target.focus({ preventScroll: true }); }
    }
    if (said.say) say(said.say);
  };
  const nameOf = (details) => `${details.closest("[id]")?.id} ${details.className} ${one("summary", details)?.textContent.replace(/\d+/g, "")}`;
  const pathOf = (from, to) => { const path = []; for (let at = to; at && at !== from; at = at.parentElement) path.unshift([...at.parentElement.children].indexOf(at)); return path; };
  const followPath = (from, path) => { let at = from; for (const n of path) { at = at?.children[n]; } return at?.matches?.("button:not([disabled]),a,input,summary,textarea") ? at : null; };

  if (form) {
    document.addEventListener("submit", (event) => {
      const button = event.submitter;
      const from = event.target;
      if (!button || !(from === form || from.hasAttribute("data-act"))) return;
      event.preventDefault();
      const more = {};
      if (from !== form) { more.turns = from.elements.namedItem("turns").value; return void decide(`${button.value} ${more.turns}`); }
      const act = button.value;
      const [verb, id] = act.split(" ");
      if (verb === "allow") more.reason = field(`reason-${id}`).value;
      if (["title", "description", "discussion", "word"].includes(verb)) more[verb] = field(verb).value;
      decide(act, more).then((kept) => { if (kept && verb !== act) button.closest("details.menu")?.removeAttribute("open"); });
    });

    // Switches: with shift, all from the one before.
    let lastSwitch = null;
    document.addEventListener("click", (event) => {
      const button = event.target.closest?.(".switch");
      if (!button) return;
      const turn = Number(button.closest(".turn").dataset.turn);
      if (event.shiftKey && lastSwitch !== null && lastSwitch !== turn) {
        event.preventDefault();
        const verb = button.value.split(" ")[0];
        decide(`${verb} ${Math.min(turn, lastSwitch)}-${Math.max(turn, lastSwitch)}`);
      }
      lastSwitch = turn;
    });
  }

  // Edits that show at once what they will be.
  const live = new Map();
  document.addEventListener("input", (event) => {
    const area = event.target.closest?.("[data-live]");
    if (!area || area === find) return;
    clearTimeout(live.get(area));
    live.set(area, setTimeout(async () => {
      const body = new URLSearchParams({ csrf: area.form.elements.namedItem("csrf").value, field: area.dataset.live, text: area.value });
      try {
        const said = await (await fetch(area.dataset.render || `/c/${key}/render`, { method: "POST", body, headers: { accept: "application/json" } })).json();
        const place = one(".live", area.parentElement);
        place.replaceChildren(...parsed(said.html).body.childNodes);
      } catch { /* shown with the next letter */ }
    }, 150));
  });
  addEventListener("beforeunload", (event) => {
    const unsaved = all("textarea[data-live]").some((area) => area.value !== area.defaultValue);
    if (unsaved) event.preventDefault();
  });

  // Loaded when opened.
  const ready = (from) => {
    for (const details of all("details[data-load]", from)) {
      details.addEventListener("toggle", async () => {
        if (!details.open || details.dataset.loaded) return;
        details.dataset.loaded = "1";
        try {
          const page = parsed(await (await fetch(details.dataset.load)).text());
          const items = one("#private", page);
          if (items) one("p", details).replaceWith(document.adoptNode(items));
        } catch { details.dataset.loaded = ""; }
      });
    }
    for (const hints of all(".hints", from)) hints.hidden = false;
  };
  ready(document);

  // What is to be decided, one by one, over all pages.
  const panel = () => one("#panel");
  let current = null;
  const mark = () => {
    const place = current && one(`mark[data-f="${current}"]`);
    for (const old of all("mark.here")) old.classList.remove("here");
    if (!place) return;
    for (const piece of all(`mark[data-f="${current}"]`)) piece.classList.add("here");
  };
  const walk = () => (panel()?.dataset.walk || "").split(" ").filter(Boolean).map((item) => item.split("."));
  const show = (id) => {
    current = id;
    mark();
    const place = one(`mark[data-f="${id}"]`);
    if (!place) return;
    for (let at = place.parentElement; at; at = at.parentElement) if (at.localName === "details") at.open = true;
    place.scrollIntoView({ block: "center" });
    const turn = place.closest(".turn,.head");
    if (turn) { turn.tabIndex = -1; turn.focus({ preventScroll: true }); }
    const entry = walk().find((item) => item[0] === id);
    for (const group of all(".find", panel())) group.classList.toggle("here", group.dataset.group === entry?.[3]);
    one(".find.here", panel())?.scrollIntoView({ block: "nearest" });
  };
  const step = (by) => {
    const places = walk();
    if (!places.length) return say("Nothing is left to decide");
    let at = places.findIndex((item) => item[0] === current);
    if (at < 0) {
      const turn = Number(document.activeElement?.closest?.(".turn")?.dataset.turn || 0);
      at = by > 0 ? places.findIndex((item) => Number(item[1]) >= turn) - 1 : places.findIndex((item) => Number(item[1]) >= turn);
      if (at < -1 || (at < 0 && by < 0)) at = by > 0 ? -1 : places.length;
    }
    const [id, , page] = places[(at + by + places.length) % places.length];
    if (page === field("page").value || page === "0") show(id);
    else go(`/c/${key}?page=${page}#f${id}`);
  };
  const group = () => {
    const entry = walk().find((item) => item[0] === current);
    return (entry && one(`.find[data-group="${entry[3]}"]`, panel())) || one(".find.here", panel());
  };
  const decideGroup = (act) => {
    const found = group();
    if (!found) return say("Nothing is left to decide");
    if (act === "allow") {
      const allow = one(".allow", found);
      if (!allow) return say("This may be covered or held back, never allowed");
      allow.open = true;
      return one("input", allow).focus();
    }
    const at = walk().findIndex((item) => item[0] === current);
    const button = one(act === "cover" ? "button[value^=cover],button[value='home bar']" : "button[value^=hold]", found);
    decide(button.value).then((kept) => {
      const places = walk();
      if (!kept || !places.length) { current = null; return; }
      const [id, , page] = places[Math.min(Math.max(at, 0), places.length - 1)];
      if (page === field("page").value || page === "0") show(id); else current = null;
    });
  };
  if (location.hash.startsWith("#f")) show(location.hash.slice(2));

  // A passage is chosen: where it stands in the text that goes out, in bytes.
  const bytes = (text) => new TextEncoder().encode(text).length;
  const BAR = 9;
  const lengthOf = (node) => {
    if (node.nodeType === 3) return bytes(node.data);
    if (node.nodeType !== 1) return 0;
    if (node.dataset.n) return Number(node.dataset.n);
    if (node.classList.contains("bar")) return BAR;
    let sum = 0;
    for (const child of node.childNodes) sum += lengthOf(child);
    return sum;
  };
  // From the beginning of a piece to a point in it; what is one for the text is chosen whole.
  const offsetIn = (piece, node, offset, isEnd) => {
    let sum = 0, found = false;
    const visit = (at) => {
      if (found) return;
      if (at !== piece && at.nodeType === 1 && (at.dataset.n || at.classList.contains("bar"))) {
        if (at.contains(node)) { if (isEnd) sum += lengthOf(at); found = true; } else sum += lengthOf(at);
        return;
      }
      if (at === node) {
        if (at.nodeType === 3) sum += bytes(at.data.slice(0, offset));
        else for (const child of [...at.childNodes].slice(0, offset)) sum += lengthOf(child);
        found = true;
        return;
      }
      if (at.nodeType === 3) { sum += bytes(at.data); return; }
      for (const child of at.childNodes) visit(child);
    };
    visit(piece);
    return Number(piece.dataset.o) + sum;
  };
  const chosen = () => {
    const selection = getSelection();
    if (!selection || selection.isCollapsed || !selection.rangeCount || !form) return null;
    const range = selection.getRangeAt(0);
    const from = (range.startContainer.nodeType === 1 ? range.startContainer : range.startContainer.parentElement)?.closest(".turn,#head");
    if (!from) return null;
    const pieces = all("[data-o]", from).filter((piece) => range.intersectsNode(piece));
    const places = pieces.map((piece) => piece.closest("[data-field]"));
    const first = pieces.findIndex((piece, n) => places[n] && lengthOf(piece) > 0);
    if (first < 0) return null;
    const last = pieces.findLastIndex((piece, n) => places[n] === places[first] && lengthOf(piece) > 0);
    const inside = (piece, node) => piece.contains(node);
    const start = inside(pieces[first], range.startContainer) ? offsetIn(pieces[first], range.startContainer, range.startOffset, false) : Number(pieces[first].dataset.o);
    const end = inside(pieces[last], range.endContainer) ? offsetIn(pieces[last], range.endContainer, range.endOffset, true) : Number(pieces[last].dataset.o) + lengthOf(pieces[last]);
    if (end <= start) return null;
    return { turn: from.dataset.turn || "0", field: places[first].dataset.field, start, end, range };
  };
  const choose = made("div", "", { id: "choose", role: "toolbar", "aria-label": "The chosen passage", hidden: "" });
  const here = made("button", "Cover this here", { type: "button" });
  const everywhere = made("button", "Cover it everywhere", { type: "button", class: "main" });
  choose.append(everywhere, here);
  if (form) document.body.append(choose);
  let passage = null;
  const put = (box, rect) => {
    box.hidden = false;
    const top = rect.bottom + scrollY + 8;
    const left = Math.max(8, Math.min(rect.left + scrollX, scrollX + document.documentElement.clientWidth - box.offsetWidth - 8));
    box.style.top = `${top}px`;
    box.style.left = `${left}px`;
  };
  const offer = () => {
    passage = chosen();
    if (!passage) { choose.hidden = true; return; }
    here.hidden = passage.turn === "0";
    put(choose, passage.range.getBoundingClientRect());
  };
  document.addEventListener("mouseup", () => setTimeout(offer, 0));
  document.addEventListener("touchend", () => setTimeout(offer, 50));
  document.addEventListener("keyup", (event) => { if (event.shiftKey || event.key === "Shift") offer(); });
  document.addEventListener("selectionchange", () => { if (getSelection()?.isCollapsed && !choose.contains(document.activeElement)) choose.hidden = true; });
  const coverChosen = (act) => {
    const at = passage || chosen();
    if (!at) return say("Choose a passage first");
    const words = at.range.toString();
    choose.hidden = true;
    getSelection().removeAllRanges();
    passage = null;
    decide(act, { turn: at.turn, field: at.field, start: at.start, end: at.end, words });
  };
  for (const [button, act] of [[here, "here"], [everywhere, "everywhere"]]) {
    button.addEventListener("mousedown", (event) => event.preventDefault());
    button.addEventListener("click", () => coverChosen(act));
  }

  // Beneath a bar.
  const beneath = made("div", "", { id: "beneath", role: "dialog", "aria-label": "What is covered", hidden: "" });
  if (form) document.body.append(beneath);
  let lifted = null;
  const closeBeneath = () => {
    if (beneath.hidden) return;
    beneath.hidden = true;
    beneath.replaceChildren();
    if (lifted?.isConnected) lifted.focus({ preventScroll: true });
  };
  const lift = async (bar) => {
    const place = bar.closest("[data-field]");
    const turn = bar.closest(".turn")?.dataset.turn || "0";
    const query = new URLSearchParams({ turn, field: place.dataset.field, at: bar.dataset.m, revision: field("revision").value });
    try {
      const answer = await fetch(`/c/${key}/beneath?${query}`);
      const said = await answer.json();
      if (answer.status === 409) return sayStale(said.say);
      if (!answer.ok) return say(said.say);
      lifted = bar;
      beneath.replaceChildren(made("p", said.text, { dir: "auto" }));
      for (const cause of said.causes) {
        beneath.append(made("small", cause.words));
        if (cause.act) {
          const button = made("button", cause.button, { type: "button" });
          button.addEventListener("click", () => { closeBeneath(); decide(cause.act); });
          beneath.append(button);
        }
      }
      const close = made("button", "Close", { type: "button" });
      close.addEventListener("click", closeBeneath);
      beneath.append(close);
      put(beneath, bar.getBoundingClientRect());
      one("button", beneath).focus({ preventScroll: true });
    } catch { say("The review does not answer."); }
  };
  document.addEventListener("click", (event) => {
    const bar = event.target.closest?.(".cover");
    if (bar && form) { event.preventDefault(); return void lift(bar); }
    if (!beneath.hidden && !beneath.contains(event.target)) closeBeneath();
    const found = event.target.closest?.("mark[data-f]");
    if (found && form) { current = found.dataset.f; mark(); }
  });

  // Keys.
  const turnHere = () => document.activeElement?.closest?.(".turn") || all(".turn").find((turn) => turn.getBoundingClientRect().bottom > 60);
  const move = (selector, by) => {
    const list = all(selector);
    let at = list.findIndex((turn) => turn.contains(document.activeElement));
    if (at < 0) {
      const below = list.findIndex((turn) => turn.getBoundingClientRect().top > 8);
      at = by > 0 ? (below < 0 ? list.length : below) - 1 : (below < 0 ? list.length : below);
    }
    const turn = list[at + by];
    if (!turn) { const link = one(`a[rel=${by > 0 ? "next" : "prev"}]`); if (link) go(link.href); return; }
    turn.tabIndex = -1;
    turn.focus({ preventScroll: true });
    turn.scrollIntoView({ block: "start" });
  };
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") { closeBeneath(); choose.hidden = true; return; }
    if ((event.key === "Enter" || event.key === " ") && event.target.matches?.(".cover")) { event.preventDefault(); return void lift(event.target); }
    if (event.key === "Enter" && event.target.matches?.(".allow input")) { event.preventDefault(); return one("button", event.target.closest(".allow")).click(); }
    const typing = event.target.closest?.("input,textarea,select,[contenteditable]");
    if ((event.ctrlKey || event.metaKey) && !typing && form && event.key.toLowerCase() === "z") { event.preventDefault(); return void decide(event.shiftKey ? "redo" : "undo"); }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing) return;
    if (help?.open && event.key !== "?") return;
    const turn = () => turnHere()?.dataset.turn;
    const act = {
      "?": showHelp,
      "/": () => { const search = one("input[type=search]"); if (search) { search.focus(); search.select(); } else go("/"); },
      j: () => move(".turn,.library li", 1), k: () => move(".turn,.library li", -1),
    }[event.key] || (form && {
      J: () => move(".turn.person", 1), K: () => move(".turn.person", -1),
      n: () => step(1), p: () => step(-1),
      c: () => decideGroup("cover"), a: () => decideGroup("allow"),
      w: () => { const place = current && one(`mark[data-f="${current}"]`)?.closest(".turn"); decide(`withhold ${(place || turnHere()).dataset.turn}`); },
      x: () => decide(one(".switch", turnHere()).value),
      "[": () => decide(`before ${turn()}`), "]": () => decide(`after ${turn()}`),
      u: () => decide("undo"), U: () => decide("redo"),
      o: () => { const details = one("details[data-load]", turnHere()); if (details) details.open = !details.open; },
      h: () => coverChosen("here"), e: () => coverChosen("everywhere"),
      t: () => { const texts = one("#texts"); texts.open = true; one("#title").focus(); },
      v: () => go(`/c/${key}/preview`), P: () => { const link = one("a.button.main", panel()); if (link) go(link.href); else say("Decide what was found first"); },
    }[event.key]);
    if (act) { event.preventDefault(); act(); }
  });
})();
