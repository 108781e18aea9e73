"use strict";
// Tables are in the page as they are. This sorts them, shows one score at a time, and
// browses the documents. All that comes from data goes through textContent.

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const PAGE = 50;
const RULES = ["published", "flexible"];

/** Make an element; strings among the children become text. */
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null));
  return element;
}

// ------------------------------------------------------------------------- theme

function setUpTheme() {
  const button = byId("theme");
  const root = document.documentElement;
  const preference = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (preference.matches ? "dark" : "light")) === "dark";
  const label = () => { button.textContent = isDark() ? "Light theme" : "Dark theme"; };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
  });
  preference.addEventListener("change", label);
  label();
  button.hidden = false;
}

// ------------------------------------------------------------------------ tables

function cellValue(row, column) {
  const cell = row.cells[column];
  const value = cell.dataset.value;
  if (value === undefined) return cell.textContent.trim();
  return value === "" ? null : Number.parseFloat(value);
}

function compareValues(a, b) {
  return typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
}

const isUnranked = (element) => element.classList.contains("unranked");

/** Sort a table by a column; rows without a value, and models without a rank, come last. */
function sortTable(table, column, isDescending) {
  const body = table.tBodies[0];
  const keyed = [...body.rows].map((row) => [row, cellValue(row, column)]);
  const isLast = ([row, value]) => Number(value === null || isUnranked(row) || isUnranked(row.cells[column]));
  keyed.sort((a, b) => {
    const last = isLast(a) - isLast(b);
    if (last || a[1] === null || b[1] === null) return last;
    return compareValues(a[1], b[1]) * (isDescending ? -1 : 1);
  });
  body.append(...keyed.map(([row]) => row));
}

function setUpSorting(table) {
  const head = table.tHead.rows[table.tHead.rows.length - 1];
  for (const header of head.cells) {
    const button = header.querySelector(".sort");
    button?.addEventListener("click", () => {
      const sample = cellValue(table.tBodies[0].rows[0], header.cellIndex);
      const isRank = button.textContent === "rank";
      const before = header.getAttribute("aria-sort");
      const isText = typeof sample === "string";
      const first = header.dataset.first ?? (isText || isRank ? "ascending" : "descending");
      const other = first === "ascending" ? "descending" : "ascending";
      const order = before === first ? other : first;
      for (const cell of head.cells) cell.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", order);
      sortTable(table, header.cellIndex, order === "descending");
    });
  }
}

// ------------------------------------------------------------- one score at a time

function showScope(name) {
  for (const section of document.querySelectorAll(".scope")) {
    section.hidden = section.dataset.scope !== name;
  }
  byId("scope").value = name;
}

function setUpScopes() {
  const select = byId("scope");
  select.addEventListener("change", () => showScope(select.value));
  byId("scope-label").hidden = false;
  showScope(select.options[0].value);
}

// --------------------------------------------------------------- finding documents

const plainText = (pieces) => pieces
  .map((piece) => (typeof piece === "number" ? " … " : piece[1]))
  .join("");

/** What a search looks in, and its lower case; made when it is first asked for. */
function searched(doc) {
  doc.haystack ??= [
    `${doc.task} ${doc.id ?? ""}`,
    plainText(doc.prompt),
    doc.reference ?? "",
    ...doc.answers.map((answer) => plainText(answer.response)),
  ].join("\n");
  doc.lowered ??= doc.haystack.toLowerCase();
  return doc;
}

const isRight = (answer, rule) => answer.scores[rule] === 1;

function answerMatches(answer, wanted) {
  const verdict = (rule) => (isRight(answer, rule) ? "right" : "wrong");
  return (wanted.model === "" || answer.model === Number(wanted.model))
    && (wanted.reason === "" || answer.reason === wanted.reason)
    && RULES.every((rule, n) => wanted[rule] === "" || verdict(n) === wanted[rule]);
}

function documentMatches(doc, wanted) {
  if (wanted.task !== "" && doc.task !== wanted.task) return false;
  if (wanted.changed !== "") {
    const verdicts = new Set(doc.answers.map((answer) => isRight(answer, Number(wanted.changed))));
    if (verdicts.size < 2) return false;
  }
  if (!doc.answers.some((answer) => answerMatches(answer, wanted))) return false;
  return wanted.query === "" || searched(doc).lowered.includes(wanted.query);
}

function filters() {
  const wanted = { query: byId("query").value.trim().toLowerCase() };
  for (const name of ["model", "task", "reason", "changed", ...RULES]) {
    wanted[name] = byId(`filter-${name}`).value;
  }
  return wanted;
}

const state = { found: [], page: 0, shown: null };

const title = (doc) => `${doc.task} ${doc.id ?? `#${data.documents.indexOf(doc) + 1}`}`;

function snippet(doc, query) {
  const text = query ? searched(doc).haystack : plainText(doc.prompt);
  const at = query ? Math.max(0, text.toLowerCase().indexOf(query) - 30) : 0;
  return text.slice(at, at + 160);
}

function sums(doc, model) {
  if (model !== "") {
    const answer = doc.answers.find((one) => one.model === Number(model));
    return answer.reason.replaceAll("_", " ");
  }
  const right = (rule) => doc.answers.filter((answer) => isRight(answer, rule)).length;
  const n = doc.answers.length;
  return doc.answers[0].scores[0] === null ? "" : `published ${right(0)}/${n}, flexible ${right(1)}/${n}`;
}

function listItem(number, wanted) {
  const doc = data.documents[number];
  const link = make("a", { href: `#document-${number}` },
    make("span", { className: "name", textContent: title(doc) }),
    make("span", { className: "sums", textContent: sums(doc, wanted.model) }),
    make("span", { className: "snippet", textContent: snippet(doc, wanted.query) }));
  if (number === state.shown) link.setAttribute("aria-current", "true");
  return make("li", {}, link);
}

function showList() {
  const wanted = filters();
  const start = state.page * PAGE;
  const page = state.found.slice(start, start + PAGE);
  byId("list").replaceChildren(...page.map((number) => listItem(number, wanted)));
  byId("list").scrollTop = 0;
  const range = state.found.length > PAGE ? `; ${start + 1} to ${start + page.length}` : "";
  byId("count").textContent = `${state.found.length} of ${data.documents.length} found${range}`;
  byId("page-back").disabled = state.page === 0;
  byId("page-on").disabled = start + PAGE >= state.found.length;
  byId("pages").hidden = state.found.length <= PAGE;
}

function search() {
  const wanted = filters();
  state.found = data.documents.flatMap((doc, number) => (documentMatches(doc, wanted) ? [number] : []));
  state.page = 0;
  showList();
}

function turnPage(step) {
  state.page += step;
  showList();
  byId("list").focus();
}

// --------------------------------------------------------------- showing a document

const MARKS = ["", "published", "flexible", "published flexible"];

function showPieces(pieces, className) {
  const nodes = pieces.map((piece) => {
    if (typeof piece === "number") {
      return make("span", { className: "cut", textContent: ` … ${piece.toLocaleString("en")} characters … ` });
    }
    const [mark, text] = piece;
    return mark ? make("mark", { className: MARKS[mark], textContent: text }) : text;
  });
  return make("pre", { className: `text ${className}` }, ...nodes);
}

const scoreWord = (score) => ({ 0: "wrong", 1: "right" }[score] ?? score.toFixed(4));

function verdict(answer, family) {
  const words = data.reasons[family][answer.reason];
  const others = Object.entries(answer.others)
    .map(([metric, score]) => `${metric.replaceAll("_", " ")} ${score.toFixed(4)}`);
  const headline = answer.scores[0] === null ? others
    : RULES.map((rule, n) => `${rule} ${scoreWord(answer.scores[n])}`);
  const invalid = { no_instruction: "; its prompt lacked the instruction", cut_off: "; cut off" };
  return make("p", { className: "verdict" },
    make("b", { textContent: headline.join(", ") }), `: ${words}${invalid[answer.invalid] ?? ""}`,
    headline === others || !others.length ? null
      : make("span", { className: "others", textContent: others.join(", ") }));
}

function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined);
  return make("dl", { className: "facts" }, ...known.flatMap(([name, value]) => [
    make("dt", { textContent: name }), make("dd", {}, make("code", { textContent: value })),
  ]));
}

function answerSection(answer, doc) {
  return make("section", { className: "answer" },
    make("h4", {}, make("bdi", { textContent: data.models[answer.model] })),
    verdict(answer, data.families[doc.task]),
    facts([["published reads", answer.read[0]], ["flexible reads", answer.read[1]], ["as the value", answer.value]]),
    showPieces(answer.response, "response"));
}

function documentHeader(number) {
  const at = state.found.indexOf(number);
  const step = (text, by) => {
    const target = at < 0 ? undefined : state.found[at + by];
    return make("button", {
      type: "button",
      textContent: text,
      disabled: target === undefined,
      onclick: () => { location.hash = `document-${target}`; },
    });
  };
  return make("header", {},
    make("h3", { textContent: title(data.documents[number]) }),
    make("div", { className: "pager" }, step("Previous", -1), step("Next", 1)));
}

function showDocument(number) {
  const doc = data.documents[number];
  state.shown = number;
  const model = byId("filter-model").value;
  const first = (answer) => Number(model !== "" && answer.model !== Number(model));
  const answers = [...doc.answers].sort((a, b) => first(a) - first(b));
  const prompt = showPieces(doc.prompt, "prompt");
  prompt.tabIndex = 0;
  byId("document").replaceChildren(
    documentHeader(number),
    facts([...Object.entries(doc.parts).map(([name, value]) => [name.replaceAll("_", " "), value]),
      ["reference", doc.reference]]),
    make("h4", { textContent: "Prompt" }), prompt,
    make("p", { className: "note" }, "In responses: ",
      make("mark", { className: "published", textContent: "published answer" }), " ",
      make("mark", { className: "flexible", textContent: "flexible answer" })),
    ...answers.map((answer) => answerSection(answer, doc)),
  );
  for (const link of byId("list").querySelectorAll("a")) {
    if (link.hash === `#document-${number}`) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

function setUpBrowser() {
  const tasks = [...new Set(data.documents.map((doc) => doc.task))].sort();
  byId("filter-task").append(...tasks.map((task) => make("option", { value: task, textContent: task })));
  const reasons = new Set(Object.values(data.reasons).flatMap(Object.keys));
  byId("filter-reason").append(...[...reasons].map((reason) => make("option", { value: reason, textContent: reason.replaceAll("_", " ") })));
  const form = byId("filters");
  form.addEventListener("input", search);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(search));
  byId("page-back").addEventListener("click", () => turnPage(-1));
  byId("page-on").addEventListener("click", () => turnPage(1));
  form.hidden = false;
  byId("browser").hidden = false;
  search();
}

// ------------------------------------------------------------------ where links lead

function followHash() {
  const [, kind, name] = /^#(document|score)-(.+)$/.exec(location.hash) ?? [];
  if (kind === "document" && data.documents[Number(name)]) {
    showDocument(Number(name));
    byId("document").focus({ preventScroll: true });
    byId("document").scrollIntoView();
  } else if (kind === "score" && byId(`score-${name}`)) {
    showScope(name);
    byId("scores").scrollIntoView();
    byId("scope").focus({ preventScroll: true });
  }
}

setUpTheme();
for (const table of document.querySelectorAll(".sortable")) setUpSorting(table);
setUpScopes();
setUpBrowser();
if (data.documents.length) showDocument(0);
followHash();
addEventListener("hashchange", followHash);
