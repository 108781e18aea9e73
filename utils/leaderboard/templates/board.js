"use strict";
// Tables are in the page as they are. This finds, pins and sorts models, and browses the
// documents. All that comes from data goes through textContent.
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const FIRST = 15;
const PAGE = 50;

/** Make an element; strings among the children become text. */
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null));
  return element;
}

// ------------------------------------------------------------------------ models

const pinned = new Set();

function showModels() {
  const mode = document.querySelector("[name=show]:checked").value;
  const words = byId("find").value.trim().toLowerCase();
  let count = 0;
  for (const group of all(".filtered")) {
    const places = new Map();
    for (const row of all(".row", group)) {
      const id = row.dataset.m;
      if (!places.has(id)) places.set(id, places.size);
      const isPinned = pinned.has(id);
      const name = row.querySelector("[title]").title.toLowerCase();
      const isWhole = group.classList.contains("whole") || mode === "all";
      const isFirst = mode === "top" && places.get(id) < FIRST;
      row.hidden = !(isPinned || (words ? name.includes(words) : isWhole || isFirst));
      row.classList.toggle("is-pinned", isPinned);
      if (group.id === "ranking") {
        count += !row.hidden;
        if (row.hidden) row.querySelector(".open").checked = false;
        if (row.nextElementSibling.matches(".why")) row.nextElementSibling.hidden = row.hidden;
      }
    }
  }
  byId("shown").textContent = words ? `${count} found` : "";
}

function setUpModels() {
  for (const row of all("#ranking .row")) {
    const pin = make("button", { type: "button", className: "pin", textContent: "☆" });
    pin.setAttribute("aria-label", `Pin ${row.querySelector(".model").title}`);
    pin.setAttribute("aria-pressed", "false");
    pin.addEventListener("click", () => {
      const id = row.dataset.m;
      if (!pinned.delete(id)) pinned.add(id);
      pin.setAttribute("aria-pressed", pinned.has(id));
      pin.textContent = pinned.has(id) ? "★" : "☆";
      showModels();
    });
    row.querySelector(".open").after(pin);
  }
  byId("find").addEventListener("input", showModels);
  all("[name=show]").forEach((radio) => radio.addEventListener("change", showModels));
  document.querySelector(".tools").hidden = false;
  showModels();
}

/** What the pointer is on is marked in every table. */
function setUpHighlight() {
  let hot = "";
  document.addEventListener("pointerover", (event) => {
    const id = event.target.closest?.("[data-m]")?.dataset.m ?? "";
    if (id === hot) return;
    all(".is-hot").forEach((row) => row.classList.remove("is-hot"));
    if (id) all(`.row[data-m="${id}"]`).forEach((row) => row.classList.add("is-hot"));
    hot = id;
  });
}

const cellValue = (cell) => {
  const value = parseFloat((cell.dataset.v ?? cell.textContent).replace("−", "-"));
  return Number.isNaN(value) ? null : value;
};

/** Sort each body of a table by a column; what follows a row goes with it. */
function sort(header, column) {
  const table = header.closest("table");
  const isUp = header.ariaSort ? header.ariaSort === "descending" : header.dataset.sort === "up";
  all("[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
  header.setAttribute("aria-sort", isUp ? "ascending" : "descending");
  for (const body of table.tBodies) {
    const rows = [];
    for (const row of body.rows) {
      if (row.matches(".row")) rows.push([row]);
      else rows.at(-1)?.push(row);
    }
    const values = new Map(rows.map((group) => [group, cellValue(group[0].cells[column])]));
    rows.sort((a, b) => {
      const [x, y] = [values.get(a), values.get(b)];
      if (x === null || y === null) return (x === null) - (y === null);
      return (isUp ? 1 : -1) * (x - y);
    });
    body.append(...rows.flat());
  }
  showModels();
}

function setUpSorting() {
  for (const header of all("th[data-sort]")) {
    const button = make("button", { type: "button", className: "sort" });
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => sort(header, header.cellIndex));
  }
}

// --------------------------------------------------------------------- documents

let documents = [];
let found = [];
let page = 0;
let shown = null;
const filters = byId("filters");
const wanted = () => Object.fromEntries(new FormData(filters));

/** What a file of documents calls. */
function addDocuments(more) {
  documents.push(...more);
}

const plainText = (pieces) => pieces
  .map((piece) => (typeof piece === "number" ? " … " : piece[1]))
  .join("");

/** What a search looks in; made when it is first asked for. */
function haystack(doc) {
  doc.haystack ??= [`${doc.task} ${doc.id ?? ""}`, plainText(doc.prompt), doc.reference ?? "",
    ...doc.answers.map((answer) => plainText(answer.response))].join("\n").toLowerCase();
  return doc.haystack;
}

function fits(doc, { text, task, model, reason, differ }) {
  const answers = doc.answers.filter((answer) => (!model || answer.model === Number(model))
    && (!reason || answer.reason === reason));
  return (!task || doc.task === task)
    && answers.length > 0
    && (!differ || new Set(doc.answers.map((answer) => answer.scores[differ])).size > 1)
    && haystack(doc).includes(text.trim().toLowerCase());
}

const title = (doc) => `${doc.task} ${doc.id ?? ""}`;
const right = (doc, rule) => doc.answers.filter((answer) => answer.scores[rule] === 1).length;
const mark = (rule) => make("span", { className: rule ? "mark flexible" : "mark" });

function listItem(doc) {
  const n = doc.answers.length;
  const sums = doc.answers[0].scores[0] === null ? null
    : make("span", {}, mark(0), ` ${right(doc, 0)}/${n} `, mark(1), ` ${right(doc, 1)}/${n}`);
  const link = make("a", { href: `#${doc.key}` }, make("b", { textContent: title(doc) }), sums,
    make("span", { className: "cut", textContent: plainText(doc.prompt).slice(0, 160) }));
  if (doc === shown) link.setAttribute("aria-current", "true");
  return link;
}

function showList() {
  const start = page * PAGE;
  byId("list").replaceChildren(...found.slice(start, start + PAGE).map(listItem));
  byId("list").scrollTop = 0;
  byId("count").textContent = `${found.length} of ${documents.length}`;
  byId("back").disabled = page === 0;
  byId("on").disabled = start + PAGE >= found.length;
}

const MARKS = ["", "published", "flexible", "published flexible"];

function showPieces(pieces) {
  return make("p", { className: "text" }, ...pieces.map((piece) => {
    if (typeof piece === "number") {
      return make("span", { className: "note", textContent: ` [… ${piece.toLocaleString("en")} characters …] ` });
    }
    return piece[0] ? make("mark", { className: MARKS[piece[0]], textContent: piece[1] }) : piece[1];
  }));
}

const INVALID = { no_instruction: "; its prompt lacked the instruction", cut_off: "; cut off" };
const SIGNS = { 0: "✗", 1: "✓" };

function showAnswer(answer, doc) {
  const why = data.reasons[doc.task][answer.reason];
  const read = ["published", "flexible"].flatMap((rule, n) => [
    make("span", { className: rule }, `${SIGNS[answer.scores[n]] ?? (answer.scores[n] ?? 0).toFixed(2)} ${rule} reads`),
    make("code", { textContent: answer.read[n] ?? "nothing" }),
  ]);
  return make("div", { className: "answer" },
    make("h3", {}, make("bdi", { textContent: data.models[answer.model] }),
      make("span", { textContent: `${why}${INVALID[answer.invalid] ?? ""}` })),
    make("div", { className: "read" }, ...read), showPieces(answer.response));
}

/** Show a document: the answers that the filters ask for come first. */
function showDocument(doc) {
  shown = doc;
  const { model, reason } = wanted();
  const isLast = (answer) => (model && answer.model !== Number(model)) || (reason && answer.reason !== reason);
  const answers = [...doc.answers].sort((a, b) => Boolean(isLast(a)) - Boolean(isLast(b)));
  const parts = Object.entries(doc.parts).map(([name, value]) => `${name.replaceAll("_", " ")}: ${value}`);
  byId("document").replaceChildren(
    make("h3", {}, title(doc), " ", make("a", { className: "note", href: `#${doc.key}`, textContent: "link" })),
    make("p", { className: "note", textContent: parts.join("; ") }), showPieces(doc.prompt),
    make("p", {}, "Reference: ", make("code", { textContent: doc.reference ?? "" }), ". In answers: ",
      make("mark", { className: "published", textContent: "published rule reads" }), " ",
      make("mark", { className: "flexible", textContent: "flexible rule reads" })),
    ...answers.map((answer) => showAnswer(answer, doc)),
  );
  byId("document").scrollTop = 0;
  showList();
}

/** Find documents; what is shown is always one of those found. */
function search() {
  const asked = wanted();
  found = documents.filter((doc) => fits(doc, asked));
  page = 0;
  if (!found.length) {
    shown = null;
    byId("document").replaceChildren();
    showList();
  } else showDocument(found.includes(shown) ? shown : found[0]);
}

/** Load the files of a task, where documents stand beside the page. */
async function load(task) {
  const names = data.files[task];
  if (!names) return;
  documents = [];
  for (const name of names) {
    await new Promise((resolve) => {
      const script = make("script", { src: name, onload: resolve, onerror: resolve });
      document.head.append(script);
    });
  }
}

async function followHash() {
  const key = decodeURIComponent(location.hash.slice(1));
  const task = Object.keys(data.files).find((name) => key.startsWith(`${name}-`));
  if (task && filters.task.value !== task) {
    filters.task.value = task;
    await load(task);
    search();
  }
  const doc = documents.find((one) => one.key === key);
  if (!doc) return;
  if (!found.includes(doc)) {
    filters.reset();
    if (task) filters.task.value = task;
    search();
  }
  page = Math.floor(found.indexOf(doc) / PAGE);
  showDocument(doc);
  byId("document").focus({ preventScroll: true });
  byId("documents").scrollIntoView();
}

async function setUpDocuments() {
  documents = data.documents;
  const reasons = new Set(Object.values(data.reasons).flatMap(Object.keys));
  filters.reason.append(...[...reasons].map((reason) => make("option", { value: reason, textContent: reason.replaceAll("_", " ") })));
  filters.addEventListener("input", async (event) => {
    if (event.target.name === "task") await load(event.target.value);
    search();
  });
  filters.addEventListener("submit", (event) => event.preventDefault());
  for (const [id, step] of [["back", -1], ["on", 1]]) {
    byId(id).addEventListener("click", () => { page += step; showList(); });
  }
  filters.hidden = false;
  byId("browser").hidden = false;
  await load(filters.task.value);
  search();
  await followHash();
  addEventListener("hashchange", followHash);
}

setUpModels();
setUpHighlight();
setUpSorting();
setUpDocuments();
