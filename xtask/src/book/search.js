// Searches the manual: a field above the contents, results above the page. Everything happens on the reader's machine, in
// pages that were opened as files, too.
(function () {
  "use strict";
  const MOST = 40;
  const nav = document.querySelector("nav");
  const main = document.querySelector("main");
  const form = document.createElement("form");
  form.setAttribute("role", "search");
  form.action = "index.html";
  const field = document.createElement("input");
  field.type = "search";
  field.name = "q";
  field.placeholder = "Search ( / )";
  field.setAttribute("aria-label", "Search the manual");
  field.autocomplete = "off";
  form.append(field);
  nav.querySelector(".name").after(form);
  const found = document.createElement("section");
  found.id = "found";
  found.hidden = true;
  found.setAttribute("aria-live", "polite");
  main.prepend(found);

  // The index is fetched when somebody wants to search.
  let wanted = false;
  function fetch() {
    if (wanted) return;
    wanted = true;
    const script = document.createElement("script");
    script.src = "sections.js";
    script.onload = search;
    document.head.append(script);
  }

  const count = (text, word) => text.split(word).length - 1;

  // How well a section fits; 0 when a word is missing.
  function fit([, title, heading, text], words) {
    const [t, h, x] = [title, heading, text].map((s) => s.toLowerCase());
    let sum = 0;
    for (const word of words) {
      const points = 20 * count(h, word) + 10 * count(t, word) + Math.min(count(x, word), 9);
      if (points === 0) return 0;
      sum += points;
    }
    return sum;
  }

  // Text around the first word, with every word marked.
  function excerpt(text, words) {
    const lower = text.toLowerCase();
    const first = Math.min(...words.map((w) => lower.indexOf(w)).filter((at) => at >= 0), text.length);
    const from = first < 60 ? 0 : text.indexOf(" ", first - 60) + 1;
    const part = (from > 0 ? "\u2026 " : "") + text.slice(from, from + 220) + (text.length > from + 220 ? " \u2026" : "");
    const line = document.createElement("p");
    const pattern = new RegExp("(" + words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|") + ")", "gi");
    part.split(pattern).forEach((piece, n) => {
      if (n % 2 === 0) return line.append(piece);
      const mark = document.createElement("mark");
      mark.textContent = piece;
      line.append(mark);
    });
    return line;
  }

  function search() {
    const words = field.value.toLowerCase().split(/\s+/).filter((w) => w.length > 1);
    found.replaceChildren();
    found.hidden = words.length === 0 || !window.SECTIONS;
    if (found.hidden) return;
    const hits = window.SECTIONS.map((s) => [fit(s, words), s]).filter(([n]) => n > 0).sort((a, b) => b[0] - a[0]);
    const head = document.createElement("h2");
    head.textContent = hits.length === 1 ? "1 section" : hits.length + " sections";
    found.append(head);
    for (const [, [place, title, heading, text]] of hits.slice(0, MOST)) {
      const link = document.createElement("a");
      link.href = place;
      link.textContent = heading ? title + " \u203a " + heading : title;
      found.append(link, excerpt(text, words));
    }
  }

  field.addEventListener("focus", fetch);
  field.addEventListener("input", search);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = found.querySelector("a");
    if (first) location.href = first.href;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape") {
      field.value = "";
      search();
    }
  });
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) {
    field.value = asked;
    fetch();
  }
})();
