// Keeps pages up to date, shows local times, asks before what destroys, plays recordings at a line. Every page works without it.

// A time is shown in the browser's zone, with UTC as its title. In pictures the texts of titles have both.
const day = at => at.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
const clock = (at, length) => at.toLocaleTimeString("sv").slice(0, length);
const forms = {
  second: at => clock(at, 8), hour: at => clock(at, 5) === "00:00" ? day(at) : clock(at, 5), "day minute": at => `${day(at)} ${clock(at, 5)}`,
};
const stamps = /(\d{4}-\d\d-\d\d) (\d\d:\d\d(?::\d\d)?) UTC/g;
const zoned = (utc, date, time) => `${new Date(`${date}T${time}Z`).toLocaleString("sv").slice(0, utc.length - 4)} (${time} UTC)`;
function showTimes(root) {
  for (const el of root.querySelectorAll("time[datetime]:not([data-local])")) {
    el.dataset.local = "";
    el.title = el.textContent.trim();
    el.textContent = new Date(el.dateTime).toLocaleString("sv"); // as ISO 8601 has it
  }
  for (const el of root.querySelectorAll("[data-at]")) {
    el.textContent = forms[el.dataset.form](new Date(+el.dataset.at));
    delete el.dataset.at;
  }
  for (const el of root.querySelectorAll("svg title, svg desc")) el.textContent = el.textContent.replace(stamps, zoned);
}

// The server counts days in the zone that this cookie tells.
document.cookie = document.body.dataset.zone.replace("?", Intl.DateTimeFormat().resolvedOptions().timeZone);

// A form whose data-ask is a question is sent after a yes.
const ask = document.getElementById("ask");
document.addEventListener("submit", event => {
  const form = event.target, submitter = event.submitter, question = submitter?.dataset.ask || form.dataset.ask;
  if (!question || form.dataset.answered) {
    delete form.dataset.answered;
    if (form.method === "post" && submitter) setTimeout(() => { submitter.disabled = true; }); // once is enough
    return;
  }
  event.preventDefault();
  ask.querySelector("p").textContent = question;
  ask.querySelector("[value=yes]").textContent = submitter?.textContent || "Continue";
  ask.returnValue = "no";
  ask.addEventListener("close", () => {
    if (ask.returnValue !== "yes") return;
    form.dataset.answered = "yes";
    form.requestSubmit(submitter);
  }, { once: true });
  ask.showModal();
});
addEventListener("pageshow", event => {
  if (event.persisted) for (const b of document.querySelectorAll("button:disabled")) b.disabled = false;
});

// What somebody works with stays: a part is replaced when they have left it.
const waiting = new Map();
const untouched = el => el.id && el.localName === "input" && !typed(el);
const typed = el => el.options ? el.selectedIndex !== Math.max(0, [...el.options].findIndex(o => o.defaultSelected))
  : el.checked !== el.defaultChecked || el.value !== el.defaultValue;
function inUse(part) {
  const fields = [...part.querySelectorAll("input:not([type=hidden]), select, textarea")];
  return ask.open || fields.some(typed) || fields.includes(document.activeElement) && !untouched(document.activeElement);
}
function replace(id, html) {
  const old = document.getElementById(id), active = document.activeElement;
  if (!old) return;
  if (inUse(old)) { waiting.set(id, html); return; }
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const fresh = holder.content.firstElementChild;
  if (!fresh) return;
  for (const d of old.querySelectorAll("details[id][open]")) holder.content.getElementById(d.id)?.setAttribute("open", "");
  showTimes(holder.content);
  const inside = old.contains(active);
  old.replaceWith(fresh);
  if (inside && active.id) document.getElementById(active.id)?.focus();
}
const later = () => setTimeout(() => {
  for (const [id, html] of [...waiting]) { waiting.delete(id); replace(id, html); }
});
document.addEventListener("focusout", later);
ask.addEventListener("close", later);

// The server sends parts of the page when they have changed.
if ("live" in document.body.dataset) {
  let source, timer;
  const offline = document.getElementById("offline");
  const open = () => {
    source = new EventSource(location.pathname + location.search);
    source.addEventListener("part", event => {
      const at = event.data.indexOf("\n");
      replace("live-" + decodeURIComponent(event.data.slice(0, at)), event.data.slice(at + 1));
    });
    source.addEventListener("reload", () => { source.close(); location.reload(); });
    source.onopen = () => { clearTimeout(timer); offline.hidden = true; };
    source.onerror = () => {
      clearTimeout(timer);
      timer = setTimeout(() => { offline.hidden = false; }, 5000);
      if (source.readyState === EventSource.CLOSED) setTimeout(open, 10000);
    };
  };
  open();
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", event => { if (event.persisted) open(); });
}

// A click at an element with data-start and data-end (ms) plays the audio that data-for around it names; it is marked while heard.
document.addEventListener("click", event => {
  const line = event.target.closest("[data-start]");
  if (!line || event.target.closest("a[href]:not([data-start]), summary") || !getSelection().isCollapsed) return;
  const audio = document.getElementById(line.closest("[data-for]")?.dataset.for);
  if (!audio) return;
  event.preventDefault();
  audio.currentTime = line.dataset.start / 1000;
  audio.play();
});
for (const audio of document.querySelectorAll("audio[id]")) {
  audio.addEventListener("timeupdate", () => {
    const now = audio.currentTime * 1000;
    for (const area of document.querySelectorAll(`[data-for="${CSS.escape(audio.id)}"]`)) {
      for (const line of area.querySelectorAll("[data-start][data-end]")) {
        line.classList.toggle("playing", now >= line.dataset.start && now < line.dataset.end);
      }
    }
  });
  const line = document.getElementById(location.hash.slice(1));
  if (line?.dataset.start) audio.currentTime = line.dataset.start / 1000;
}

document.querySelector("main .fault")?.scrollIntoView({ block: "center" });
showTimes(document);
