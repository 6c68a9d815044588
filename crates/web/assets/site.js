/* What a page can do beyond being read: times in the reader's zone, links and words to copy, keys, and the record a turn is
   about, when asked for. Without it nothing is missing from the page. */
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

  // What just happened, for eyes and ears.
  const status = made("p", "", { id: "status", role: "status" });
  document.body.append(status);
  let fading;
  const say = (text) => {
    status.textContent = text;
    clearTimeout(fading);
    fading = setTimeout(() => { status.textContent = ""; }, 3000);
  };

  // Times.
  const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" });
  const read = (text) => { const date = new Date(text); return isNaN(date) ? null : date; };
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  let before = null;
  for (const time of all("time[datetime]")) {
    const at = read(time.dateTime);
    if (!at) continue;
    time.title = time.dateTime;
    if (time.dataset.until) {
      const end = read(time.dataset.until) || at;
      let text = `${day.format(at)}, ${clock.format(at)}`;
      if (day.format(end) !== day.format(at)) text += ` to ${day.format(end)}, ${clock.format(end)}`;
      else if (end - at >= 60000) text += ` to ${clock.format(end)}`;
      time.textContent = text;
      before = at;
    } else if (time.closest(".turn .who")) {
      const alone = !time.closest(".turns").dataset.path.length || !one(".when");
      const fresh = before ? day.format(before) !== day.format(at) : alone;
      time.textContent = fresh ? `${day.format(at)}, ${clock.format(at)}` : clock.format(at);
      before = at;
    } else if (time.closest(".turn .off")) time.textContent = clock.format(at);
    else if (time.closest(".entry")) time.textContent = day.format(at);
    else time.textContent = `${day.format(at)}, ${clock.format(at)}`;
  }
  const note = one(".zone");
  if (note && zone && zone !== "UTC") note.textContent = `Times are in your time zone, ${zone.replaceAll("_", " ")}.`;

  // Links and words to copy.
  const copy = async (text, what) => {
    try { await navigator.clipboard.writeText(text); say(`${what} copied`); } catch { say("The browser does not let this page copy"); }
  };
  const turns = one(".turns[data-path]");
  const path = turns ? turns.dataset.path : "";
  const words = (turn) => {
    const said = one(".said", turn)?.cloneNode(true) || one(".off", turn).cloneNode(true);
    for (const fold of all("summary", said)) fold.remove();
    return said.innerText.trim();
  };
  if (path) {
    for (const turn of all(".turn", turns)) {
      const who = one(".who", turn);
      const name = one("h2", who)?.textContent || "this turn";
      const link = made("button", "link", { type: "button", class: "copy", "aria-label": `Copy a link to what ${name} said` });
      link.addEventListener("click", () => copy(new URL(`${path}/${turn.id}`, location.href).href, "Link"));
      const text = made("button", "text", { type: "button", class: "copy", "aria-label": `Copy the text of what ${name} said` });
      text.addEventListener("click", () => copy(words(turn), "Text"));
      const tools = made("span", "", { class: "copies" });
      tools.append(link, text);
      who.append(tools);
    }
  }
  for (const command of all("code.command")) {
    const button = made("button", "copy", { type: "button", class: "copy", "aria-label": "Copy the command" });
    button.addEventListener("click", () => copy(command.textContent, "Command"));
    command.after(" ", button);
  }

  // The record a turn is about, as it is now.
  for (const look of all("a.look")) {
    look.addEventListener("click", async (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      if (look.dataset.busy) return;
      look.dataset.busy = "1";
      look.textContent = "Looking…";
      try {
        const answer = await fetch(`${look.getAttribute("href")}.json`);
        const now = await answer.json();
        if (!now.status) throw new Error(now.message);
        const said = { same: "the same", changed: "changed since", deleted: "deleted since", unreachable: "could not be fetched" };
        const line = made("p", "");
        line.append(made("b", said[now.status] || now.status), ` ${now.meaning}`);
        line.className = now.status;
        const place = look.closest(".ref");
        if (now.text) {
          const quote = made("blockquote", "", { class: "now", dir: "auto" });
          quote.append(made("p", now.text));
          place.append(line, quote);
        } else place.append(line);
        look.replaceWith(made("a", "See it where it stands", { href: now.link, rel: "nofollow ugc noopener noreferrer" }));
      } catch {
        location.href = look.href;
      }
    });
  }

  // Whether the author signed this, checked by the site now.
  for (const badge of all("a.badge.verify")) {
    badge.addEventListener("click", async (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey || badge.dataset.busy) return;
      event.preventDefault();
      badge.dataset.busy = "1";
      badge.textContent = "Checking…";
      try {
        const found = await (await fetch(`${badge.getAttribute("href")}.json`)).json();
        if (!("authentic" in found)) throw new Error(found.message);
        const others = found.shown.others.length;
        const [look, words] = others ? ["changed", `Signed; ${others === 1 ? "1 record has" : `${others} records have`} changed since`]
          : found.ok ? ["good", "Signed by the author"]
          : found.authentic ? ["changed", "Signed by the author, with faults"] : ["bad", "Not proven to be the author's"];
        badge.className = `badge verify ${look}`;
        badge.textContent = words;
        say(words);
      } catch {
        location.href = badge.href;
      }
    });
  }

  // Printed, everything is in sight.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details:not([open])");
    for (const fold of closed) fold.open = true;
  });
  addEventListener("afterprint", () => { for (const fold of closed) fold.open = false; });

  // Keys.
  const KEYS = [
    ["j", "the next turn"], ["k", "the turn before"], ["J", "what a person says next"], ["K", "what a person said before"],
    ["n", "the next page"], ["p", "the page before"], ["/", "search"], ["?", "these keys"],
  ];
  let help;
  const showHelp = () => {
    if (!help) {
      help = made("dialog", "", { "aria-labelledby": "keys" });
      const list = made("dl", "");
      for (const [key, what] of KEYS) {
        const row = made("div", "");
        const name = made("dt", "");
        name.append(made("kbd", key));
        row.append(name, made("dd", what));
        list.append(row);
      }
      const close = made("form", "", { method: "dialog" });
      close.append(made("button", "Close"));
      help.append(made("h2", "Keys", { id: "keys" }), list, close);
      document.body.append(help);
    }
    if (help.open) help.close(); else help.showModal();
  };
  const move = (selector, by) => {
    const list = all(selector);
    const here = list.findIndex((turn) => turn.contains(document.activeElement));
    let at = here + by;
    if (here < 0) {
      // From where the reader is on the page.
      const below = list.findIndex((turn) => turn.getBoundingClientRect().top > 8);
      at = by > 0 ? (below < 0 ? list.length : below) : (below < 0 ? list.length : below) - 1;
      if (by < 0 && list[at] && list[at].getBoundingClientRect().top > -8) at -= 1;
    }
    const turn = list[at];
    if (!turn) return follow(by > 0 ? "next" : "prev");
    turn.tabIndex = -1;
    turn.focus({ preventScroll: true });
    turn.scrollIntoView({ block: "start" });
  };
  const follow = (rel) => { const link = one(`a[rel=${rel}]`); if (link) location.href = link.href; };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest?.("input,textarea,select,[contenteditable]")) return;
    if (help?.open && event.key !== "?") return;
    const act = {
      j: () => move(".turn,.entry", 1), k: () => move(".turn,.entry", -1),
      J: () => move(".turn.person", 1), K: () => move(".turn.person", -1),
      n: () => follow("next"), p: () => follow("prev"),
      "?": showHelp,
      "/": () => { const field = one("input[type=search]"); if (field) { field.focus(); field.select(); } else location.href = "/search"; },
    }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
})();
