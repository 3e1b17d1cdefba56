"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const PLOTS = [["calls", "calls a second"], ["in_flight", "in flight"], ["waiting", "waiting"], ["refused", "refused a second"]];
  const WIDTH = 300, HEIGHT = 80, MINUTE = 60000, MOST = 5;
  const by = (id) => document.getElementById(id);
  const number = new Intl.NumberFormat("en");

  // Everything that comes from outside goes through here, as text and nothing else. What would reorder the line around it is shown.
  const HARMFUL = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  const plain = (text) => String(text).replace(HARMFUL, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  const make = (tag, text, name) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = plain(text);
    if (name) made.className = name;
    return made;
  };
  const ago = (ms) => {
    const [count, unit] = ms < 1000 ? [Math.round(ms), "ms"] : ms < 60000 ? [(ms / 1000).toFixed(1), "s"]
      : ms < 3600000 ? [Math.floor(ms / 60000), "min"] : [Math.floor(ms / 3600000), "h"];
    return count + "\u00a0" + unit;
  };
  const several = (count, one, many) => number.format(count) + " " + (count === 1 ? one : many);

  const draw = (tag, attributes) => {
    const made = document.createElementNS(SVG, tag);
    for (const name in attributes) made.setAttribute(name, attributes[name]);
    return made;
  };
  const plots = PLOTS.map(([field, name]) => {
    const figure = make("figure"), caption = make("figcaption");
    const value = make("b", "–");
    caption.append(make("span", name), value);
    const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
    const area = draw("path", { class: "area c-" + field });
    const curve = draw("path", { class: "curve c-" + field });
    const needle = draw("line", { class: "needle", y1: 0, y2: HEIGHT, visibility: "hidden" });
    svg.append(draw("line", { class: "grid", x1: 0, x2: WIDTH, y1: HEIGHT, y2: HEIGHT }), draw("line", { class: "grid", x1: 0, x2: WIDTH, y1: 2, y2: 2 }), area, curve, needle);
    const scale = make("figcaption", undefined, "quiet");
    const left = make("span"), top = make("span");
    scale.append(left, top, make("span", "now"));
    figure.append(caption, svg, scale);
    by("plots").append(figure);
    return { field, name, svg, area, curve, needle, value, left, top };
  });

  // A guard that has just started has no five minutes to show.
  let past = [], end = 0, minutes = 1;
  const place = (at) => WIDTH * (1 - (end - at) / (minutes * MINUTE));
  const plot = () => {
    for (const { field, name, svg, area, curve, value, left, top } of plots) {
      const most = past.reduce((most, sample) => Math.max(most, sample[field]), 0);
      const scale = most > 0 ? (HEIGHT - 2) / most : 0;
      const points = past.map((sample) => place(sample.at).toFixed(1) + " " + (HEIGHT - sample[field] * scale).toFixed(1));
      const line = points.length ? "M" + points.join("L") : "";
      curve.setAttribute("d", line);
      area.setAttribute("d", line && `${line}L${place(past[past.length - 1].at).toFixed(1)} ${HEIGHT}L${place(past[0].at).toFixed(1)} ${HEIGHT}Z`);
      const last = past.length ? past[past.length - 1][field] : 0;
      value.textContent = number.format(last);
      left.textContent = minutes + " min ago";
      top.textContent = "most " + number.format(most);
      svg.setAttribute("aria-label", `${name}: ${last} now, at most ${most} in the last five minutes`);
    }
  };
  const point = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = end - minutes * MINUTE * (1 - (event.clientX - box.left) / box.width);
    const sample = past.reduce((best, sample) => !best || Math.abs(sample.at - at) < Math.abs(best.at - at) ? sample : best, null);
    if (!sample) return;
    for (const { needle } of plots) {
      needle.setAttribute("visibility", "visible");
      needle.setAttribute("x1", place(sample.at));
      needle.setAttribute("x2", place(sample.at));
    }
    by("moment").textContent = new Date(sample.at).toLocaleTimeString() + ": " + PLOTS.map(([field, name]) => `${number.format(sample[field])} ${name}`).join(", ");
  };
  for (const { svg } of plots) svg.addEventListener("pointermove", point);

  const cell = (row, name, text, look) => {
    const made = make("td", text, look);
    made.dataset.name = name;
    row.append(made);
  };
  const rows = (id, all, fill) => {
    const body = by(id).tBodies[0];
    body.replaceChildren(...all.map((one) => { const row = make("tr"); fill(row, one); return row; }));
  };
  const who = (call) => {
    const line = make("li");
    line.append(make("span", call.tool, "outside"), " by ", make("span", call.caller, "outside"), " for " + ago(call.since_ms));
    return line;
  };

  const show = (state) => {
    const { readiness } = state;
    const badge = by("ready");
    badge.textContent = readiness.ready ? "ready" : "not ready";
    badge.className = "badge " + (readiness.ready ? "good" : "bad");
    by("about").textContent = `version ${state.guard}, up for ${ago(state.now - state.started)}, policy ${state.generation}; ` +
      `${several(state.calls, "call", "calls")}, ${number.format(state.refused)} refused` +
      (state.store_errors ? `, ${several(state.store_errors, "store error", "store errors")}` : "");
    const lost = [["audit_lines_dropped", "audit lines"], ["log_lines_dropped", "log lines"], ["trace_spans_dropped", "traces"]]
      .filter(([field]) => state[field] > 0).map(([field, name]) => `${number.format(state[field])} ${name} lost`);
    const missing = readiness.missing.map(({ what, name, because }) => plain([what, name].filter(Boolean).join(" ") + ": " + because));
    by("missing").hidden = missing.length + lost.length === 0;
    const alarm = missing.concat(lost).join("; ");
    if (by("missing").textContent !== alarm) by("missing").textContent = alarm;

    past = state.past;
    end = state.now;
    minutes = Math.max(1, Math.min(MOST, Math.ceil((state.now - state.started) / MINUTE)));
    plot();

    by("upstreams").replaceChildren(...state.upstreams.map((upstream) => {
      const card = make("li", undefined, "card");
      const look = upstream.state === "up" ? "good" : upstream.state === "down" ? "bad" : "warn";
      const head = make("div");
      head.append(make("span", upstream.name, "name outside"), " ", make("span", upstream.state, look));
      card.append(head, make("p", `for ${ago(state.now - upstream.since)}, ${several(upstream.restarts, "restart", "restarts")}${upstream.required ? "" : ", optional"}`, "quiet"));
      if (upstream.reason && upstream.state !== "up") card.append(make("p", upstream.reason, "quiet outside"));
      return card;
    }));

    by("keys-count").textContent = state.waiting === 0 ? "Nobody waits." :
      `${several(state.waiting, "call waits", "calls wait")} for ${several(state.keys.count, "key", "keys")}` +
      (state.keys.count > state.keys.longest.length ? `; the ${state.keys.longest.length} longest lines:` : "");
    by("keys").replaceChildren(...state.keys.longest.map((key) => {
      const card = make("div", undefined, "card");
      card.append(make("h3", key.key));
      card.append(make("p", key.running ? several(key.running, "call runs with it:", "calls run with it:") : "Nobody here runs with it: another guard holds it, or it is being handed on.", "quiet"));
      const runs = make("ol");
      runs.append(...key.runners.map(who));
      const waits = make("ol");
      waits.append(...key.first.map(who));
      if (key.runners.length) card.append(runs);
      card.append(make("p", `${several(key.waiting, "call waits", "calls wait")}${key.waiting > key.first.length ? ", first of all:" : ":"}`, "quiet"), waits);
      return card;
    }));

    const flight = state.in_flight;
    by("calls-count").textContent = flight.count === 0 ? "None." :
      several(flight.count, "call", "calls") + (flight.count > flight.oldest.length ? `; the ${flight.oldest.length} oldest:` : "");
    by("calls").hidden = flight.count === 0;
    rows("calls", flight.oldest, (row, call) => {
      cell(row, "tool", call.tool, "outside");
      cell(row, "caller", call.caller, "outside");
      cell(row, "since", ago(call.since_ms), "number");
      cell(row, "keys", (call.keys || []).join(", "), "outside");
      cell(row, "fence", call.fence || "", "number");
    });

    by("refusals-count").textContent = state.refusals.length === 0 ? "None." : "";
    by("refusals").hidden = state.refusals.length === 0;
    rows("refusals", state.refusals, (row, refusal) => {
      cell(row, "when", ago(Math.max(0, state.now - refusal.at)) + " ago", "number");
      cell(row, "reason", refusal.reason + (refusal.observed ? " (observed only)" : ""), refusal.observed ? "warn" : "bad");
      cell(row, "tool", refusal.tool, "outside");
      cell(row, "caller", refusal.caller, "outside");
      cell(row, "keys", refusal.keys.join(", "), "outside");
    });
  };

  let failures = 0, timer = 0, asks = false;
  const poll = async () => {
    if (asks) return;
    asks = true;
    clearTimeout(timer);
    try {
      const answer = await fetch("state.json", { cache: "no-store", signal: AbortSignal.timeout(5000) });
      if (!answer.ok) throw new Error(await answer.text());
      show(await answer.json());
      failures = 0;
    } catch (error) {
      failures += 1;
      by("ready").textContent = "no answer";
      by("ready").className = "badge bad";
      by("missing").hidden = false;
      by("missing").textContent = "The guard does not answer; what is shown is old. " + plain(error.message);
    }
    asks = false;
    // A page that nobody looks at asks seldom, and one whose guard is away less and less often.
    const pause = document.hidden ? 10000 : Math.min(1000 * 2 ** failures, 15000);
    timer = setTimeout(poll, pause * (0.9 + Math.random() * 0.2));
  };

  // The store may have to look at everything for this, so it is asked seldom, and never for a page that nobody looks at.
  const doubts = async () => {
    try {
      if (!document.hidden) {
        const answer = await fetch("doubts.json", { cache: "no-store", signal: AbortSignal.timeout(8000) });
        if (!answer.ok) throw new Error(await answer.text());
        const said = await answer.json();
        by("doubts-count").textContent = said.doubts.length === 0 ? "None." :
          `${several(said.doubts.length, "call", "calls")}${said.more ? " and more" : ""} of which nobody knows whether they took effect. ` +
          "Find out, then settle each with: interlock doubts --state URL --settle KEY --fence FENCE";
        by("doubts").hidden = said.doubts.length === 0;
        rows("doubts", said.doubts, (row, doubt) => {
          cell(row, "key", doubt.key, "outside");
          cell(row, "fence", doubt.fence, "number");
          cell(row, "for", ago(doubt.for_ms), "number");
        });
      }
    } catch (error) {
      by("doubts-count").textContent = "Not known: " + plain(error.message);
    }
    setTimeout(doubts, 10000);
  };
  doubts();

  document.addEventListener("visibilitychange", () => { if (!document.hidden) poll(); });
  poll();
})();
