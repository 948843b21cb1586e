"use strict";
// The explorer: asks this server for plans and draws them. Text only ever enters the page as text nodes.

const WORDS = {
  en: {
    subtitle: "plan explorer", toQuestion: "To the question", question: "What do you want to find out?", plan: "Plan",
    hint: "Enter plans, Shift + Enter starts a new line, / comes back here.", mode: "Mode", fast: "Fast", deep: "Deep",
    comprehensive: "Comprehensive", languages: "Languages", all: "All", zhOnly: "Chinese only", enOnly: "English only",
    mixed: "Mixed", recency: "Recency", any: "Any time", d7: "7 days", d30: "30 days", d90: "90 days",
    compare: "Compare with the model", more: "More limits", prefer: "Prefer channels", skip: "Leave out channels",
    maxChannels: "Channels, at most", maxGroups: "Groups, at most", maxCost: "Cost, at most (USD)",
    budget: "Searches in total", examples: "For example", copyLink: "Copy link", copyJson: "Copy as JSON",
    copied: "Copied", picked: "Channels to search", heuristic: "Heuristic", model: "Model", next: "The next ones",
    nextLede: "What came closest, and what kept it out.", groups: "Groups", groupsLede: "Where those channels live.",
    changed: "What enforcement changed", unchanged: "Nothing had to be changed.", warnings: "Warnings",
    removed: "Left out", sources: "Source plan", sourcesLede: "{n} searches over {k} kinds of sources, read as “{s}”.",
    searches: "searches", stop: "Stop when", rounds: "at most {n} rounds", counter: "Counter-evidence", off: "off",
    chain: "Fallback chain", task: "Kind of task", scoreLede: "Score = Σ factor × weight, at most {max}.",
    onlyHere: "only here", needsKey: "needs a key", free: "free", details: "{name}: score {score}",
    preferThis: "Prefer", skipThis: "Leave out", guardMet: "Chinese channels: enough", guardUnmet: "Chinese channels: too few",
    nothing: "no channel", perCall: "a call to each", fellBack: "The model did not answer: {why}. The heuristic did.",
    deadTitle: "The planner is not answering.", dead: "Is “planner explore” still running? Your question is kept.",
    retry: "Try again", badTitle: "This cannot be planned yet.", bad: "{field}: got {given}; accepted: {accepted}",
    failed: "Something went wrong in the planner.", planned: "Planned: {n}, {k}.", planning: "Planning…",
    theme_auto: "System", theme_light: "Light", theme_dark: "Dark", themeLabel: "Theme: {name}",
    f_priority: "priority", f_scenario: "scenario", f_keyword: "keyword", f_auth: "key", f_experience: "experience",
    f_domain: "domain", f_language: "language", f_recency: "recency", web: "Web", local_file: "Local files",
    vector: "Vector store", graph: "Graph", counter_source: "Counter-evidence", empty: "Type a question first.",
    askModel: "Ask the model too", channelCount: "{n} channels", groupCount: "{n} groups",
    channelCount1: "1 channel", groupCount1: "1 group",
  },
  zh: {
    subtitle: "搜索规划", toQuestion: "跳到问题", question: "想弄清楚什么？", plan: "规划",
    hint: "回车开始规划，Shift + 回车换行，按 / 回到这里。", mode: "模式", fast: "快速", deep: "深入",
    comprehensive: "全面", languages: "语言", all: "全部", zhOnly: "仅中文", enOnly: "仅英文",
    mixed: "中英混合", recency: "时效", any: "不限", d7: "7 天内", d30: "30 天内", d90: "90 天内",
    compare: "与模型对照", more: "更多限制", prefer: "优先的渠道", skip: "排除的渠道",
    maxChannels: "渠道上限", maxGroups: "分组上限", maxCost: "费用上限（美元）",
    budget: "搜索总次数", examples: "试一试", copyLink: "复制链接", copyJson: "复制 JSON",
    copied: "已复制", picked: "要搜索的渠道", heuristic: "启发式", model: "模型", next: "紧随其后",
    nextLede: "差一点入选的渠道，以及落选的原因。", groups: "分组", groupsLede: "这些渠道所在的分组。",
    changed: "规则作了哪些调整", unchanged: "无需调整。", warnings: "提醒",
    removed: "被排除", sources: "来源计划", sourcesLede: "{n} 次搜索分给 {k} 类来源，主题是“{s}”。",
    searches: "次搜索", stop: "停止条件", rounds: "最多 {n} 轮", counter: "反证搜索", off: "关闭",
    chain: "降级链", task: "任务类型", scoreLede: "得分 = Σ 因子 × 权重，最高 {max}。",
    onlyHere: "仅此有", needsKey: "缺密钥", free: "免费", details: "{name}：得分 {score}",
    preferThis: "优先", skipThis: "排除", guardMet: "中文渠道：足够", guardUnmet: "中文渠道：不足",
    nothing: "没有渠道", perCall: "各调用一次", fellBack: "模型没有回答：{why}，由启发式代答。",
    deadTitle: "规划器没有回应。", dead: "“planner explore” 还在运行吗？您的问题已保留。",
    retry: "重试", badTitle: "暂时无法规划。", bad: "{field}：收到 {given}；可接受：{accepted}",
    failed: "规划器内部出错。", planned: "规划完成：{n}，{k}。", planning: "正在规划…",
    theme_auto: "跟随系统", theme_light: "浅色", theme_dark: "深色", themeLabel: "主题：{name}",
    f_priority: "优先", f_scenario: "场景", f_keyword: "关键词", f_auth: "密钥", f_experience: "经验",
    f_domain: "领域", f_language: "语言", f_recency: "时效", web: "网页", local_file: "本地文件",
    vector: "向量库", graph: "图谱", counter_source: "反证", empty: "请先输入问题。",
    askModel: "也问问模型", channelCount: "{n} 个渠道", groupCount: "{n} 个分组",
  },
};
const EXAMPLES = [
  "小红书有没有人用 Cursor 做编程", "Compare Kafka and Pulsar for multi-tenant event streaming",
  "比亚迪和特斯拉的电池技术路线有什么不同", "What do people on Reddit say about the Framework laptop?",
];
const FIELDS = ["languages", "recency", "channel_priority", "channel_skip", "max_channels", "max_groups", "max_cost_usd", "budget_limit"];
const PLAIN = { mode: "fast", languages: "all", recency: "any" };
const PATIENCE_MS = 65000;

const $ = (id) => document.getElementById(id);
const form = $("form"), question = $("question");
const kept = { get: (key) => { try { return localStorage.getItem(key); } catch { return null; } }, set: (key, value) => { try { localStorage.setItem(key, value); } catch { /* private window */ } } };
let lang = kept.get("planner-language") || (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");
let theme = kept.get("planner-theme") || "auto";
let about = null, shown = null, trouble = null, turn = 0;

const t = (key, values = {}) => (WORDS[lang][key] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

const count = (key, n) => n === 1 && WORDS[lang][`${key}1`] ? t(`${key}1`) : t(key, { n });

/** An element: attributes by name, `on…` handlers as functions, children as nodes or text. */
function h(tag, given, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(given || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "colour") element.style.setProperty("--c", `var(--${value})`);
    else if (key === "width") element.style.width = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// What is asked ------------------------------------------------------------------------------------------------------

function readForm() {
  const values = { query: question.value.trim(), mode: form.elements.mode.value };
  for (const name of FIELDS) {
    const text = form.elements[name].value.trim();
    if (!text) continue;
    if (name.startsWith("channel_")) values[name] = text.split(/[,，、\s]+/).filter(Boolean);
    else values[name] = form.elements[name].type === "number" ? Number(text) : text;
  }
  return values;
}

function writeForm(values) {
  question.value = values.get("q") || "";
  form.elements.mode.value = ["fast", "deep", "comprehensive"].includes(values.get("mode")) ? values.get("mode") : "fast";
  for (const name of FIELDS) {
    const field = form.elements[name], value = values.get(name) || PLAIN[name] || "";
    field.value = value;
    if (field.tagName === "SELECT" && field.selectedIndex < 0) field.value = PLAIN[name];
  }
  $("more").open = FIELDS.slice(2).some((name) => values.get(name));
}

function permalink(values) {
  const parts = new URLSearchParams({ q: values.query });
  for (const [name, value] of Object.entries(values)) {
    if (name !== "query" && value !== PLAIN[name]) parts.set(name, Array.isArray(value) ? value.join(",") : value);
  }
  return `#${parts}`;
}

async function call(path, body) {
  const options = body ? { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) } : {};
  const response = await fetch(path, { ...options, signal: AbortSignal.timeout(PATIENCE_MS) });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error("refused"), { told: typeof answer.error === "string" ? { message: answer.error } : answer.error });
  return answer;
}

/** Plan what the form says. A link only ever asks the heuristic: following one must not spend the reader's money. */
async function run({ withModel, remember }) {
  const asked = readForm(), mine = ++turn;
  markBad(null);
  if (!asked.query) { fail({ told: { field: "query", message: t("empty") } }); question.focus(); return; }
  if (remember) history.pushState(null, "", permalink(asked));
  busy(true);
  try {
    about = about || await call("/api/about");
    offerModel();
    const first = await call("/api/plan", { ...asked, judge: "heuristic" });
    if (mine !== turn) return;
    show({ asked, heuristic: first, model: null });
    if (withModel && about.has_model) {
      const second = await call("/api/plan", { ...asked, judge: "standard" });
      if (mine === turn) show({ asked, heuristic: first, model: second });
    }
  } catch (error) {
    if (mine === turn) fail(error);
  } finally {
    if (mine === turn) busy(false);
  }
}

// What is shown ------------------------------------------------------------------------------------------------------

function busy(yes) {
  for (const element of [$("go"), $("result")]) element.setAttribute("aria-busy", yes);
  if (yes) { trouble = null; $("alert").replaceChildren(); $("status").textContent = t("planning"); }
}

function fail(error) {
  trouble = error;
  $("status").textContent = "";
  const told = error.told;
  const again = h("button", { type: "button", onclick: () => run({ withModel: $("compare").checked, remember: true }) }, t("retry"));
  if (!told) $("alert").replaceChildren(h("div", { class: "alert" }, h("strong", {}, t("deadTitle")), t("dead"), h("div", {}, again)));
  else {
    const text = told.message || (told.accepted ? t("bad", told) : t("failed"));
    $("alert").replaceChildren(h("div", { class: "alert" }, h("strong", {}, t("badTitle")), text));
    markBad(told.field);
  }
}

function markBad(field) {
  const name = field ? field.split(".").pop() : null;
  for (const element of form.elements) if (element.name) element.toggleAttribute("aria-invalid", false);
  const wrong = name && form.elements[name];
  if (wrong instanceof HTMLElement) { wrong.setAttribute("aria-invalid", "true"); if (wrong.closest("details")) $("more").open = true; }
}

function show(result) {
  shown = result;
  const { channels } = result.heuristic;
  $("examples").hidden = true;
  $("result").hidden = false;
  $("result").replaceChildren(topBar(result), channelCards(result), groupCard(result), changeCard(result), sourceCard(result.heuristic));
  $("status").textContent = t("planned", { n: count("channelCount", channels.channels.length), k: count("groupCount", channels.groups.length) });
}

function topBar(result) {
  const plan = (result.model || result.heuristic).channels;
  const cost = plan.total_cost_usd ? `$${plan.total_cost_usd} ${t("perCall")}` : t("free");
  const guard = /\p{Script=Han}/u.test(result.asked.query) && plan.chinese_native_quota_met !== null;
  const facts = [count("channelCount", plan.channels.length), count("groupCount", plan.groups.length), cost, `${plan.elapsed_ms.toFixed(1)} ms`, guard ? t(plan.chinese_native_quota_met ? "guardMet" : "guardUnmet") : null];
  const values = result.model ? { heuristic: result.heuristic, model: result.model } : result.heuristic;
  return h("div", { class: "bar-top" },
    h("p", { class: "facts" }, facts.filter(Boolean).map((fact) => h("span", {}, fact))),
    h("div", { class: "actions" },
      !result.model && about.has_model && h("button", { type: "button", class: "quiet", onclick: () => run({ withModel: true, remember: false }) }, t("askModel")),
      copier("copyLink", () => location.href.split("#")[0] + permalink(result.asked)),
      copier("copyJson", () => JSON.stringify(values, null, 2))));
}

function copier(label, text) {
  const button = h("button", { type: "button", class: "quiet", id: label }, t(label));
  button.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(text()); } catch { copyByHand(text()); }
    button.textContent = t("copied");
    $("status").textContent = t("copied");
    setTimeout(() => { button.textContent = t(label); }, 1600);
  });
  return button;
}

function copyByHand(text) {
  const area = h("textarea", { class: "unseen" });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

function channelCards(result) {
  const sides = [["heuristic", result.heuristic], ["model", result.model]].filter(([, side]) => side);
  const names = sides.map(([, side]) => new Set(side.channels.channels.map((pick) => pick.channel)));
  return h("div", { class: sides.length > 1 ? "columns two" : "columns" }, sides.map(([side, made], at) => {
    const plan = made.channels, other = names[1 - at];
    const title = sides.length > 1 ? `${t("picked")} · ${t(side)}${plan.judge.model ? ` (${plan.judge.model})` : ""}` : t("picked");
    const fell = side === "model" && plan.judge.tier === "heuristic" ? plan.degradations.map((step) => step.reason).join(", ") : null;
    return h("section", { class: "card", "data-side": side }, h("h2", {}, title),
      h("p", { class: "lede" }, t("scoreLede", { max: ceiling("leaf").toFixed(2) })),
      fell && h("p", { class: "lede" }, t("fellBack", { why: fell })),
      legend("leaf"),
      h("ol", { class: "picks" }, plan.channels.map((pick, place) => pickRow(pick, place + 1, other && !other.has(pick.channel)))),
      plan.runners_up.length > 0 && [h("h3", {}, t("next")), h("ul", { class: "picks next", "aria-label": t("nextLede") }, plan.runners_up.map((pick) => pickRow(pick, null, false)))]);
  }));
}

function pickRow(pick, rank, onlyHere) {
  const weights = about.weights.leaf;
  return h("li", {}, h("details", {},
    h("summary", { class: "pick" },
      h("span", { class: "rank", "aria-hidden": "true" }, rank ? String(rank) : "·"),
      h("span", { class: "name" }, pick.channel, onlyHere && h("span", { class: "tag only" }, t("onlyHere")),
        pick.runnable === false && h("span", { class: "tag warn", title: pick.auth }, t("needsKey")),
        h("small", {}, short(pick.group))),
      h("span", { class: "score" }, pick.score.toFixed(2)),
      track(pick.factors, weights, ceiling("leaf"), pick.channel, pick.score),
      pick.kept_out_by && h("span", { class: "why-out" }, pick.kept_out_by)),
    h("div", { class: "inside" },
      pick.rationale && h("p", {}, pick.rationale),
      factorTable(pick.factors, weights),
      pick.auth && h("p", {}, pick.auth, pick.cost_usd ? ` · $${pick.cost_usd}` : ""),
      h("div", { class: "small" },
        h("button", { type: "button", onclick: () => adjust("channel_priority", "channel_skip", pick.channel) }, t("preferThis")),
        h("button", { type: "button", onclick: () => adjust("channel_skip", "channel_priority", pick.channel) }, t("skipThis"))))));
}

function adjust(to, from, channel) {
  const listed = (name) => form.elements[name].value.split(/[,，、\s]+/).filter((item) => item && item !== channel);
  form.elements[from].value = listed(from).join(", ");
  form.elements[to].value = [...listed(to), channel].join(", ");
  $("more").open = true;
  run({ withModel: shown.model !== null, remember: true });
}

function track(factors, weights, whole, name, score) {
  const parts = Object.entries(factors).map(([factor, value]) => [factor, value * weights[factor]]);
  const said = parts.filter(([, part]) => part).map(([factor, part]) => `${t(`f_${factor}`)} ${part.toFixed(3)}`).join(", ");
  return h("span", { class: "track", role: "img", "aria-label": `${t("details", { name, score: score.toFixed(2) })}. ${said}` },
    parts.filter(([, part]) => part > 0).map(([factor, part]) => h("i", { colour: factor, width: `${(100 * part) / whole}%`, title: `${t(`f_${factor}`)} ${part.toFixed(3)}` })),
    parts.filter(([, part]) => part < 0).map(([factor, part]) => minus(`${(-100 * part) / whole}%`, `${t(`f_${factor}`)} ${part.toFixed(3)}`)));
}

/** What a negative factor takes away, hatched over the end of the bar. */
function minus(width, title) {
  const element = h("i", { class: "minus", width, title });
  element.style.marginLeft = `-${width}`;
  return element;
}

function factorTable(factors, weights) {
  return h("dl", { class: "factors" }, Object.entries(factors).map(([factor, value]) => [
    h("dt", { colour: factor }, t(`f_${factor}`)),
    h("dd", {}, `${+value.toFixed(2)} × ${weights[factor]}`), h("dd", {}, `${(value * weights[factor]).toFixed(3)}`)]));
}

const ceiling = (kind) => kind === "leaf" ? 0.95 : 1;
const short = (group) => group.replace(/^channels-/, "");
const legend = (kind) => h("ul", { class: "legend", "aria-hidden": "true" }, Object.keys(about.weights[kind]).map((factor) => h("li", { colour: factor }, `${t(`f_${factor}`)} × ${about.weights[kind][factor]}`)));

/** A title that says whose plan it is about, where there are two. */
const of = (result, title) => result.model ? `${t(title)} · ${t("model")}` : t(title);

function groupCard(result) {
  const plan = (result.model || result.heuristic).channels;
  return h("section", { class: "card" }, h("h2", {}, of(result, "groups")), h("p", { class: "lede" }, t("groupsLede")), legend("group"),
    h("ol", { class: "picks" }, plan.groups.map((group, at) => h("li", {}, h("details", {},
      h("summary", { class: "pick" }, h("span", { class: "rank", "aria-hidden": "true" }, String(at + 1)), h("span", { class: "name" }, short(group.name)),
        h("span", { class: "score" }, group.score.toFixed(2)), track(group.factors, about.weights.group, ceiling("group"), group.name, group.score)),
      h("div", { class: "inside" }, h("p", {}, about.groups[group.name] || ""), h("p", {}, group.rationale), factorTable(group.factors, about.weights.group)))))));
}

function changeCard(result) {
  const plan = (result.model || result.heuristic).channels;
  const reasons = Object.entries(plan.skip_reasons);
  return h("section", { class: "card", id: "changes" }, h("h2", {}, of(result, "changed")),
    plan.adjustments.length ? h("ul", { class: "notes" }, plan.adjustments.map((line) => h("li", {}, line))) : h("p", { class: "lede" }, t("unchanged")),
    plan.warnings.length > 0 && [h("h3", {}, t("warnings")), h("ul", { class: "notes" }, plan.warnings.map((line) => h("li", { class: "warn" }, line)))],
    reasons.length > 0 && h("details", {}, h("summary", {}, `${t("removed")} (${reasons.length})`),
      h("ul", { class: "notes" }, reasons.map(([name, why]) => h("li", {}, h("code", {}, name), ` ${why}`)))));
}

function sourceCard({ sources, request }) {
  const numbers = sources.budget_allocation, total = numbers.total_budget;
  const label = (source) => t(source === "counter" ? "counter_source" : source);
  const share = sources.search_order.map((source) => h("i", { colour: source, width: `${(100 * numbers[source]) / total}%`, title: label(source) }, String(numbers[source])));
  return h("section", { class: "card", id: "sources" }, h("h2", {}, t("sources")),
    h("p", { class: "lede" }, t("sourcesLede", { n: total, k: sources.search_order.length, s: sources.primary_subject })),
    h("div", { class: "track big", role: "img", "aria-label": sources.search_order.map((source) => `${label(source)} ${numbers[source]}`).join(", ") }, share),
    h("ol", { class: "sources" }, sources.selected_sources.map((source) => h("li", {},
      h("span", { class: "rank", "aria-hidden": "true" }, String(source.priority)), h("span", { class: "name", colour: source.source }, label(source.source)),
      h("span", { class: "score" }, `${numbers[source.source]} ${t("searches")}`), h("p", {}, source.rationale),
      source.search_hints.length > 0 && h("p", {}, source.search_hints.join(" · "))))),
    h("dl", { class: "terms" },
      h("dt", {}, t("task")), h("dd", {}, [request.task_type, request.goal_mode, request.freshness_required].join(" · ")),
      h("dt", {}, t("stop")), h("dd", {}, `${sources.stop_rule.condition} · ${t("rounds", { n: sources.stop_rule.max_rounds })}`),
      h("dt", {}, t("counter")), h("dd", {}, sources.counter_trigger || t("off")),
      h("dt", {}, t("chain")), h("dd", {}, h("ol", { class: "chain" }, sources.fallback_chain.map((level) => h("li", { title: level.trigger_fallback }, level.source))))),
    sources.warnings.length > 0 && h("ul", { class: "notes" }, sources.warnings.map((line) => h("li", { class: "warn" }, line))));
}

// The page itself ----------------------------------------------------------------------------------------------------

function offerModel() {
  $("compare-field").hidden = !about.has_model;
  $("channels").replaceChildren(...about.channels.map((channel) => h("option", { value: channel })));
}

function speak() {
  document.documentElement.lang = lang === "zh" ? "zh-CN" : "en";
  document.title = `planner · ${t("subtitle")}`;
  for (const element of document.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  const other = $("language");
  [other.textContent, other.lang] = lang === "zh" ? ["English", "en"] : ["中文", "zh"];
  other.setAttribute("aria-label", other.textContent);
  paint();
  if (shown) show(shown);
  if (trouble) fail(trouble);
}

function paint() {
  if (theme === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = theme;
  $("theme-sign").textContent = { auto: "◐", light: "○", dark: "●" }[theme];
  $("theme-name").textContent = t(`theme_${theme}`);
  $("theme").setAttribute("aria-label", t("themeLabel", { name: t(`theme_${theme}`) }));
}

function follow() {
  const values = new URLSearchParams(location.hash.slice(1));
  writeForm(values);
  if (values.get("q")) run({ withModel: false, remember: false });
}

$("language").addEventListener("click", () => { lang = lang === "zh" ? "en" : "zh"; kept.set("planner-language", lang); speak(); });
$("theme").addEventListener("click", () => { theme = { auto: "light", light: "dark", dark: "auto" }[theme]; kept.set("planner-theme", theme); paint(); });
form.addEventListener("submit", (event) => { event.preventDefault(); run({ withModel: $("compare").checked, remember: true }); });
question.addEventListener("keydown", (event) => {
  // Enter that ends the choosing of a Chinese character is not meant for us
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); form.requestSubmit(); }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) { event.preventDefault(); question.focus(); }
});
addEventListener("popstate", follow);
$("examples").querySelector("ul").append(...EXAMPLES.map((text) => h("li", {}, h("button", { type: "button", lang: /\p{Script=Han}/u.test(text) ? "zh" : "en", onclick: () => { question.value = text; form.requestSubmit(); } }, text))));
if (!(theme in { auto: 1, light: 1, dark: 1 })) theme = "auto";
if (!(lang in WORDS)) lang = "en";
speak();
follow();
if (matchMedia("(min-width: 40rem)").matches && !question.value) question.focus();
call("/api/about").then((answer) => { about = answer; offerModel(); }).catch(() => fail({}));
