"use strict";
// Tables are in the page as they are. This finds, pins and sorts models, and browses the
// documents. All that comes from data goes through textContent.
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const FIRST = 15;
const MOST_AT_A_GLANCE = 8; // models that one sees without looking for them
const PAGE = 50;
const NARROW = 920; // pixels, as in the style

/** Make an element; strings among the children become text. */
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null));
  return element;
}

const RULES = ["published", "flexible"];
const SVG = "http://www.w3.org/2000/svg";

/** Make an element of SVG; strings among the children become text. */
function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** The shape of a model, as the tables have it; null for one that has none. */
function swatch(model) {
  const drawn = document.querySelector(`#ranking .swatch.m${data.shapes[model]}`);
  return drawn && drawn.cloneNode(true);
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
      const name = row.querySelector(".model[title], th[title]").title.toLowerCase();
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
    pin.title = "Mark this model in every table";
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
  const tools = document.querySelector(".tools");
  tools.hidden = false;
  tools.classList.toggle("is-long", data.models.length > MOST_AT_A_GLANCE);
  byId("key-pin").hidden = false;
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
let wins = null; // of a pair of models: whose documents are looked for, by which score
const filters = byId("filters");
const wanted = () => Object.fromEntries(new FormData(filters));
const tasksOf = (name) => data.tasks[name] ?? [name];

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
  return (!task || tasksOf(task).includes(doc.task))
    && answers.length > 0
    && (!wins || isWin(doc))
    && (!differ || new Set(doc.answers.map((answer) => answer.scores[differ])).size > 1)
    && haystack(doc).includes(text.trim().toLowerCase());
}

/** Whether the first model of `wins` has the higher score of a document in its part. */
function isWin(doc) {
  const score = (model) => doc.answers.find((answer) => answer.model === model)?.scores[wins.rule];
  return (!wins.by || doc.parts[wins.by] === wins.value)
    && doc.task === wins.task && score(wins.better) > score(wins.worse);
}

/** How a text goes on where it parts from all others of its task. */
const starts = new Map();

function sharedStart(task) {
  if (!starts.has(task)) {
    const prompts = documents.filter((doc) => doc.task === task).map((doc) => plainText(doc.prompt));
    let length = prompts.length > 1 ? prompts[0].length : 0;
    for (const prompt of prompts) {
      while (!prompt.startsWith(prompts[0].slice(0, length))) length -= 1;
    }
    starts.set(task, prompts.length ? prompts[0].slice(0, length).lastIndexOf(" ") + 1 : 0);
  }
  return starts.get(task);
}

function preview(doc) {
  const start = sharedStart(doc.task);
  return `${start ? "… " : ""}${plainText(doc.prompt).slice(start, start + 160)}`;
}

const title = (doc) => `${doc.task} ${doc.id ?? ""}`;
const right = (doc, rule) => doc.answers.filter((answer) => answer.scores[rule] === 1).length;
const mark = (rule) => make("span", { className: rule ? "mark flexible" : "mark" });

function listItem(doc) {
  const n = doc.answers.length;
  const sums = doc.answers[0].scores[0] === null ? null
    : make("span", {}, mark(0), ` ${right(doc, 0)}/${n} `, mark(1), ` ${right(doc, 1)}/${n}`);
  const link = make("a", { href: `#${doc.key}` }, make("b", { textContent: title(doc) }), sums,
    make("span", { className: "cut", textContent: preview(doc) }));
  if (doc === shown) link.setAttribute("aria-current", "true");
  return link;
}

function showList() {
  const start = page * PAGE;
  byId("list").replaceChildren(...found.slice(start, start + PAGE).map(listItem));
  byId("list").scrollTop = 0;
  byId("count").textContent = `${found.length} of ${documents.length} found`;
  byId("back").disabled = page === 0;
  byId("next").disabled = start + PAGE >= found.length;
}

const MARKS = ["", "published", "flexible", "published flexible"];

function showPieces(pieces) {
  if (!pieces.length) {
    return make("p", { className: "text" }, make("span", { className: "note", textContent: "(empty)" }));
  }
  return make("p", { className: "text" }, ...pieces.map((piece) => {
    if (typeof piece === "number") {
      return make("span", { className: "note", textContent: ` [… ${piece.toLocaleString("en")} characters …] ` });
    }
    return piece[0] ? make("mark", { className: MARKS[piece[0]], textContent: piece[1] }) : piece[1];
  }));
}

const INVALID = { no_instruction: "; its prompt lacked the instruction", cut_off: "; cut off" };
const SIGNS = { 0: "✗", 1: "✓" };
const SIGN_CLASSES = { 0: "no", 1: "yes" };
const signOf = (score) => SIGNS[score] ?? (score ?? 0).toFixed(2);

/** What a rule read; a statement that it looked at may have no value. */
function readText(answer, n) {
  const isMarked = answer.response.some((piece) => Array.isArray(piece) && MARKS[piece[0]].includes(RULES[n]));
  return answer.read[n] ?? (isMarked ? "no value of the kind asked for" : "nothing");
}

/** A line for each answer, to read before the texts. */
function showVerdicts(answers) {
  const row = (answer) => make("tr", {},
    make("th", { scope: "row" }, swatch(answer.model), make("bdi", { textContent: data.models[answer.model] })),
    ...answer.scores.map((score) => make("td", { className: SIGN_CLASSES[score] ?? "", textContent: signOf(score) })),
    make("td", {}, make("code", { textContent: readText(answer, 1) })));
  return make("table", { className: "verdicts" },
    make("thead", {}, make("tr", {}, make("th", { textContent: "model" }),
      make("th", {}, mark(0), " published"), make("th", {}, mark(1), " flexible"), make("th", { textContent: "reads" }))),
    make("tbody", {}, ...answers.map(row)));
}

function showAnswer(answer, doc) {
  const why = data.reasons[doc.task][answer.reason];
  const read = RULES.flatMap((rule, n) => [
    make("span", { className: rule }, `${signOf(answer.scores[n])} ${rule} reads`),
    make("code", { textContent: readText(answer, n) }),
  ]);
  return make("div", { className: "answer" },
    make("h3", {}, make("bdi", { textContent: data.models[answer.model] }),
      make("span", { textContent: `${why}${INVALID[answer.invalid] ?? ""}${answer.prompt ? "; to another prompt" : ""}` })),
    make("div", { className: "read" }, ...read), showPieces(answer.response));
}

/** Show a document: the answers that the filters ask for come first. */
function showDocument(doc) {
  shown = doc;
  const { model, reason } = wanted();
  const isLast = (answer) => (model && answer.model !== Number(model)) || (reason && answer.reason !== reason);
  const answers = [...doc.answers].sort((a, b) => Boolean(isLast(a)) - Boolean(isLast(b)));
  const parts = Object.entries(doc.parts).map(([name, value]) => `${name.replaceAll("_", " ")}: ${value}`);
  byId("document").replaceChildren(...[
    make("h3", {}, title(doc), " ", make("a", { className: "note", href: `#${doc.key}`, textContent: "link" })),
    make("p", { className: "note", textContent: parts.join("; ") }),
    make("p", {}, "Reference: ", make("code", { textContent: doc.reference ?? "" })),
    showVerdicts(answers), doc.answers.some((answer) => answer.prompt)
      ? make("p", { className: "note", textContent: "The answers that are marked had another prompt." }) : null,
    showPieces(doc.prompt),
    make("p", { className: "note" }, "In answers: ",
      make("mark", { className: "published", textContent: "where the published rule reads" }), " ",
      make("mark", { className: "flexible", textContent: "where the flexible rule reads" })),
    ...answers.map((answer) => showAnswer(answer, doc)),
  ].filter((child) => child !== null));
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
  const names = tasksOf(task).flatMap((name) => data.files[name] ?? []);
  if (!names.length) return;
  documents = [];
  starts.clear();
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

/** Look for documents of which a model has the higher score; of null, for any. */
function setWins(asked) {
  wins = asked;
  const names = asked && [asked.better, asked.worse].map((model) => data.models[model]);
  byId("wins").hidden = !asked;
  byId("wins").textContent = asked
    ? `${names[0]} above ${names[1]}${asked.value ? `, ${asked.value}` : ""} ✕` : "";
}

/** Show the documents that a picture counts: what is asked for, and all else is open. */
async function showCounted({ task, model = "", reason = "", won = null }) {
  filters.reset();
  setWins(won);
  Object.assign(filters.task, { value: task });
  Object.assign(filters.model, { value: model });
  Object.assign(filters.reason, { value: reason });
  await load(task);
  search();
  // On a narrow page, the document is below the list.
  byId(innerWidth > NARROW ? "documents" : "document").scrollIntoView();
  byId("document").focus({ preventScroll: true });
}

function setUpBars() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-reason]");
    if (!link) return;
    event.preventDefault();
    showCounted(link.dataset);
  });
}

// ------------------------------------------------------------------------ two models

const shorten = (text, longest) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);
const signed = (share) => `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)}`;

/** What a part is called: its value, its task where there are several, or both. */
function partName([task, , value], benchmark) {
  const several = data.tasks[benchmark].length > 1;
  const name = task.replace(`${benchmark}_`, "").replaceAll("_", " ");
  return [several || !value ? name : "", value.replaceAll("_", " ")].filter(Boolean).join(", ");
}

const PAIR = { row: 24, top: 30, few: 10 };

/** What a pair has of each part, turned to the order in which they are shown. */
function partsOfPair(pair, isTurned) {
  return pair.parts.map(([place, first, second, documents, firstMean, secondMean]) => ({
    place,
    counts: isTurned ? [second, first] : [first, second],
    means: isTurned ? [secondMean, firstMean] : [firstMean, secondMean],
    documents,
    isFew: documents < PAIR.few,
  })).sort((x, y) => x.isFew - y.isFew || gap(y) - gap(x));
}

const gap = (part) => Math.abs(part.means[0] - part.means[1]);
const meansText = (part) => part.means.map((mean) => (100 * mean).toFixed(1)).join(" against ");

/** Parts under headings: whole tasks, question types, and those of few rows; without a difference they are left out. */
function blocksOfPair(parts, names) {
  const isType = (part) => names[part.place][2] !== "";
  const blocks = [
    ["by task", parts.filter((part) => !part.isFew && !isType(part))],
    ["by question type", parts.filter((part) => !part.isFew && isType(part))],
    [`of fewer than ${PAIR.few} rows`, parts.filter((part) => part.isFew)],
  ];
  return blocks.map(([title, those]) => [title, those.filter((part) => part.counts[0] + part.counts[1] > 0)])
    .filter(([, those]) => those.length);
}

/** A bar to either side for each part: the share of its documents that one model is better at. */
function pairChart(names, blocks, models, rule, benchmark) {
  const isNarrow = byId("pair-figure").clientWidth < 560;
  const [nameWidth, half, rowHeight] = isNarrow ? [0, 110, 2 * PAIR.row + 10] : [300, 190, PAIR.row];
  const middle = nameWidth + half + 74; // behind a bar stands its count
  const noteAt = middle + half + 84;
  const width = isNarrow ? middle + half + 74 : noteAt + 120;
  const most = Math.max(...blocks.flatMap(([, parts]) => parts.flatMap((part) => part.counts.map((count) => count / part.documents))));
  const lines = blocks.reduce((sum, [, parts]) => sum + PAIR.row + 4 + rowHeight * parts.length, 0);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${PAIR.top + lines + 6}`, class: "pair" });
  const heads = [[0, middle - 6, "end"], [1, middle + 6, "start"]];
  for (const [side, x, anchor] of heads) {
    const text = `${(isNarrow ? data.labels : data.models)[models[side]]} higher`;
    svg.append(draw("text", { x, y: 14, "text-anchor": anchor, class: "head" }, text));
  }
  let y = PAIR.top;
  for (const [title, parts] of blocks) {
    svg.append(draw("text", { x: isNarrow ? 0 : nameWidth - 8, y: y + 16, "text-anchor": isNarrow ? "start" : "end", class: "block" }, title));
    y += PAIR.row + 4;
    for (const part of parts) {
      svg.append(pairRow(part, { y, nameWidth, half, middle, noteAt, most, isNarrow, names, models, rule, benchmark }));
      y += rowHeight;
    }
  }
  svg.append(draw("line", { x1: middle, x2: middle, y1: PAIR.top - 8, y2: y, class: "grid" }));
  return svg;
}

/** The row of a part: its name, two bars with their counts, and the scores. */
function pairRow(part, { y, nameWidth, half, middle, noteAt, most, isNarrow, names, models, rule, benchmark }) {
  const [task, by, value] = names[part.place];
  const label = partName(names[part.place], benchmark);
  const barY = isNarrow ? y + PAIR.row + 6 : y; // below two lines of text
  const scores = `${meansText(part)} %`;
  const row = draw("g", { class: part.isFew ? "few" : "" });
  const place = isNarrow ? { x: 0, y: y + 12 } : { x: nameWidth - 8, y: y + 15, "text-anchor": "end" };
  row.append(draw("text", place, shorten(label, 50)));
  row.append(draw("text", isNarrow ? { x: 0, y: y + 27, class: "score" } : { x: noteAt, y: y + 15 }, scores));
  part.counts.forEach((count, side) => {
    if (!count) return;
    const length = half * (count / part.documents) / most;
    const x = side ? middle : middle - length;
    const link = draw("a", { href: "#documents", class: `side${side} m${data.shapes[models[side]]}`, tabindex: "0" },
      draw("title", {}, `${data.models[models[side]]} has the higher score of ${count} of ${part.documents} documents in ${label}`),
      draw("rect", { x, y: barY + 3, width: length, height: PAIR.row - 7 }),
      draw("text", { x: side ? x + length + 5 : x - 5, y: barY + 15, "text-anchor": side ? "start" : "end" }, `${count} of ${part.documents}`));
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const won = { better: models[side], worse: models[1 - side], rule, task, by, value };
      showCounted({ task, won });
    });
    row.append(link);
  });
  return row;
}

/** What two models differ in most, in words: a question type, or a task where there are no types. */
function mostDifferent(blocks, names, benchmark) {
  const known = blocks.filter(([, parts]) => !parts[0].isFew);
  const order = "Bars are shares of the rows, in the order of the scores’ difference.";
  if (!known.length) return make("p", {}, order);
  const [title, [part]] = known.at(-1);
  const kind = title === "by task" ? "task" : "question type";
  return make("p", {}, `Of at least ${PAIR.few} rows, the ${kind} in which they differ most is `,
    make("b", { textContent: partName(names[part.place], benchmark) }), `: ${meansText(part)} % of ${part.documents} rows. ${order}`);
}

function showPair() {
  const form = byId("pair");
  const { benchmark, first, second, rule } = Object.fromEntries(new FormData(form));
  const models = [Number(first), Number(second)];
  const { parts: names, pairs } = data.pairs[benchmark];
  const isTurned = models[0] > models[1];
  const pair = pairs[[...models].sort((a, b) => a - b).join("-")]?.[rule];
  const figure = byId("pair-figure");
  if (!pair) {
    figure.replaceChildren(make("p", { className: "note", textContent: "These two have no common documents." }));
    return;
  }
  const [value, ...ends] = pair.difference.map((share) => (isTurned ? -share : share));
  const [low, high] = ends.sort((a, b) => a - b);
  const [firstName, secondName] = models.map((model) => make("bdi", { textContent: data.models[model] }));
  const blocks = blocksOfPair(partsOfPair(pair, isTurned), names);
  const isShown = low > 0 || high < 0;
  const words = `${signed(value)} points (95 % interval ${signed(low)} to ${signed(high)}) on ${pair.documents.toLocaleString("en")} documents`;
  const caption = make("figcaption", {}, make("p", {}, firstName, " minus ", secondName,
    `, ${rule}: ${words}. ${isShown ? "The interval is not adjusted for other pairs; ranks are." : "The interval includes 0: no difference is shown."}`));
  if (!blocks.length) {
    figure.replaceChildren(caption, make("p", { className: "note", textContent: "They have the same score of every document." }));
    return;
  }
  caption.append(mostDifferent(blocks, names, benchmark));
  const chart = pairChart(names, blocks, models, RULES.indexOf(rule), benchmark);
  figure.replaceChildren(caption, chart);
  addSave(figure, () => chart);
}

function setUpPair() {
  const form = byId("pair");
  if (!form) return;
  const fill = () => {
    const numbers = data.pairs[form.benchmark.value].models;
    for (const [place, select] of [form.first, form.second].entries()) {
      const options = numbers.map((number) => make("option", { value: number, textContent: data.models[number] }));
      select.replaceChildren(...options);
      select.selectedIndex = Math.min(place, options.length - 1);
    }
  };
  form.addEventListener("input", (event) => {
    if (event.target === form.benchmark) fill();
    showPair();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  fill();
  form.hidden = false;
  showPair();
}

// ------------------------------------------------------------------------ saving

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font", "font-weight", "display"];

/** A picture as a file of its own, with the styles that the page gives it. */
function asFile(svg) {
  const copy = svg.cloneNode(true);
  const copies = [copy, ...copy.querySelectorAll("*")];
  [svg, ...svg.querySelectorAll("*")].forEach((element, number) => {
    const style = getComputedStyle(element);
    for (const name of STYLES) copies[number].setAttribute(name, style.getPropertyValue(name));
  });
  copy.setAttribute("xmlns", SVG);
  const [, , width, height] = svg.getAttribute("viewBox").split(" ");
  const ground = getComputedStyle(document.body).backgroundColor;
  copy.prepend(draw("rect", { width, height, fill: ground }));
  return new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
}

const BARS = { row: 28, name: 200, width: 600 };

/** The bars of a benchmark as one picture: a row for each model shown, and the legend below. */
function barsPicture(bars) {
  const rows = [...bars.querySelectorAll(".row.bar")].filter((bar) => bar.offsetParent);
  const parts = rows.flatMap((bar, number) => {
    let x = BARS.name;
    const name = bar.querySelector(".model bdi").textContent;
    const pieces = [...bar.querySelectorAll(".part")].map((part) => {
      const width = (BARS.width * parseFloat(part.getAttribute("width"))) / 100;
      const piece = part.cloneNode(true);
      for (const [key, value] of Object.entries({ x, y: number * BARS.row, width })) piece.setAttribute(key, value);
      x += width;
      return piece;
    });
    return [draw("text", { x: 4, y: number * BARS.row + 16 }, name), ...pieces];
  });
  let [x, y] = [BARS.name, rows.length * BARS.row + 8];
  const legend = [...bars.previousElementSibling.children].flatMap((entry) => {
    const width = 24 + 7 * entry.textContent.length;
    if (x + width > BARS.name + BARS.width) [x, y] = [BARS.name, y + 18];
    const mark = draw("g", { class: `part ${entry.querySelector("i").className}` }, draw("rect", { x, y, width: 12, height: 12 }));
    const word = draw("text", { x: x + 16, y: y + 10 }, entry.textContent);
    x += width;
    return [mark, word];
  });
  return draw("svg", { viewBox: `0 0 ${BARS.name + BARS.width + 4} ${y + 18}` }, ...parts, ...legend);
}

/** Add a button that saves a picture of a figure; one that is not on the page is put there for its styles. */
function addSave(figure, picture) {
  const button = make("button", { type: "button", className: "save", textContent: "Save as SVG" });
  button.addEventListener("click", () => {
    const svg = picture();
    const isOnPage = svg.isConnected;
    if (!isOnPage) figure.append(svg);
    const link = make("a", { href: URL.createObjectURL(asFile(svg)), download: "figure.svg" });
    if (!isOnPage) svg.remove();
    link.click();
    URL.revokeObjectURL(link.href);
  });
  figure.append(button);
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
  byId("wins").addEventListener("click", () => { setWins(null); search(); });
  for (const [id, step] of [["back", -1], ["next", 1]]) {
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
setUpBars();
setUpPair();
all("figure.panel").forEach((panel) => addSave(panel, () => panel.querySelector("svg")));
all(".bars").forEach((bars) => addSave(bars, () => barsPicture(bars)));
setUpDocuments();
