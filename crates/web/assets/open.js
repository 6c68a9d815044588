/* Opens a conversation that only its link opens. The key stands after the # of the address, which the browser keeps to itself;
   what is decrypted here stays in this page. */
import { xchacha20poly1305 } from "/vendor/noble-ciphers-2.4.0.js";

const place = document.getElementById("opened");
const status = document.getElementById("how");
const made = (name, text, attributes = {}) => {
  const element = document.createElement(name);
  if (text) element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};
const bytes = (base64) => {
  const binary = atob(base64.trim().replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, ""));
  return Uint8Array.from(binary, (c) => c.charCodeAt(0));
};

// Bars as everywhere: exactly three, and no block beside them.
const BAR = /(?<![\u2580-\u259f])\u2588{3}(?![\u2580-\u259f])/gu;
const withBars = (element, text) => {
  let from = 0;
  for (const found of text.matchAll(BAR)) {
    element.append(text.slice(from, found.index), made("span", "[covered by the author]", { class: "bar", title: "covered by the author" }));
    from = found.index + 3;
  }
  element.append(text.slice(from));
};
const words = (said, text) => {
  for (const [n, piece] of text.split(/^```.*$/m).entries()) {
    if (!piece.trim()) continue;
    if (n % 2) {
      const code = made("code", "");
      withBars(code, piece.replace(/^\n/, "").trimEnd());
      const pre = made("pre", "", { tabindex: "0", dir: "ltr" });
      pre.append(code);
      said.append(pre);
    } else for (const paragraph of piece.split(/\n{2,}/)) {
      if (!paragraph.trim()) continue;
      const p = made("p", "", { dir: "auto", class: "lines" });
      withBars(p, paragraph.trim());
      said.append(p);
    }
  }
};
const list = (value) => (Array.isArray(value) ? value : []);
const summary = (call) => {
  try {
    const values = Object.values(JSON.parse(call.arguments || "{}")).filter((v) => typeof v === "string");
    return values.join(", ").split("\n")[0].slice(0, 250);
  } catch { return ""; }
};

const show = (record) => {
  document.querySelector("h1").textContent = record.name || "A conversation without a title";
  document.title = record.name || document.title;
  let last = null;
  for (const turn of list(record.turns)) {
    const failed = new Set(list(turn.messages).filter((m) => m.role === "toolResult" && m.isError === true).map((m) => m.toolCallId));
    for (const message of list(turn.messages)) {
      const person = message.role === "user";
      if (!person && message.role !== "assistant") continue;
      const items = list(message.content);
      const article = made("article", "", { class: `turn ${person ? "person" : "agent"}` });
      const who = made("div", "", { class: "who" });
      const name = person ? "The author" : turn.model && turn.model !== "unknown" ? turn.model : "Agent";
      who.append(made("h2", name, last === name ? { class: "unseen" } : {}));
      last = name;
      const at = new Date(Number(message.timestamp));
      if (!isNaN(at)) who.append(made("time", at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" }), { datetime: at.toISOString() }));
      article.append(who);
      if (items.some((item) => item.type === "withheld")) {
        article.append(made("p", `Off the record. The author held back this ${person ? "message" : "reply"}.`, { class: "off" }));
        place.append(article);
        continue;
      }
      const said = made("div", "", { class: "said" });
      for (const item of items) if (item.type === "text" && typeof item.text === "string") words(said, item.text);
      const calls = items.filter((item) => item.type === "toolCall");
      if (calls.length) {
        const steps = made("ul", "", { class: "steps" });
        for (const call of calls) {
          const bad = failed.has(call.id) && call.id !== undefined;
          const step = made("li", "", bad ? { class: "failed" } : {});
          const what = made("span", "", { dir: "auto" });
          what.append(made("code", String(call.name || "tool"), { class: "t" }), " ");
          withBars(what, summary(call));
          step.append(made("span", bad ? "failed" : "ran", { class: "r" }), what);
          steps.append(step);
        }
        said.append(steps);
      }
      if (!said.childNodes.length) said.append(made("p", "Nothing was said in this turn. It was not held back; it is empty.", { class: "empty" }));
      article.append(said);
      place.append(article);
    }
  }
};

const open = () => {
  place.replaceChildren();
  const [nonce, key] = location.hash.slice(1).split(".");
  if (!key) {
    status.textContent = "This address has no key. Open the whole link, with what follows the #.";
    return;
  }
  try {
    const sealed = bytes(document.getElementById("sealed").textContent);
    const clear = xchacha20poly1305(bytes(key), bytes(nonce)).decrypt(sealed);
    show(JSON.parse(new TextDecoder().decode(clear)));
    status.textContent = "Opened in this browser, with the key of the link. Neither the key nor a word of it was sent anywhere.";
  } catch {
    status.textContent = "This key does not open it: the link is incomplete, or the conversation was published anew since, which gave it a new link.";
  }
};
addEventListener("hashchange", open);
open();
